import type { Level } from "./level.ts";
import type { Override } from "./override.ts";

/** One logger, as both faces show it. */
export interface Logger {
  readonly type: "logger";
  readonly name: string;
  /** The level set on this very logger; undefined where it inherits. */
  readonly configuredLevel: Level | undefined;
  /** The level that the logging library really reached. */
  readonly effectiveLevel: Level;
  /** What the application itself had configured when the logger was found. */
  readonly baselineLevel: Level | undefined;
  /** Who put the configured level there; undefined where the application did or nothing is configured. */
  readonly override: Override | undefined;
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
  readonly configuredLevel: Level | undefined;
  /** Who set that level. */
  readonly override: Override | undefined;
  /** Whether the effective levels of the members differ. */
  readonly mixed: boolean;
  /**
   * As the group is configured: names of loggers, and prefixes such as `orders.*` for every logger below `orders`. A prefix
   * is not spelled out, since thousands of loggers may stand below it and the list holds them anyway.
   */
  readonly members: readonly string[];
}

/** Everything at one moment: loggers with ROOT first, then by UTF-16 code unit; groups as they were configured. */
export interface LoggersOverview {
  readonly levels: readonly Level[];
  readonly loggers: readonly Logger[];
  readonly groups: readonly LoggerGroup[];
  readonly revision: number;
}

/** What a change of level led to. */
export interface LevelOutcome {
  readonly result: Logger | LoggerGroup;
  /** The level that was configured before. */
  readonly previousLevel: Level | undefined;
  readonly revision: number;
}
