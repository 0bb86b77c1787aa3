import { Level } from "../gen/actuator/v3/level_pb.ts";
import type {
  InheritedLevel,
  Logger,
  LoggerGroup,
  Snapshot,
  WatchLoggersResponse,
} from "../gen/actuator/v3/loggers_pb.ts";
import { dotted } from "../loggers/name.ts";
import { inheritedLevels } from "./inherited-levels.ts";

/** What a whole event of WatchLoggers has changed. */
export interface WatchedChange {
  /** Whether everything was sent anew. */
  readonly isSnapshot: boolean;
  /** The loggers that are new or have changed, as they are now; after a snapshot all. */
  readonly loggers: ReadonlyMap<string, Logger>;
  readonly groups: ReadonlyMap<string, LoggerGroup>;
  /** The names of the loggers that are gone. Empty after a snapshot. */
  readonly removed: ReadonlySet<string>;
  /** The changed loggers that were known, as they were before; after a snapshot all. */
  readonly before: ReadonlyMap<string, Logger>;
  readonly revision: bigint;
}

/**
 * What a client of WatchLoggers knows, kept current by the events of the watch, `compact` or not. It imports nothing of Node.js, so that
 * it runs in browsers, too.
 */
export class WatchedLoggers {
  #loggers = new Map<string, Logger>();
  #groups = new Map<string, LoggerGroup>();
  #change: Change | undefined;

  /** The loggers by name. While an event continues in the next one, some are still missing or as they were. */
  get loggers(): ReadonlyMap<string, Logger> {
    return this.#loggers;
  }

  /** The groups by name. */
  get groups(): ReadonlyMap<string, LoggerGroup> {
    return this.#groups;
  }

  /** Applies an event. Returns what has changed if the event is complete; undefined for a heartbeat, and while `more` follows. */
  apply({ event, revision, more }: WatchLoggersResponse): WatchedChange | undefined {
    if (event.case === "snapshot") {
      const before = this.#change?.isSnapshot ? this.#change.before : this.#loggers;
      this.#change = new Change(true, before);
      this.#loggers = new Map();
      this.#groups = new Map();
    } else if (event.case !== "change") return undefined;
    this.#change ??= new Change(false, new Map());
    if (event.case === "change") for (const logger of this.#inheriting(event.value.inherited)) this.#put(logger);
    this.#putAll(event.value);
    if (event.case === "change") for (const name of event.value.removed) this.#remove(name);
    if (more) return undefined;
    const change = this.#change;
    this.#change = undefined;
    return { ...change, revision };
  }

  /** The loggers that get another level, with that level. */
  #inheriting(levels: readonly InheritedLevel[]): Logger[] {
    if (levels.length === 0) return [];
    const all = [...this.#loggers.values()];
    const isConfigured = ({ configuredLevel }: Logger) => configuredLevel !== Level.UNSPECIFIED;
    const configured = new Set(all.filter(isConfigured).map(({ name }) => dotted(name)));
    const levelFor = inheritedLevels(levels, (key) => configured.has(key));
    return all.flatMap((logger) => {
      const effectiveLevel = levelFor(logger.name) ?? logger.effectiveLevel;
      return effectiveLevel === logger.effectiveLevel ? [] : [{ ...logger, effectiveLevel }];
    });
  }

  #putAll({ loggers, groups }: Pick<Snapshot, "loggers" | "groups">): void {
    for (const logger of loggers) this.#put(logger);
    for (const group of groups) {
      this.#groups.set(group.name, group);
      this.#change!.groups.set(group.name, group);
    }
  }

  #put(logger: Logger): void {
    const known = this.#loggers.get(logger.name);
    const { before, loggers, isSnapshot } = this.#change!;
    if (!isSnapshot && known !== undefined && !before.has(logger.name)) before.set(logger.name, known);
    loggers.set(logger.name, logger);
    this.#loggers.set(logger.name, logger);
  }

  #remove(name: string): void {
    this.#loggers.delete(name);
    this.#change!.loggers.delete(name);
    if (!this.#change!.isSnapshot) this.#change!.removed.add(name);
  }
}

/** The pieces of an event so far. */
class Change {
  readonly isSnapshot: boolean;
  readonly before: Map<string, Logger>;
  readonly loggers = new Map<string, Logger>();
  readonly groups = new Map<string, LoggerGroup>();
  readonly removed = new Set<string>();

  constructor(isSnapshot: boolean, before: Map<string, Logger>) {
    this.isSnapshot = isSnapshot;
    this.before = before;
  }
}
