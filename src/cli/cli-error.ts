import type { ExitCode } from "./exit-code.ts";

/** A command that cannot go on. The message is one line for whoever typed it, and says what to do. */
export class CliError extends Error {
  override readonly name = "CliError";
  readonly exitCode: ExitCode;

  constructor(exitCode: ExitCode, message: string) {
    super(message);
    this.exitCode = exitCode;
  }
}
