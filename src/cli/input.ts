import { createInterface } from "node:readline";
import { CliError } from "./cli-error.ts";
import { EXIT } from "./exit-code.ts";

/**
 * The first line of standard input that says anything, for what should not stand on a command line.
 *
 * @throws CliError where there is none.
 */
export async function lineOfInput(what: string): Promise<string> {
  for await (const line of createInterface({ input: process.stdin })) {
    if (line.trim() !== "") return line.trim();
  }
  throw new CliError(EXIT.usage, `standard input has not ${what}`);
}
