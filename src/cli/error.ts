/** The exit codes of a command. A command that a signal interrupts exits with 128 plus the number of the signal. */
export const EXIT = {
  ok: 0,
  /** The server refused (not found, not allowed, not possible), or it is not serving. */
  refused: 1,
  /** The command line is wrong; no call was made. */
  usage: 2,
  /** No actuator answered. */
  unreachable: 3,
} as const;

/** One of the values of {@link EXIT}. */
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** A failure that ends the command. The message is one line that says what is wrong and what to do. */
export class CliError extends Error {
  override readonly name = "CliError";
  readonly exitCode: ExitCode;

  constructor(exitCode: ExitCode, message: string) {
    super(message);
    this.exitCode = exitCode;
  }
}
