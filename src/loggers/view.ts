import type { ConfiguredLevels } from "./configured-levels.ts";
import { type Group, isMixed } from "./group.ts";
import { LEVELS, type Level } from "./level.ts";
import { applicationLevel, effectiveLevel } from "./node-levels.ts";
import { exists, type Notice } from "./notice.ts";
import type { LoggerNode } from "./registry.ts";
import type { Override } from "./setting.ts";

/** One logger, as REST and RPC show it. */
export interface Logger {
  readonly type: "logger";
  readonly name: string;
  /** The level set on this logger; undefined if it inherits. */
  readonly configuredLevel: Level | undefined;
  /** The level that is really in effect in the logging library. */
  readonly effectiveLevel: Level;
  /** The level that the application had configured when the logger was found. */
  readonly baselineLevel: Level | undefined;
  /** Who set the configured level; undefined if the application did or if nothing is configured. */
  readonly override: Override | undefined;
  /** The logging library; empty if no logger of this name was found. */
  readonly kind: string;
  /** Whether a logger of this name, or of one below it, exists. If not, a level that was set is all that is known of it. */
  readonly exists: boolean;
  /** What a level of this logger cannot change, and how loggers of the same name differ. */
  readonly warnings: readonly string[];
}

/** One group of loggers. */
export interface LoggerGroup {
  readonly type: "group";
  readonly name: string;
  /** The last level set through the group. It does not follow the members. */
  readonly configuredLevel: Level | undefined;
  /** Who set that level. */
  readonly override: Override | undefined;
  /** Whether the effective levels of the members differ. */
  readonly mixed: boolean;
  /**
   * The members as configured: names of loggers, and prefixes such as `orders.*` for every logger below `orders`. A prefix is
   * not expanded, because there may be thousands of loggers below it, which are listed anyway.
   */
  readonly members: readonly string[];
}

/** All loggers, ROOT first and then by UTF-16 code unit, and all groups in the configured order, at one moment. */
export interface LoggersOverview {
  readonly levels: readonly Level[];
  readonly loggers: readonly Logger[];
  readonly groups: readonly LoggerGroup[];
  readonly revision: number;
}

/** The result of a change of level. */
export interface LevelOutcome {
  readonly result: Logger | LoggerGroup;
  /** The level that was configured before. */
  readonly previousLevel: Level | undefined;
  readonly revision: number;
  /** What the change did not do. */
  readonly notices: readonly Notice[];
}

/** Makes the views of loggers and groups. Views that take long to make are made once for each revision. */
export class LoggerViews {
  readonly #levels: ConfiguredLevels;
  readonly #mixed = new Map<Group, { readonly revision: number; readonly mixed: boolean }>();
  #overview: LoggersOverview | undefined;

  constructor(levels: ConfiguredLevels) {
    this.#levels = levels;
  }

  list(): LoggersOverview {
    const { registry, groups, revision } = this.#levels;
    if (this.#overview?.revision !== revision) {
      this.#overview = {
        levels: LEVELS,
        loggers: registry.sorted().map((node) => this.logger(node)),
        groups: [...groups.values()].map((group) => this.group(group)),
        revision,
      };
    }
    return this.#overview;
  }

  /** The group of this name, or else the logger; undefined if there is neither. */
  get(name: string): Logger | LoggerGroup | undefined {
    const { registry, groups } = this.#levels;
    const group = groups.get(name);
    if (group !== undefined) return this.group(group);
    const node = registry.get(name);
    return node && this.logger(node);
  }

  logger(node: LoggerNode): Logger {
    const { override } = node;
    const level = this.#levels.levelOf(node);
    return {
      type: "logger",
      name: node.name,
      configuredLevel: level,
      effectiveLevel: effectiveLevel(node),
      baselineLevel: applicationLevel(node, "initial"),
      override: level === undefined ? undefined : override,
      kind: node.bindings?.kind ?? "",
      exists: exists(node),
      warnings: this.#levels.registry.warningsOf(node),
    };
  }

  group(group: Group): LoggerGroup {
    // A group without members is a logger when a level is set, so it shows what that logger has.
    const on = group.members.length > 0 ? group : (this.#levels.registry.get(group.name) ?? group);
    const { override } = on;
    return groupView({ ...group, configured: this.#levels.levelOf(on), override }, this.#isMixed(group));
  }

  /** Kept for each revision, because a prefix may include every logger. */
  #isMixed(group: Group): boolean {
    const { registry, revision } = this.#levels;
    let known = this.#mixed.get(group);
    if (known?.revision !== revision) {
      known = { revision, mixed: isMixed(group, registry) };
      this.#mixed.set(group, known);
    }
    return known.mixed;
  }
}

function groupView({ name, configured, override, members }: Group, mixed: boolean): LoggerGroup {
  return { type: "group", name, configuredLevel: configured, override, mixed, members };
}
