import { createInterface } from "node:readline";

/** Whether somebody sits there who can be asked. */
export function canAsk(): boolean {
  return process.stdin.isTTY && process.stderr.isTTY;
}

/** Asks on the terminal, beside the answer on standard output; only a yes is one. Ctrl-C ends the command as ever. */
export async function confirmed(question: string): Promise<boolean> {
  process.stderr.write(`${question} [y/N] `);
  // Not readline's own terminal, which would take Ctrl-C for itself.
  const lines = createInterface({ input: process.stdin, terminal: false });
  for await (const line of lines) return /^\s*(y|yes)\s*$/i.test(line);
  process.stderr.write("\n");
  return false;
}
