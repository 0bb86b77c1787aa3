import type { LoggerHost } from "../../../loggers/adapter.ts";
import type { Level } from "../../../loggers/level.ts";
import { type PrivateMark, privateMark } from "../../kit/loggers/private-mark.ts";
import { WeakList } from "../../kit/loggers/weak-list.ts";
import {
  type ChildOptions,
  type PinoInstrumentation,
  type PinoObserver,
  pinoInstrumentation,
} from "./instrumentation.ts";
import { levelOrder } from "./level-order.ts";
import { type LoggerKind, LoggerSet, type LoggerSetContext, type Place } from "./logger-set.ts";
import type { NativeLogger, PinoCopy } from "./native.ts";
import { streamLimit } from "./stream-limits.ts";

/** Finds the name of a child in its bindings. */
export type NameOf = (bindings: Readonly<Record<string, unknown>>) => string | undefined;

/** Marks a logger that descends from none of the roots given. */
const FOREIGN = null;

/** Looking at a hundred thousand loggers takes some 40 ms. */
const SWEEP_AFTER_MS = 1_000;

const ORPHAN = "this logger is a child of one that is not managed; give pinoLoggers that one instead";

/**
 * The loggers of one copy of pino that descend from the roots given to an adapter, in sets. Every child made of a managed logger
 * is marked with its place, so that its own children find theirs in one step.
 */
export class ManagedLoggers implements PinoObserver {
  readonly copy: PinoCopy;
  readonly instrumentation: PinoInstrumentation;
  readonly #nameOf: NameOf;
  readonly #context: LoggerSetContext;
  readonly #places: PrivateMark<Place | typeof FOREIGN | undefined> = privateMark();
  /** The given loggers, by the object that each root shares with its children, also through a proxy of the application. */
  readonly #roots = new WeakMap<NativeLogger["levels"], Place>();
  /** Given loggers whose parent is not managed. */
  readonly #orphans: LoggerSet[] = [];
  /** Loggers without a name that the application gave a level: managed ones may have their methods. */
  readonly #unmanaged = new WeakList<NativeLogger>();
  /** All sets of loggers that are managed. */
  readonly #sets = new Set<LoggerSet>();
  #nextSwept: Iterator<LoggerSet> = this.#sets.values();
  /** Whether no logger is unknown that is older than the adapter. */
  #knowsExisting = false;
  #lastSweep = Number.NEGATIVE_INFINITY;
  #host: LoggerHost | undefined;
  #stop: (() => void) | undefined;

  constructor(copy: PinoCopy, nameOf: NameOf) {
    this.copy = copy;
    this.instrumentation = pinoInstrumentation(copy);
    this.#nameOf = nameOf;
    const placeOf = (logger: NativeLogger) => this.#places.get(logger) ?? undefined;
    this.#context = { copy, instrumentation: this.instrumentation, observer: this, placeOf };
    this.observe();
  }

  /** Manages a logger given by the application, and all that is made of it. */
  addRoot(logger: NativeLogger, name: string): void {
    const configured = Object.hasOwn(logger, this.copy.levelValue);
    const kind = { name, threshold: configured ? this.#thresholdOf(logger) : undefined, configured };
    const isRoot = this.isRoot(logger);
    const above = isRoot ? undefined : this.#placeOf(Object.getPrototypeOf(logger) as NativeLogger);
    if (above !== undefined) {
      this.#join(logger, above.set, kind);
      return;
    }
    const set = new LoggerSet(this.#context, kind, logger.levels);
    const limit = streamLimit(this.copy, logger);
    if (limit !== undefined) set.warnings.push(limit);
    if (isRoot) this.#roots.set(logger.levels, set.below);
    else {
      set.warnings.push(ORPHAN);
      this.#orphans.push(set);
    }
    this.#place(logger, set);
    this.#manage(set, logger);
    this.#sweepTwo();
  }

  /** Whether a root is managed. */
  hasRoot(logger: NativeLogger): boolean {
    return this.#roots.has(logger.levels);
  }

  /** Manages a logger that may be older than the adapter, if it descends from one of the roots. */
  find(logger: NativeLogger): void {
    this.#placeOf(logger);
  }

  /** Manages the loggers that descend from the roots given, of all that exist. */
  addExisting(objects: readonly object[]): void {
    this.#knowsExisting = true;
    for (const object of objects as readonly NativeLogger[]) this.find(object);
  }

  /** Whether a logger is no child of another one. */
  isRoot(logger: NativeLogger): boolean {
    const above = Object.getPrototypeOf(logger) as NativeLogger;
    return above[this.copy.levelValue] === undefined;
  }

  /** Watches the copy of pino. Is also needed before {@link attach}, for what is made meanwhile. */
  observe(): void {
    this.#stop ??= this.instrumentation.observe(this);
  }

  attach(host: LoggerHost): void {
    if (this.#stop === undefined) this.#markMembers((set) => set);
    this.observe();
    this.#host = host;
    for (const set of [...this.#sets]) this.#report(set, set.first(), set.kind);
  }

  detach(): void {
    this.#stop?.();
    this.#stop = undefined;
    this.#host = undefined;
    for (const set of this.#sets) set.detach();
    // A logger that lives on would keep all of this.
    this.#markMembers(() => undefined);
  }

  /** Forgets the loggers that were collected, and the names that no logger has any more, at most once a second. */
  refresh(): void {
    const now = performance.now();
    if (now - this.#lastSweep < SWEEP_AFTER_MS) return;
    this.#lastSweep = now;
    for (const set of this.#sets) if (!set.sweep()) this.#remove(set);
    // An iterator keeps what the set had when it was last asked.
    this.#nextSwept = this.#sets.values();
  }

  /** The set whose level a logger has; undefined if it is not managed. */
  followed(logger: unknown): LoggerSet | undefined {
    for (let at = logger; typeof at === "object" && at !== null; at = Object.getPrototypeOf(at)) {
      const place = this.#places.get(at);
      if (place === FOREIGN) return undefined;
      // One below a set has no level of its own, and may follow a logger that was given one since.
      if (place !== undefined && place === place.set) {
        const { set } = place;
        const followed = set.kind.name === undefined && !set.isUnmanaged ? set.parent : set;
        return followed?.isUnmanaged ? undefined : followed;
      }
      if (place !== undefined) continue;
      if (Object.hasOwn(at, this.copy.levelValue)) return undefined;
    }
    return undefined;
  }

  /** The set whose name a logger has, or the nearest logger above it; undefined if it descends from none that is managed. */
  nearest(logger: NativeLogger): LoggerSet | undefined {
    for (let at: NativeLogger | null = logger; at !== null; at = Object.getPrototypeOf(at) as NativeLogger | null) {
      const place = this.#places.get(at);
      if (place === FOREIGN) return undefined;
      if (place === undefined) continue;
      let set: LoggerSet | undefined = place.set;
      while (set !== undefined && set.kind.name === undefined) set = set.parent;
      return set;
    }
    return undefined;
  }

  /** The loggers that may have methods of their own. */
  *withOwnMethods(): Iterable<NativeLogger> {
    yield* this.#unmanaged;
    for (const set of this.#sets) if (set.hasOwnMethods) yield* set.members();
  }

  childMade(
    child: NativeLogger,
    parent: NativeLogger,
    bindings: object,
    options: ChildOptions | null | undefined,
    levelSet: boolean,
  ): void {
    const place = this.#placeOf(parent);
    if (place === undefined) return;
    const name = this.#nameOf(bindings as Record<string, unknown>);
    if (levelSet || this.copy.freezesChildren || (options != null && concernsLevel(options))) {
      this.#join(child, place.set, { name, ...this.#ownLevel(child, parent, options, levelSet) });
    } else if (name === undefined) this.#places.set(child, place.set.below);
    else this.#join(child, place.set, { name, threshold: undefined, configured: false });
  }

  levelSet(logger: NativeLogger): void {
    const place = this.#placeOf(logger);
    if (place === undefined) {
      this.#adoptAbove(logger);
      return;
    }
    const host = this.#host;
    if (host?.pushing !== true) {
      this.#adopt(logger, place);
      return;
    }
    // A "level-change" listener of the application set it during a push, which may still reach this logger too.
    const { levelValue } = this.copy;
    const value = logger[levelValue];
    queueMicrotask(() => {
      if (logger[levelValue] === value && host === this.#host) this.#adopt(logger, this.#placeOf(logger)!);
    });
  }

  levelPushed(logger: NativeLogger): void {
    const place = this.#placeOf(logger);
    if (place !== undefined && place === place.set && place.set.kind.name !== undefined) this.#adopt(logger, place);
  }

  bindingsSet(logger: NativeLogger, bindings: object): void {
    const place = this.#placeOf(logger);
    const name = this.#nameOf(bindings as Record<string, unknown>);
    if (place === undefined || name === undefined || place.set.kind.name === name) return;
    const { set } = place;
    if (place !== set) this.#join(logger, set, { name, threshold: undefined, configured: false });
    else if (set.isUnmanaged) this.#join(logger, set.parent!, { ...set.kind, name });
    else if (set.parent !== undefined) this.#move(logger, set, { ...set.kind, name });
  }

  /** Where a logger belongs; undefined if it descends from none of the roots given. */
  #placeOf(logger: NativeLogger): Place | undefined {
    const known = this.#places.get(logger);
    if (known != null) return known;
    // Its root may have been added since.
    if (known === FOREIGN && !this.#roots.has(logger.levels)) return undefined;
    const above = Object.getPrototypeOf(logger) as NativeLogger;
    if (!this.isRoot(logger)) {
      const place = this.#placeOf(above);
      if (place !== undefined) return this.#placeLate(logger, place.set);
    }
    const place = logger.levels && this.#roots.get(logger.levels);
    this.#places.set(logger, place ?? FOREIGN);
    return place;
  }

  /** Manages a child that is older than the adapter. */
  #placeLate(logger: NativeLogger, leader: LoggerSet): Place {
    const { levelValue, freezesChildren } = this.copy;
    const name = this.#nameOf(this.#ownBindings(logger));
    const own = Object.hasOwn(logger, levelValue);
    const configured = own && !freezesChildren;
    const threshold = own ? this.#thresholdOf(logger) : undefined;
    const set = this.#join(logger, leader, { name, threshold, configured });
    if (set !== undefined && name !== undefined && !this.#knowsExisting) {
      set.isOlder = true;
      this.#host?.older(name);
    }
    return this.#places.get(logger)!;
  }

  #thresholdOf(logger: NativeLogger): number {
    return this.instrumentation.overrides.threshold(logger);
  }

  /** The bindings of a logger without those of its parent. */
  #ownBindings(logger: NativeLogger): Record<string, unknown> {
    const { bindings } = this.copy;
    const [text, inherited] = [logger, Object.getPrototypeOf(logger) as NativeLogger].map((each) =>
      String(each[bindings]),
    );
    try {
      const own = text!.startsWith(inherited!) ? text!.slice(inherited!.length) : text!;
      return JSON.parse(`{${own.slice(1)}}`) as Record<string, unknown>;
    } catch {
      return {};
    }
  }

  /** Finds out what level a new child would have by itself if no level were applied to its parent, and gives it that one. */
  #ownLevel(
    child: NativeLogger,
    parent: NativeLogger,
    options: ChildOptions | null | undefined,
    levelSet: boolean,
  ): Omit<LoggerKind, "name"> {
    const { levelValue, freezesChildren } = this.copy;
    if (levelSet) return { threshold: this.#thresholdOf(child), configured: true };
    const inherited = this.#thresholdOf(parent);
    const given = options?.level;
    const configured = given !== undefined && given !== parent.levels.labels[inherited];
    const own = configured || freezesChildren || (options != null && Object.hasOwn(options, "customLevels"));
    let threshold: number | undefined;
    if (own) {
      const value = typeof given === "number" ? given : child.levels.values[String(given || "")];
      threshold = configured && given ? value : inherited;
    }
    if (inherited !== parent[levelValue]) this.instrumentation.overrides.correct(child, threshold);
    return { threshold, configured };
  }

  /**
   * Adds a logger to the set of its kind among the children of another set, and returns that set if it is managed. `before` is
   * the kind that the logger had.
   */
  #join(logger: NativeLogger, leader: LoggerSet, kind: LoggerKind, before = kind): LoggerSet | undefined {
    if (kind.name === undefined && kind.threshold === undefined) {
      this.#places.set(logger, leader.below);
      return undefined;
    }
    // What is made of a logger without a name and with a copied threshold follows the same one as that.
    const parent = leader.kind.name === undefined && !leader.isUnmanaged ? leader.parent! : leader;
    const known = parent.levels === logger.levels ? parent.children?.get(keyOf(kind)) : undefined;
    if (known !== undefined) {
      this.#place(logger, known);
      return known;
    }
    const set = new LoggerSet(this.#context, kind, logger.levels, parent);
    if (set.isUnmanaged) {
      this.#places.set(logger, set);
      this.#unmanaged.add(logger);
      this.instrumentation.interception.touch(logger);
      return undefined;
    }
    this.#index(set, set);
    this.#place(logger, set);
    this.#manage(set, logger, before);
    this.#sweepTwo();
    return set;
  }

  #place(logger: NativeLogger, set: LoggerSet): void {
    this.#places.set(logger, set);
    set.add(logger);
  }

  #manage(set: LoggerSet, logger: NativeLogger, before = set.kind): void {
    this.#sets.add(set);
    this.#report(set, logger, before);
  }

  /** Reports a set to the host. `kind` is what it was until now. */
  #report(set: LoggerSet, logger: NativeLogger | undefined, kind: LoggerKind): void {
    const host = this.#host;
    if (host === undefined || kind.name === undefined) return;
    if (logger === undefined) {
      this.#remove(set);
      return;
    }
    if (!host.discovered(set.name, set, levelOf(set, logger, kind))) {
      for (const member of set.members()) this.#places.set(member, (set.parent ?? set).below);
      this.#remove(set);
      return;
    }
    for (const warning of set.warnings) host.warn(set.name, warning);
    if (set.isOlder) host.older(set.name);
  }

  #markMembers(placeOf: (set: LoggerSet) => Place | undefined): void {
    for (const set of this.#sets) for (const member of set.members()) this.#places.set(member, placeOf(set));
  }

  /** Looks for two sets whose loggers were all collected, among all in turn. */
  #sweepTwo(): void {
    for (let left = 2; left > 0; left--) {
      let next = this.#nextSwept.next();
      if (next.done) next = (this.#nextSwept = this.#sets.values()).next();
      const { value: set } = next;
      if (set !== undefined && !set.sweep(2)) this.#remove(set);
    }
  }

  #remove(set: LoggerSet): void {
    this.#sets.delete(set);
    set.leave();
    this.#index(set, undefined);
    if (set.kind.name !== undefined) this.#host?.gone(set);
  }

  /** Notes the level that the application has set on a logger as its own. */
  #adopt(logger: NativeLogger, place: Place): void {
    const { levelValue } = this.copy;
    const own = Object.hasOwn(logger, levelValue);
    const level = { threshold: own ? (logger[levelValue] as number) : undefined, configured: own };
    const { set } = place;
    if (place !== set) {
      // It has no name: it is left alone from now on.
      this.#join(logger, set, { name: undefined, ...level });
      return;
    }
    this.instrumentation.interception.touch(logger);
    this.#move(logger, set, { name: set.kind.name, ...level });
  }

  /** Notes the level of a logger that is not managed for the given loggers that follow it. */
  #adoptAbove(logger: NativeLogger): void {
    for (const set of this.#orphans) {
      const given = set.first();
      if (set.kind.configured || given === undefined || !Object.prototype.isPrototypeOf.call(logger, given)) continue;
      this.#changedOutside(set, given);
    }
  }

  /** Moves a logger whose name or level the application has changed to another set, or the set itself if it is the only one. */
  #move(logger: NativeLogger, from: LoggerSet, kind: LoggerKind): void {
    const before = from.kind;
    const isRenamed = kind.name !== before.name;
    if (kind.name !== undefined && from.isOnly(logger)) {
      if (isRenamed) this.#host?.gone(from);
      if (isRenamed) from.restore();
      this.#index(from, undefined);
      from.become(kind);
      this.#index(from, from);
      if (isRenamed) this.#report(from, logger, kind);
      else this.#changedOutside(from, logger);
      return;
    }
    if (isRenamed) this.instrumentation.override(logger, undefined, this);
    const set = this.#join(logger, from.parent!, kind, isRenamed ? kind : { ...before });
    if (!isRenamed && set !== undefined) this.#changedOutside(set, logger);
  }

  /** Reports that the application gave a set its level, which is in force now. */
  #changedOutside(set: LoggerSet, logger: NativeLogger): void {
    set.restore();
    this.#host?.changedOutside(set, levelOf(set, logger));
  }

  /** Puts a set in the place of another one among its parent's children, or removes it. */
  #index(set: LoggerSet, indexed: LoggerSet | undefined): void {
    const { parent } = set;
    if (parent === undefined || parent.levels !== set.levels) return;
    const key = keyOf(set.kind);
    parent.children ??= new Map();
    const known = parent.children.get(key);
    if (indexed === undefined && known === set) parent.children.delete(key);
    else if (indexed !== undefined && known === undefined) parent.children.set(key, indexed);
  }
}

/**
 * The level that the application set on these loggers; undefined if it set none. A given logger without a level of its own has
 * that of its parent, which is not managed.
 */
function levelOf(set: LoggerSet, logger: NativeLogger, { configured, threshold } = set.kind): Level | undefined {
  if (!configured && set.parent !== undefined) return undefined;
  const { copy, instrumentation } = set.context;
  return levelOrder(copy, logger).levelOf(threshold ?? instrumentation.overrides.threshold(logger));
}

function concernsLevel(options: ChildOptions): boolean {
  return options.level !== undefined || Object.hasOwn(options, "customLevels");
}

function keyOf({ name = "", threshold, configured }: LoggerKind): string {
  return threshold === undefined ? name : `\0${configured ? "own" : "copied"} ${threshold} ${name}`;
}
