import type { Outcome } from "./adapter.ts";

/** One for all messages: a host reads it before it returns, and nothing is made for each message. */
const last = { start: 0, end: 0, failed: false };

/** How a message fared that began at `start`, a reading of `performance.now()`, and ends now. Good until the next one. */
export function outcome(start: number, failed: boolean): Outcome {
  last.start = start;
  last.end = performance.now();
  last.failed = failed;
  return last;
}
