/** What a shell learns from how a command ended. Beside these there are those of signals: 128 and the signal's number. */
export const EXIT = {
  ok: 0,
  /** The server said no: not found, not allowed, not possible; or it is not well. */
  refused: 1,
  /** The command line is wrong; nothing was asked. */
  usage: 2,
  /** No actuator answered. */
  unreachable: 3,
} as const;

/** One of the values of {@link EXIT}. */
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];
