import { Expiries } from "./expiries.ts";
import { type Group, groupsFrom, type Prefix } from "./group.ts";
import { type LevelChange, type LevelChangeKind, LevelHistory } from "./history.ts";
import type { Level } from "./level.ts";
import type { LoggersOptions } from "./options.ts";
import type { Override } from "./override.ts";
import { type LoggerNode, LoggerRegistry } from "./registry.ts";
import type { Holder, Setting, TemporarySetting } from "./setting.ts";

/** How a level is to change. */
export interface Entry {
  readonly kind: LevelChangeKind;
  /** After how many milliseconds the level goes back; undefined: it stays. */
  readonly ttlMs?: number | undefined;
  /** The lease that the level lasts as long as; undefined: it is nobody's. */
  readonly lease?: Holder | undefined;
  /** The group that a logger is changed through. */
  readonly group?: string | undefined;
  /** Who asked for the change, for the history. */
  readonly author?: Override | undefined;
  /** Whether it is no change but what was in force before this process: neither noted in the history nor told. */
  readonly silent?: boolean | undefined;
}

/** What a level is configured on. */
export type Subject = LoggerNode | Group | Prefix;

/** The configured levels of loggers and groups: the one place where they change, end by themselves and are remembered. */
export class LevelLedger {
  readonly registry: LoggerRegistry;
  readonly groups: ReadonlyMap<string, Group>;
  /** What the groups name with a wildcard, by the name without it. */
  readonly prefixes: ReadonlyMap<string, Prefix>;
  readonly history: LevelHistory;
  readonly #expiries = new Expiries<TemporarySetting>((temporary) => {
    this.lift(temporary);
    temporary.lease?.lost(temporary, "EXPIRED");
  });
  readonly #changeListeners = new Set<(change: LevelChange) => void>();
  readonly #revisionListeners = new Set<() => void>();
  readonly #overridden = new Set<Subject>();
  #revision = 1;

  /** @throws ActuatorError INVALID_ARGUMENT for a group whose name or member is unfit. */
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
        appeared: (node) => this.#appeared(node),
        born: (node, level) => this.#born(node, level),
        setOutside: (node, given) => {
          const level = given ?? this.inherited(node);
          if (node.configured === level && node.beneath === undefined) return;
          this.apply(node, { level, override: undefined }, { kind: "APPLICATION" });
        },
      },
    );
  }

  /** Grows with every change of a level or of the set of loggers. */
  get revision(): number {
    return this.#revision;
  }

  /** What has a level that somebody set. */
  get overridden(): ReadonlySet<Subject> {
    return this.#overridden;
  }

  /**
   * Calls `listener` for every change of a configured level until the returned function is called. What it throws becomes a
   * warning of the process: a change is complete before anybody hears of it.
   */
  onChange(listener: (change: LevelChange) => void): () => void {
    this.#changeListeners.add(listener);
    return () => this.#changeListeners.delete(listener);
  }

  /** Calls `listener` whenever the revision has moved, until the returned function is called. */
  onRevision(listener: () => void): () => void {
    this.#revisionListeners.add(listener);
    return () => this.#revisionListeners.delete(listener);
  }

  /**
   * Changes the configured level of a logger, a group or a prefix. With a time or a lease it is a temporary level, on top of those that
   * last already; without, it is there for good, and they are over.
   */
  apply(on: Subject, setting: Setting, entry: Entry): void {
    const { ttlMs: ttl, lease, group } = entry;
    const before = on.temporary ?? [];
    const forGood = ttl === undefined && lease === undefined;
    // Of those with nothing but a time there is one at most.
    const over = before.filter((temporary) => forGood || (lease === undefined && temporary.lease === undefined));
    const left = before.filter((temporary) => !over.includes(temporary));
    for (const temporary of over) this.#expiries.delete(temporary);
    if (forGood) {
      on.temporary = undefined;
      on.beneath = undefined;
    } else {
      const temporary = { ...setting, on, lease, group };
      on.beneath ??= { level: on.configured, override: on.override };
      on.temporary = [...left, temporary];
      lease?.add(temporary);
      if (ttl !== undefined) this.#expiries.set(temporary, ttl);
    }
    this.#configure(on, setting, entry);
    for (const temporary of over) temporary.lease?.lost(temporary, "OVERRULED");
  }

  /**
   * Ends a temporary level, unless `silent` as one that expired. What then is the latest, or was there before the first, comes
   * back where it was in force.
   */
  lift(temporary: TemporarySetting, silent = false): void {
    const on = temporary.on as Subject;
    const at = on.temporary?.indexOf(temporary) ?? -1;
    if (at < 0) return;
    this.#expiries.delete(temporary);
    on.temporary!.splice(at, 1);
    if (at < on.temporary!.length) return;
    const setting = on.temporary!.at(-1) ?? on.beneath!;
    if (at === 0) {
      on.temporary = undefined;
      on.beneath = undefined;
    }
    this.#configure(on, setting, { kind: "EXPIRED", silent, group: temporary.group });
  }

  /** Takes everything back to what the application itself configured. Answers how many loggers that changed. */
  restoreAll(entry: Entry): number {
    let restored = 0;
    for (const node of this.registry.sorted()) {
      const level = node.baseline ?? this.inherited(node);
      if (node.configured === level && node.override === undefined) continue;
      this.apply(node, { level, override: undefined }, entry);
      restored++;
    }
    for (const on of [...this.prefixes.values(), ...this.groups.values()]) {
      if (on.configured === undefined) continue;
      this.apply(on, { level: undefined, override: undefined }, entry);
    }
    return restored;
  }

  /** What a logger has when it is cleared. */
  inherited(node: LoggerNode): Level | undefined {
    return node === this.registry.root ? (node.baseline ?? "INFO") : undefined;
  }

  /** Ends every level that has a time. The application ends, not their time: the history does not tell it. */
  close(): void {
    for (const temporary of this.#expiries.end()) this.lift(temporary, true);
  }

  #advance(): void {
    this.#revision++;
    for (const listener of this.#revisionListeners) listener();
  }

  /** A logger below a prefix begins with what the prefix has, to its end. */
  #appeared(node: LoggerNode): void {
    const prefix = this.prefixes.get(node.parent!.name);
    if (prefix?.configured === undefined) return;
    node.configured = prefix.configured;
    node.override = prefix.override;
    if (node.override !== undefined) this.#overridden.add(node);
    node.beneath = prefix.beneath;
    node.temporary = prefix.temporary?.map((temporary) => {
      const own = { ...temporary, on: node };
      own.lease?.add(own);
      this.#expiries.share(own, temporary);
      return own;
    });
  }

  #born(node: LoggerNode, level: Level): void {
    if (node.override === undefined) this.registry.configure(node, level);
    // What the application wants comes back when a temporary level, set before the logger was there, ends.
    else if (node.beneath !== undefined && node.beneath.override === undefined) {
      node.beneath = { level, override: undefined };
    }
  }

  #configure(on: Subject, setting: Setting, { kind, author = setting.override, silent, group }: Entry): void {
    const previousLevel = on.configured;
    const { level, override } = setting;
    if (isLogger(on)) this.registry.configure(on, level);
    else on.configured = level;
    on.override = override;
    if (override === undefined) this.#overridden.delete(on);
    else this.#overridden.add(on);
    // Nobody sees a prefix by itself: the group that names it changes as well.
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

function isLogger(on: Subject): on is LoggerNode {
  return "parent" in on;
}
