import type { LoggerHandle } from "../../../loggers/adapter.ts";
import type { Level } from "../../../loggers/level.ts";
import { isAtOrBelow, ROOT } from "../../../loggers/name.ts";
import type { PinoInstrumentation, PinoObserver } from "./instrumentation.ts";
import { levelOrder } from "./level-order.ts";
import type { NativeLogger, PinoCopy } from "./native.ts";

/** The set that a logger belongs to, or whose level it follows. */
export interface Place {
  readonly set: LoggerSet;
}

/** What the sets of one copy's loggers share. */
export interface LoggerSetContext {
  readonly copy: PinoCopy;
  readonly instrumentation: PinoInstrumentation;
  readonly observer: PinoObserver;
  readonly placeOf: (logger: NativeLogger) => Place | undefined;
}

/** What distinguishes the loggers of one set from other children of the same logger. */
export interface LoggerKind {
  /** Undefined for loggers without a name that cannot follow their parent's level by themselves. */
  readonly name: string | undefined;
  /** The threshold that the loggers have as their own; undefined if they follow their parent. */
  readonly threshold: number | undefined;
  /** Whether the application set that threshold. If not, pino copied it from the parent when it made the child. */
  readonly configured: boolean;
}

/**
 * All loggers of one name that have the same level for the same reason: children of one managed logger, or of loggers that follow
 * it. It holds them weakly, so that one made for a request goes when the request does, and has no limit.
 *
 * A level that is applied to a set reaches what follows it: children by themselves, through their prototypes, and loggers with a
 * copied threshold (`dependents`) by being given the same level. A child whose name is not below that of the logger it follows
 * keeps its level instead: names decide which level applies, not which logger made which.
 */
export class LoggerSet implements LoggerHandle, Place {
  readonly set = this;
  /** The place of loggers that follow those of this set and are not managed by themselves. */
  readonly below: Place = { set: this };
  readonly context: LoggerSetContext;
  readonly levels: NativeLogger["levels"];
  readonly parent: LoggerSet | undefined;
  /** Warnings for the operator. */
  readonly warnings: string[] = [];
  /** Whether some of its loggers are older than the adapter. */
  isOlder = false;
  /** The sets of the children of these loggers, by what they have in common. */
  children: Map<string, LoggerSet> | undefined;
  /** The sets below that a level applied here does not reach, or must not reach, by itself. */
  #dependents: Set<LoggerSet> | undefined;
  #kind!: LoggerKind;
  /** Whether it follows the logger of a name that is not above its own. */
  #isForeign = false;
  #applied: Level | undefined;
  #members: WeakRef<NativeLogger>[] = [];
  /** Where the search for collected loggers goes on. */
  #cursor = 0;

  constructor(context: LoggerSetContext, kind: LoggerKind, levels: NativeLogger["levels"], parent?: LoggerSet) {
    this.context = context;
    this.levels = levels;
    this.parent = parent;
    this.become(kind);
  }

  get kind(): LoggerKind {
    return this.#kind;
  }

  /** Changes what its loggers have in common. */
  become(kind: LoggerKind): void {
    this.#kind = kind;
    const { parent } = this;
    this.#isForeign = parent !== undefined && kind.name !== undefined && !isBelow(this.name, parent.name);
    if (!kind.configured && (kind.threshold !== undefined || this.#isForeign)) this.#watchParent();
  }

  /** The name of these loggers, or of the logger that they follow if they have none. */
  get name(): string {
    return this.kind.name ?? this.parent?.name ?? ROOT;
  }

  /** Whether it stands for loggers without a name that the application gave a level: they are not managed. */
  get isUnmanaged(): boolean {
    return this.kind.name === undefined && this.kind.configured;
  }

  get level(): Level {
    const { parent } = this;
    // Most loggers follow; a list of a hundred thousand is not to look at each.
    if (parent !== undefined && !this.hasOwnMethods) return parent.level;
    const logger = this.first();
    // All were collected: the level of the next one that is made.
    if (logger === undefined) return this.#target ?? parent?.level ?? "OFF";
    const { copy } = this.context;
    return levelOrder(copy, logger).levelOf(logger[copy.levelValue] as number);
  }

  apply(level: Level): void {
    this.#applied = level;
    this.#settleAll();
  }

  restore(): void {
    this.#applied = undefined;
    this.#settleAll();
  }

  /** Forgets the level that was applied, because the loggers are no longer managed. */
  detach(): void {
    this.#applied = undefined;
  }

  /** Adds a logger, which then has the level that its set has. */
  add(logger: NativeLogger): void {
    this.#members.push(new WeakRef(logger));
    this.sweep(2);
    const { threshold } = this.kind;
    if (this.#applied !== undefined || (threshold === undefined ? this.#isPinned : this.#target !== undefined)) {
      this.#attempt(logger);
    }
    // It has methods of its own.
    if (threshold !== undefined) this.context.instrumentation.interception.touch(logger);
  }

  /** The loggers that exist. */
  *members(): Iterable<NativeLogger> {
    for (const reference of this.#members) {
      const logger = this.#deref(reference);
      if (logger !== undefined) yield logger;
    }
  }

  /** One of its loggers; undefined if there is none any more. */
  first(): NativeLogger | undefined {
    for (let last = this.#members.at(-1); last !== undefined; last = this.#members.at(-1)) {
      const logger = this.#deref(last);
      if (logger !== undefined) return logger;
      this.#members.pop();
    }
    return undefined;
  }

  /** Whether this logger is its only one. */
  isOnly(logger: NativeLogger): boolean {
    for (const member of this.members()) if (member !== logger) return false;
    return true;
  }

  /** Drops the collected ones among some of its loggers, others at each call. Returns whether any logger is left. */
  sweep(count = this.#members.length): boolean {
    const members = this.#members;
    for (let left = count; left > 0 && members.length > 0; left--) {
      if (this.#cursor >= members.length) this.#cursor = 0;
      if (this.#deref(members[this.#cursor]!) !== undefined) this.#cursor++;
      else {
        const last = members.pop()!;
        if (this.#cursor < members.length) members[this.#cursor] = last;
      }
    }
    return members.length > 0;
  }

  /** Leaves its parent, because it is empty. */
  leave(): void {
    if (this.parent !== undefined) this.parent.#dependents?.delete(this);
  }

  /** Whether the loggers have methods of their own. */
  get hasOwnMethods(): boolean {
    return this.kind.threshold !== undefined || this.#applied !== undefined || this.#isPinned;
  }

  /** The level applied here, or to the loggers that these follow. */
  get #target(): Level | undefined {
    if (this.#applied !== undefined || this.kind.configured || this.#isForeign) return this.#applied;
    return this.parent === undefined ? undefined : this.parent.#target;
  }

  /** Whether it must be kept from following a level that was applied to its parent. */
  get #isPinned(): boolean {
    return this.kind.threshold === undefined && this.#isForeign && this.parent!.#target !== undefined;
  }

  #watchParent(): void {
    for (let at: LoggerSet = this; at.parent !== undefined && !at.kind.configured; at = at.parent) {
      at.parent.#dependents ??= new Set();
      if (at.parent.#dependents.has(at)) return;
      at.parent.#dependents.add(at);
    }
  }

  #settleAll(): void {
    const isApplied = this.#target !== undefined;
    // Those that keep their level are pinned before it changes, and released afterwards.
    if (isApplied) this.#settleDependents();
    const failures = this.#members.flatMap((reference) => {
      const logger = this.#deref(reference);
      return logger === undefined ? [] : this.#attempt(logger);
    });
    if (!isApplied) this.#settleDependents();
    if (failures.length > 0) throw failures[0];
  }

  #settleDependents(): void {
    for (const set of this.#dependents ?? []) if (set.#applied === undefined) set.#settleAll();
  }

  /** Settles a logger. Returns the error of one that the application has frozen, which keeps its level. */
  #attempt(logger: NativeLogger): readonly unknown[] {
    try {
      this.#settle(logger);
      return [];
    } catch (error) {
      return [error];
    }
  }

  #settle(logger: NativeLogger): void {
    const { copy, instrumentation, observer } = this.context;
    const target = this.#target;
    let label: string | undefined;
    if (this.#isPinned && target === undefined) {
      label = this.levels.labels[instrumentation.overrides.threshold(logger)];
    } else if (target !== undefined && (this.#applied !== undefined || this.kind.threshold !== undefined)) {
      label = levelOrder(copy, logger).labelFor(target);
    }
    instrumentation.override(logger, label, observer);
  }

  /** The logger, unless it was collected or belongs to another set by now. */
  #deref(reference: WeakRef<NativeLogger>): NativeLogger | undefined {
    const logger = reference.deref();
    return logger !== undefined && this.context.placeOf(logger) === this ? logger : undefined;
  }
}

function isBelow(name: string, ancestor: string): boolean {
  return ancestor.toUpperCase() === ROOT || isAtOrBelow(name, ancestor);
}
