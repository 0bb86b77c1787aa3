import type { TtlOptions } from "./ttl.ts";

/** How the loggers of an application are set up. */
export interface LoggersOptions extends TtlOptions {
  /**
   * Groups by name, each with the names of its members. A member with a trailing `.*` is every logger below a name, those
   * included that appear later: `orders.*` is `orders.a` and `orders.a.b`, not `orders`; `ROOT.*` is every logger but ROOT.
   * A level of the group is configured on the loggers directly below and inherited by deeper ones that have none of their
   * own; a logger that appears begins with it, until the group is cleared, restored or its time is over.
   */
  readonly groups?: Readonly<Record<string, readonly string[]>> | undefined;
  /**
   * The path of a file in which levels set from outside survive a restart, with who set them, why and until when: those of
   * loggers and groups, and what is beneath a temporary one. Default: none, and they end with the process. The folder must
   * exist. The file is read once, at the start, before any logging library takes part: levels whose time is over are left out,
   * the others last for what is left of it by the clock on the wall, and a name that no library has yet waits for its logger.
   * What somebody holds, what the application sets itself, and that a level was cleared, are not kept.
   *
   * The file is replaced as a whole soon after each change, and so is whole at any moment. No caller waits for that: what was
   * acknowledged in the last milliseconds before a process is killed may be missing after it. `Loggers.flushed` waits, and
   * `close` of the actuator does. Where it cannot be written, `onError` hears of that once, and it is tried again at the next
   * change. A file that cannot be understood, or is that of a later release, is renamed to one with `.kept-` and the time at
   * its end, and `onError` and a warning on ROOT tell of it.
   *
   * Each process is to have a file of its own. Where two share one, neither reads what the other writes and the last to write
   * wins, which suits a process that takes the place of another. The file is JSON of a versioned format, readable by its owner
   * alone (mode 0600).
   */
  readonly state?: string | undefined;
  /** How many loggers may exist only because somebody set a level on their name. Default 10,000. */
  readonly maxCreated?: number | undefined;
  /** How many names may be known at all; loggers found beyond keep the level they have. Default 250,000. */
  readonly maxLoggers?: number | undefined;
  /** How many changes of level are remembered. Default 10,000. */
  readonly maxHistory?: number | undefined;
  /** What this process is called where it says that a level was set through it. Default: host name and process id. */
  readonly instance?: string | undefined;
}
