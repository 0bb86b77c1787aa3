import type { Level } from "./level.ts";

/** One logger, as both faces show it. */
export interface Logger {
  readonly type: "logger";
  readonly name: string;
  /** The level set on this very logger; left out where it inherits. */
  readonly configuredLevel?: Level | undefined;
  /** The level that the logging library really reached. */
  readonly effectiveLevel: Level;
  /** What the application itself configured at start. */
  readonly baselineLevel?: Level | undefined;
  /** The library that owns the logger; empty where it is known by name only. */
  readonly kind: string;
  /** Limits of the library that a level cannot lift. */
  readonly warnings: readonly string[];
}

/** One group of loggers. */
export interface LoggerGroup {
  readonly type: "group";
  readonly name: string;
  /** The last level set through the group; it does not follow its members. */
  readonly configuredLevel?: Level | undefined;
  readonly members: readonly string[];
}

/** Everything at one moment: loggers with ROOT first, then by UTF-16 code unit; groups in the order of configuration. */
export interface LoggersOverview {
  readonly levels: readonly Level[];
  readonly loggers: readonly Logger[];
  readonly groups: readonly LoggerGroup[];
  readonly revision: number;
}

/** What a change of level did. */
export interface LevelChange {
  readonly result: Logger | LoggerGroup;
  readonly previousLevel?: Level | undefined;
  readonly revision: number;
}

/** The face of the loggers domain towards REST and RPC; being written. */
export interface Loggers {
  /** Grows with every change of a level or of the set of loggers. */
  readonly revision: number;
  /** Everything, from a cache while the revision stands. */
  list(): LoggersOverview;
  /** The group or logger of this name; undefined where it is neither. Throws ActuatorError INVALID_ARGUMENT for an unfit name. */
  get(name: string): Logger | LoggerGroup | undefined;
  /**
   * Configures `level` on the logger, which is created where unknown, or on every member of the group; undefined clears.
   * Throws ActuatorError INVALID_ARGUMENT (unfit name), RESOURCE_EXHAUSTED (too many created loggers),
   * FAILED_PRECONDITION (`ifRevision` is not the current one). After a throw nothing has changed.
   */
  setLevel(name: string, level: Level | undefined, options?: { readonly ifRevision?: number | undefined }): LevelChange;
}
