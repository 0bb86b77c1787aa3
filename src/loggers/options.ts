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
  /** How many loggers may exist only because somebody set a level on their name. Default 10,000. */
  readonly maxCreated?: number | undefined;
  /** How many names may be known at all; loggers found beyond keep the level they have. Default 250,000. */
  readonly maxLoggers?: number | undefined;
  /** How many changes of level are remembered. Default 10,000. */
  readonly maxHistory?: number | undefined;
  /** What this process is called where it says that a level was set through it. Default: host name and process id. */
  readonly instance?: string | undefined;
}
