import { Expiries } from "./expiries.ts";
import { type Group, groupsFrom, type Prefix } from "./group.ts";
import { type LevelChange, type LevelChangeKind, LevelHistory } from "./history.ts";
import type { Level } from "./level.ts";
import { applicationLevel, isConfiguredByApplication, operatorLevel } from "./node-levels.ts";
import type { LoggersOptions } from "./options.ts";
import { type LoggerNode, LoggerRegistry } from "./registry.ts";
import { APPLICATION, type Override, type Setting, type SettingOwner, type TemporarySetting } from "./setting.ts";

/** How a level changes. */
export interface LevelUpdate {
  readonly kind: LevelChangeKind;
  /** How long the level lasts; undefined if it is permanent or ends with its lease. */
  readonly ttlMs?: number | undefined;
  /** The lease that the level ends with, if any. */
  readonly lease?: SettingOwner | undefined;
  /**
   * For a temporary level: whether a setting that is there already stays above it. Beneath a permanent one it is not added; its lease
   * has then lost it. Default: it is above all others.
   */
  readonly isBeneath?: ((other: Setting) => boolean) | undefined;
  /** The group through which a logger is changed, if any. */
  readonly group?: string | undefined;
  /** Who asked for the change, for the history. */
  readonly author?: Override | undefined;
  /** Whether to keep it out of the history and from listeners, because it was in force before this process started. */
  readonly silent?: boolean | undefined;
}

/** The maximum of timed levels on one name, one on top of the other. */
const MAX_TIMED = 100;

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
  #isFresh = false;

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
        // A logger below a prefix that was changed by itself is not to get the prefix's level when it appears again.
        isKept: (node) => this.prefixes.get(node.parent!.key)?.override !== undefined,
        setOutside: (node, previous, level) => this.#setOutside(node, previous, level),
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
    const { ttlMs, lease, group, isBeneath = () => false } = update;
    let ended: readonly TemporarySetting[];
    if (ttlMs === undefined && lease === undefined) ended = this.#end(on);
    else {
      const temporary = { ...setting, on, lease, group };
      ended = lease === undefined ? this.#endEarlier(on, setting) : [];
      const permanent = on.permanent ?? { level: on.configured, override: on.override };
      if (isBeneath(permanent)) {
        lease?.lost(temporary, "OVERRULED");
        return;
      }
      on.permanent = permanent;
      const others = on.temporary ?? [];
      let at = others.length;
      while (at > 0 && isBeneath(others[at - 1]!)) at--;
      on.temporary = others.toSpliced(at, 0, temporary);
      lease?.add(temporary);
      if (ttlMs !== undefined) this.#expiries.set(temporary, ttlMs);
      if (at < others.length) return;
    }
    this.#configure(on, setting, update);
    for (const temporary of ended) temporary.lease?.lost(temporary, "OVERRULED");
  }

  /**
   * Ends a temporary level. If it was in force, the latest of the other temporary levels or the permanent setting comes back,
   * which the history shows as EXPIRED or another cause, unless `silent`.
   */
  endTemporary(
    temporary: TemporarySetting,
    { silent = false, kind = "EXPIRED", author }: Partial<Pick<LevelUpdate, "silent" | "kind" | "author">> = {},
  ): void {
    const on = temporary.on as LevelTarget;
    const at = on.temporary?.indexOf(temporary) ?? -1;
    if (at < 0) return;
    this.#readLevelsOnce();
    // What was read may have ended it.
    if (on.temporary?.[at] !== temporary) return;
    this.#expiries.delete(temporary);
    on.temporary.splice(at, 1);
    if (at < on.temporary.length) return;
    const setting = on.temporary.at(-1) ?? on.permanent!;
    if (at === 0) {
      on.temporary = undefined;
      on.permanent = undefined;
    }
    this.#configure(on, setting, { kind, silent, group: temporary.group, ...(author && { author }) });
  }

  /** Restores everything to what the application configured. Returns the number of loggers that changed. */
  restoreAll(update: LevelUpdate): number {
    let restored = 0;
    for (const on of [...this.#overridden]) {
      this.apply(on, APPLICATION, update);
      if (isLogger(on)) restored++;
    }
    return restored;
  }

  /** The configured level of a logger, a group or a prefix: the operator's, or else the application's. */
  levelOf(on: LevelTarget): Level | undefined {
    if (!isLogger(on)) return on.configured;
    return on.override === undefined ? applicationLevel(on) : operatorLevel(on);
  }

  /** What clearing a logger amounts to: it inherits, except for ROOT, which gets the application's level back. */
  cleared(node: LoggerNode, author: Override): Setting {
    const { root } = this.registry;
    return node !== root && isConfiguredByApplication(node) ? { level: undefined, override: author } : APPLICATION;
  }

  /** Ends every level that has a time, because the process ends. The history does not show it. */
  close(): void {
    for (const temporary of this.#expiries.end()) this.endTemporary(temporary, { silent: true });
  }

  /** Reads the libraries once for all levels that end in the same turn. */
  #readLevelsOnce(): void {
    if (this.#isFresh) return;
    this.#isFresh = true;
    queueMicrotask(() => {
      this.#isFresh = false;
    });
    this.registry.readLevels();
  }

  #advance(): void {
    this.#revision++;
    for (const listener of this.#revisionListeners) listener();
  }

  /** Ends all temporary levels of a name, which it returns. */
  #end(on: LevelTarget): readonly TemporarySetting[] {
    const ended = on.temporary ?? [];
    for (const temporary of ended) this.#expiries.delete(temporary);
    on.temporary = undefined;
    on.permanent = undefined;
    return ended;
  }

  /**
   * Ends the timed level that a new one replaces: the same level, set by the same caller, or the oldest if there are too many.
   * Another one comes back when the new one ends.
   */
  #endEarlier(on: LevelTarget, { level, override }: Setting): readonly TemporarySetting[] {
    const timed = on.temporary?.filter(({ lease }) => lease === undefined) ?? [];
    const same = timed.find((earlier) => earlier.level === level && earlier.override?.actor === override?.actor);
    const replaced = same ?? (timed.length < MAX_TIMED ? undefined : timed[0]);
    if (replaced === undefined) return [];
    this.#expiries.delete(replaced);
    on.temporary = on.temporary!.filter((other) => other !== replaced);
    return [replaced];
  }

  /** Gives a new logger below a prefix the prefix's setting, with the same end. */
  #added(node: LoggerNode): void {
    const prefix = this.prefixes.get(node.parent!.key);
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

  /** The application's level replaces what an operator set on the name. */
  #setOutside(node: LoggerNode, previous: Level | undefined, level: Level | undefined): void {
    if (node.override === undefined && previous === level) return;
    const before = node.override === undefined ? previous : this.levelOf(node);
    const ended = this.#end(node);
    this.#replace(node, APPLICATION);
    this.#tell(node, before, level, { kind: "APPLICATION" });
    for (const temporary of ended) temporary.lease?.lost(temporary, "OVERRULED");
  }

  #configure(on: LevelTarget, setting: Setting, update: LevelUpdate): void {
    const previous = this.levelOf(on);
    this.#replace(on, setting);
    // A prefix is not shown by itself; its group changes as well.
    if ("prefix" in on) return;
    this.#tell(on, previous, this.levelOf(on), { author: setting.override, ...update });
    if (!isLogger(on)) return;
    if (update.kind === "CLEARED") this.registry.keepCleared(on);
    else this.registry.prune(on);
  }

  #replace(on: LevelTarget, setting: Setting): void {
    if (setting.override === undefined) this.#overridden.delete(on);
    else this.#overridden.add(on);
    if (isLogger(on)) this.registry.configure(on, setting);
    else {
      on.configured = setting.level;
      on.override = setting.override;
      if ("prefix" in on && on.override === undefined) {
        for (const node of this.registry.childrenOf(on.prefix)) this.registry.prune(node);
      }
    }
  }

  #tell(
    { name }: LoggerNode | Group,
    previousLevel: Level | undefined,
    level: Level | undefined,
    { kind, author, silent, group }: LevelUpdate,
  ): void {
    this.#advance();
    if (silent) return;
    const revision = this.#revision;
    const time = Date.now();
    const change = this.history.add({ name, previousLevel, level, override: author, kind, time, revision, group });
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
