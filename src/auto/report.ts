/** What went wrong, as a sentence. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Writes one line to the standard error. */
export function say(text: string): void {
  // Unlike a write to the stream itself, it bears a standard error that is closed.
  console.error(`connect-actuator: ${text}`);
}
