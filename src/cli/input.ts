import { createInterface } from "node:readline";
import { CliError, EXIT } from "./error.ts";

/**
 * Reads the first line of standard input that is not blank, for values that do not belong on a command line.
 *
 * @throws CliError if there is no such line.
 */
export async function lineOfInput(what: string): Promise<string> {
  const line = await firstLine((line) => line.trim() !== "");
  if (line !== undefined) return line.trim();
  throw new CliError(EXIT.usage, `standard input has no ${what}`);
}

/** Whether the command runs on a terminal where a question can be answered. */
export function canAsk(): boolean {
  return process.stdin.isTTY && process.stderr.isTTY;
}

/** Asks a question on the terminal; anything but yes means no. Ctrl-C ends the command as usual. */
export async function confirmed(question: string): Promise<boolean> {
  process.stderr.write(`${question} [y/N] `);
  const line = await firstLine(() => true);
  // Ctrl-D leaves the cursor on the line of the question.
  if (line === undefined) process.stderr.write("\n");
  return /^\s*(y|yes)\s*$/i.test(line ?? "");
}

async function firstLine(fits: (line: string) => boolean): Promise<string | undefined> {
  // Without readline's terminal mode, which would take Ctrl-C for itself.
  const lines = createInterface({ input: process.stdin, terminal: false });
  try {
    for await (const line of lines) if (fits(line)) return line;
    return undefined;
  } finally {
    // Leaving the loop does not close it, and reading a terminal keeps the process alive.
    lines.close();
  }
}
