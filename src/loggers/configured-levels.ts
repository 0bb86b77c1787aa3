import { Expiries } from "./expiries.ts";
import { type Group, groupsFrom, type Prefix } from "./group.ts";
import { type LevelChange, type LevelChangeKind, LevelHistory } from "./history.ts";
import type { Level } from "./level.ts";
import type { LoggersOptions } from "./options.ts";
import { type LoggerNode, LoggerRegistry } from "./registry.ts";
import type { Override, Setting, SettingOwner, TemporarySetting } from "./setting.ts";

/** How a level changes. */
export interface LevelUpdate {
  readonly kind: LevelChangeKind;
  /** How long the level lasts; undefined if it is permanent or ends with its lease. */
  readonly ttlMs?: number | undefined;
  /** The lease that the level ends with, if any. */
  readonly lease?: SettingOwner | undefined;
  /** The group through which a logger is changed, if any. */
  readonly group?: string | undefined;
  /** Who asked for the change, for the history. */
  readonly author?: Override | undefined;
  /** Whether to keep it out of the history and from listeners, because it was in force before this process started. */
  readonly silent?: boolean | undefined;
}

/** What a level is configured on. */
export type LevelTarget = LoggerNode | Group | Prefix;

/** The configured levels of loggers and groups. All changes are made here, temporary levels end here, and the history is kept. */
export class ConfiguredLevels {
  readonly registry: LoggerRegistry;
  readonly groups: ReadonlyMap<string, Group>;
  /** The prefixes of all groups, by their name without the wildcard. */
  readonly prefixes: ReadonlyMap<string, Prefix>;
  readonly history: LevelHistory;
  readonly #expiries = new Expiries<TemporarySetting>((temporary) => {
    this.endTemporary(temporary);
    temporary.lease?.lost(temporary, "EXPIRED");
  });
  readonly #changeListeners = new Set<(change: LevelChange) => void>();
  readonly #revisionListeners = new Set<() => void>();
  readonly #overridden = new Set<LevelTarget>();
  #revision = 1;

  /** @throws ActuatorError INVALID_ARGUMENT if the name of a group or a member is invalid. */
  constructor(options: LoggersOptions) {
    const { groups = {}, maxCreated = 10_000, maxLoggers = 250_000, maxHistory = 10_000 } = options;
    this.groups = groupsFrom(groups);
    const prefixes = [...this.groups.values()].flatMap((group) => group.prefixes);
    this.prefixes = new Map(prefixes.map((prefix) => [prefix.prefix, prefix]));
    this.history = new LevelHistory(maxHistory);
    this.registry = new LoggerRegistry(
      { maxCreated, maxLoggers },
      {
        changed: () => this.#advance(),
        added: (node) => this.#added(node),
        foundConfigured: (node, level) => this.#foundConfigured(node, level),
        setOutside: (node, given) => {
          const level = given ?? this.inherited(node);
          if (node.configured === level && node.permanent === undefined) return;
          this.apply(node, { level, override: undefined }, { kind: "APPLICATION" });
        },
      },
    );
  }

  /** A number that grows with every change of a level or of the set of loggers. */
  get revision(): number {
    return this.#revision;
  }

  /** Everything with a level that an operator set. */
  get overridden(): ReadonlySet<LevelTarget> {
    return this.#overridden;
  }

  /**
   * Calls `listener` for every change of a configured level. Returns a function that removes it. Listeners are called when a
   * change is complete; an error that one throws becomes a warning of the process.
   */
  onChange(listener: (change: LevelChange) => void): () => void {
    this.#changeListeners.add(listener);
    return () => this.#changeListeners.delete(listener);
  }

  /** Calls `listener` whenever the revision has grown. Returns a function that removes it. */
  onRevision(listener: () => void): () => void {
    this.#revisionListeners.add(listener);
    return () => this.#revisionListeners.delete(listener);
  }

  /**
   * Changes the configured level of a logger, a group or a prefix. With a time or a lease the level is temporary and takes
   * precedence over earlier temporary levels. Without, it is permanent and ends them.
   */
  apply(on: LevelTarget, setting: Setting, update: LevelUpdate): void {
    const { ttlMs, lease, group } = update;
    const before = on.temporary ?? [];
    const isPermanent = ttlMs === undefined && lease === undefined;
    // There is at most one temporary level without a lease.
    const ended = before.filter((temporary) => isPermanent || (lease === undefined && temporary.lease === undefined));
    const left = before.filter((temporary) => !ended.includes(temporary));
    for (const temporary of ended) this.#expiries.delete(temporary);
    if (isPermanent) {
      on.temporary = undefined;
      on.permanent = undefined;
    } else {
      const temporary = { ...setting, on, lease, group };
      on.permanent ??= { level: on.configured, override: on.override };
      on.temporary = [...left, temporary];
      lease?.add(temporary);
      if (ttlMs !== undefined) this.#expiries.set(temporary, ttlMs);
    }
    this.#configure(on, setting, update);
    for (const temporary of ended) temporary.lease?.lost(temporary, "OVERRULED");
  }

  /**
   * Ends a temporary level. If it was in force, the latest of the other temporary levels or the permanent setting comes back,
   * which the history shows as EXPIRED unless `silent`.
   */
  endTemporary(temporary: TemporarySetting, silent = false): void {
    const on = temporary.on as LevelTarget;
    const at = on.temporary?.indexOf(temporary) ?? -1;
    if (at < 0) return;
    this.#expiries.delete(temporary);
    on.temporary!.splice(at, 1);
    if (at < on.temporary!.length) return;
    const setting = on.temporary!.at(-1) ?? on.permanent!;
    if (at === 0) {
      on.temporary = undefined;
      on.permanent = undefined;
    }
    this.#configure(on, setting, { kind: "EXPIRED", silent, group: temporary.group });
  }

  /** Restores everything to what the application configured. Returns the number of loggers that changed. */
  restoreAll(update: LevelUpdate): number {
    let restored = 0;
    for (const node of this.registry.sorted()) {
      const level = node.baseline ?? this.inherited(node);
      if (node.configured === level && node.override === undefined) continue;
      this.apply(node, { level, override: undefined }, update);
      restored++;
    }
    for (const on of [...this.prefixes.values(), ...this.groups.values()]) {
      if (on.configured === undefined) continue;
      this.apply(on, { level: undefined, override: undefined }, update);
    }
    return restored;
  }

  /** The level of a logger that is cleared: undefined, except for ROOT. */
  inherited(node: LoggerNode): Level | undefined {
    return node === this.registry.root ? (node.baseline ?? "INFO") : undefined;
  }

  /** Ends every level that has a time, because the process ends. The history does not show it. */
  close(): void {
    for (const temporary of this.#expiries.end()) this.endTemporary(temporary, true);
  }

  #advance(): void {
    this.#revision++;
    for (const listener of this.#revisionListeners) listener();
  }

  /** Gives a new logger below a prefix the prefix's setting, with the same end. */
  #added(node: LoggerNode): void {
    const prefix = this.prefixes.get(node.parent!.name);
    if (prefix?.configured === undefined) return;
    node.configured = prefix.configured;
    node.override = prefix.override;
    if (node.override !== undefined) this.#overridden.add(node);
    node.permanent = prefix.permanent;
    node.temporary = prefix.temporary?.map((temporary) => {
      const own = { ...temporary, on: node };
      own.lease?.add(own);
      this.#expiries.share(own, temporary);
      return own;
    });
  }

  #foundConfigured(node: LoggerNode, level: Level): void {
    if (node.override === undefined) this.registry.configure(node, level);
    // If a temporary level was set before the logger existed, the application's level comes back when that ends.
    else if (node.permanent !== undefined && node.permanent.override === undefined) {
      node.permanent = { level, override: undefined };
    }
  }

  #configure(on: LevelTarget, setting: Setting, { kind, author = setting.override, silent, group }: LevelUpdate): void {
    const previousLevel = on.configured;
    const { level, override } = setting;
    if (isLogger(on)) this.registry.configure(on, level);
    else on.configured = level;
    on.override = override;
    if (override === undefined) this.#overridden.delete(on);
    else this.#overridden.add(on);
    // A prefix is not shown by itself; its group changes as well.
    if ("prefix" in on) return;
    this.#advance();
    if (silent) return;
    const revision = this.#revision;
    const time = Date.now();
    const change = this.history.add({
      name: on.name,
      previousLevel,
      level,
      override: author,
      kind,
      time,
      revision,
      group,
    });
    for (const listener of this.#changeListeners) {
      try {
        listener(change);
      } catch (error) {
        process.emitWarning(`a listener of level changes failed: ${error}`);
      }
    }
  }
}

function isLogger(on: LevelTarget): on is LoggerNode {
  return "parent" in on;
}
