import { createInterface } from "node:readline";
import { CliError } from "./cli-error.ts";
import { EXIT } from "./exit-code.ts";

/**
 * The first line of standard input that says anything, for what should not stand on a command line.
 *
 * @throws CliError where there is none.
 */
export async function lineOfInput(what: string): Promise<string> {
  const line = await firstLine((line) => line.trim() !== "");
  if (line !== undefined) return line.trim();
  throw new CliError(EXIT.usage, `standard input has no ${what}`);
}

/** Whether somebody sits there who can be asked. */
export function canAsk(): boolean {
  return process.stdin.isTTY && process.stderr.isTTY;
}

/** Asks on the terminal, beside the answer on standard output; only a yes is one. Ctrl-C ends the command as ever. */
export async function confirmed(question: string): Promise<boolean> {
  process.stderr.write(`${question} [y/N] `);
  const line = await firstLine(() => true);
  // Ctrl-D leaves the cursor in the line of the question.
  if (line === undefined) process.stderr.write("\n");
  return /^\s*(y|yes)\s*$/i.test(line ?? "");
}

async function firstLine(fits: (line: string) => boolean): Promise<string | undefined> {
  // Not readline's own terminal, which would take Ctrl-C for itself.
  const lines = createInterface({ input: process.stdin, terminal: false });
  try {
    for await (const line of lines) if (fits(line)) return line;
    return undefined;
  } finally {
    // Leaving the loop does not, and a terminal that is read keeps the process.
    lines.close();
  }
}
