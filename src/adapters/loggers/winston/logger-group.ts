import type { Level } from "../../../loggers/level.ts";
import type { RecordSinks } from "../../kit/loggers/record-sinks.ts";
import { type GateGroup, type GateState, gateOf, LevelGate, removeGate } from "./level-gate.ts";
import { type LevelSet, levelSet, OFF_VALUE } from "./level-set.ts";
import { MethodOverrides, type OverriddenGroup } from "./method-overrides.ts";
import { type NativeLogger, type NativeTransport, owner } from "./native.ts";
import { RecordTails } from "./record-tails.ts";
import { release, takeOver, transportLimits } from "./transports.ts";

/** A gate of one of the loggers of a group. */
export type Gate = LevelGate<LoggerGroup>;

/** What an adapter learns from a group of loggers. */
export interface GroupObserver {
  /** A level was set, or removed (undefined), on the loggers of a gate, by the application or an adapter. */
  levelSet(gate: Gate, level: Level | undefined): void;
  /** What the loggers' levels let through has changed otherwise, or what limits it. */
  reachChanged(group: LoggerGroup): void;
}

/** Called for each call of a logger, with the `levelVerbosity` of the call and whether the level lets it through. */
export type CallListener = (gate: Gate, verbosity: number, enabled: boolean) => void;

const groups = new WeakMap<NativeLogger, LoggerGroup>();

/**
 * A logger with its children, which all write through its transports. winston has one level for all of them, in the transports.
 * So the methods of the logger decide on the records of each, and the transports follow, while a level of an operator applies to
 * any of them. Otherwise everything is winston's, except that the group learns which level the application sets.
 */
export class LoggerGroup implements GateGroup, OverriddenGroup {
  readonly logger: NativeLogger;
  /** The gate of the logger that has the transports. */
  readonly gate: Gate;
  levels: LevelSet;
  readonly active = new Set<GateState>();
  readonly tails: RecordTails<LoggerGroup> = new RecordTails(this);
  call: OverriddenGroup["call"];
  /** The label that the application set. */
  #native: string;
  readonly #observers = new Set<GroupObserver>();
  #listeners: readonly CallListener[] = [];
  #overrides: MethodOverrides | undefined;
  #transports: ReadonlySet<NativeTransport> = new Set();
  /** What the observers were told last. */
  #told = "";
  #restoreLevel = () => {};

  constructor(logger: NativeLogger) {
    this.logger = logger;
    this.levels = levelSet(logger.levels);
    this.gate = new LevelGate(this, undefined);
    this.#native = logger.level;
  }

  /** The level that the application set. */
  get nativeLevel(): Level {
    return this.levels.level(this.levels.value(this.#native));
  }

  join(observer: GroupObserver): void {
    this.#observers.add(observer);
    if (this.#observers.size > 1) return;
    this.gate.place(this.logger);
    this.#observeLevel();
    this.#told = this.#toTell();
  }

  /** Ends {@link join}. The last observer to leave restores everything but the level of the logger. */
  leave(observer: GroupObserver): void {
    if (!this.#observers.delete(observer) || this.#observers.size > 0) return;
    this.#listeners = [];
    this.tails.clear();
    this.#native = this.logger.level;
    this.gate.reset();
    this.active.clear();
    this.#settle();
    this.#restoreLevel();
    removeGate(this.logger);
  }

  /** Sets the level of a gate for an operator. */
  apply(gate: Gate, level: Level, setBy: object): void {
    const { state } = gate;
    state.isFollowing = false;
    state.level = level;
    state.setBy = setBy;
    this.#label(state);
    this.active.add(state);
    this.#settle();
    for (const observer of this.#observers) observer.levelSet(gate, level);
  }

  /** Lets winston decide again for a gate, unless the level there was set by something else. */
  restore(gate: Gate, setBy: object): void {
    const { state } = gate;
    const wasSet = state.level !== undefined;
    if (wasSet && state.setBy !== setBy) return;
    state.isFollowing = false;
    state.level = undefined;
    this.active.delete(state);
    this.#settle();
    if (wasSet) this.#tellLevel(gate);
  }

  /** Adds a listener to the calls of all these loggers. */
  listen(listener: CallListener): void {
    this.#listeners = [...this.#listeners, listener];
    this.#settle();
  }

  /** Ends {@link listen}. */
  ignore(listener: CallListener): void {
    this.#listeners = this.#listeners.filter((other) => other !== listener);
    this.#settle();
  }

  /** Gives the records of all these loggers to sinks. */
  tail(sinks: RecordSinks<Gate>): void {
    this.tails.add(sinks);
    this.#settle();
  }

  /** Ends {@link tail}. */
  untail(sinks: RecordSinks<Gate>): void {
    this.tails.remove(sinks);
    this.#settle();
  }

  lets(logger: NativeLogger, label: string | undefined): boolean {
    const gate = gateOf<LoggerGroup>(logger);
    const value = this.levels.values[label!]!;
    const set = gate?.deciding;
    const verbosity = this.#listeners.length === 0 ? undefined : this.levels.verbosity(label!);
    if (verbosity !== undefined && gate !== undefined) {
      const enabled = value <= (set?.threshold ?? this.#nativeThreshold());
      for (const listener of this.#listeners) listener(gate, verbosity, enabled);
    }
    return set === undefined || !(value > set.threshold) || this.tails.hides(logger, label);
  }

  /** The most verbose value that any transport writes at a level that an operator set, or at that of the application. */
  reach(set: GateState | undefined): number {
    const { silent, transports } = this.logger;
    if (silent) return OFF_VALUE;
    const threshold = set?.threshold ?? this.levels.value(this.#native);
    if (transports.length === 0) return threshold;
    let reached = OFF_VALUE;
    for (const transport of transports) reached = Math.max(reached, this.#reachOf(transport, set, threshold));
    return reached;
  }

  /** Warnings for the operator about what a level of these loggers cannot change. */
  limits(): readonly string[] {
    const limits = this.logger.transports.flatMap((transport) => transportLimits(transport, this.levels));
    return this.logger.silent ? [...limits, "logger.silent is true: nothing is written at any level"] : limits;
  }

  /** Looks at the transports and the level set again, and tells the observers what has changed. */
  look(): void {
    this.#readLevels();
    this.#settle();
    const told = this.#toTell();
    if (told === this.#told) return;
    this.#told = told;
    for (const observer of this.#observers) observer.reachChanged(this);
  }

  /** Overrides the methods of levels that winston has added since. */
  coverLevelMethods(): void {
    this.#overrides?.cover();
  }

  #reachOf(transport: NativeTransport, set: GateState | undefined, threshold: number): number {
    if (transport.silent) return OFF_VALUE;
    if (set !== undefined) return Math.min(threshold, transport.level ? this.levels.value(transport.level) : threshold);
    if (transport.levels === undefined) return threshold;
    const label = transport.level || levelAbove(transport);
    return label === undefined ? Number.POSITIVE_INFINITY : this.levels.value(label);
  }

  #setByApplication(label: string): void {
    this.#native = label;
    this.#readLevels();
    const { state } = this.gate;
    state.isFollowing = true;
    state.level = undefined;
    this.active.delete(state);
    this.#settle();
    this.#told = this.#toTell();
    this.#tellLevel(this.gate);
  }

  #tellLevel(gate: Gate): void {
    const level = gate === this.gate ? this.nativeLevel : undefined;
    for (const observer of this.#observers) observer.levelSet(gate, level);
  }

  #toTell(): string {
    return [this.reach(undefined), ...this.limits()].join("\n");
  }

  /** Reads the level set again: `logger.configure()` may have brought another. */
  #readLevels(): void {
    if (this.logger.levels === this.levels.values) return;
    this.levels = levelSet(this.logger.levels);
    for (const state of this.active) this.#label(state);
    this.#overrides?.cover();
  }

  #label(state: GateState): void {
    state.label = this.levels.label(state.level!);
    state.threshold = this.levels.value(state.label);
  }

  /** Overrides methods and takes over transports if a level that was set, a listener or a tail needs it, or restores them. */
  #settle(): void {
    const isNeeded = this.active.size > 0 || this.#listeners.length > 0 || !this.tails.isEmpty;
    if (isNeeded) this.#overrides ??= new MethodOverrides(this);
    else {
      this.#overrides?.remove();
      this.#overrides = undefined;
    }
    const before = this.#transports;
    this.#transports = new Set(this.active.size > 0 ? this.logger.transports : []);
    for (const transport of before) if (!this.#transports.has(transport)) release(transport);
    for (const transport of this.#transports) if (!before.has(transport)) takeOver(transport, levelToLend);
  }

  /** Replaces the property `level`, to learn what the application sets, and to show what an operator has set. */
  #observeLevel(): void {
    const group = this;
    const { logger } = this;
    const before = Object.getOwnPropertyDescriptor(logger, "level");
    this.#native = logger.level;
    const get = function (this: NativeLogger): string {
      return gateOf(this)?.deciding?.label ?? group.#native;
    };
    const set = function (this: NativeLogger, label: string): void {
      if (this === logger) group.#setByApplication(label);
      // On a child the level is just a property, as it is for winston.
      else Object.defineProperty(this, "level", { value: label, writable: true, enumerable: true, configurable: true });
    };
    Object.defineProperty(logger, "level", { get, set, enumerable: before?.enumerable ?? true, configurable: true });
    keepFast(logger);
    this.#restoreLevel = () => {
      if (Object.getOwnPropertyDescriptor(logger, "level")?.get !== get) return;
      const value = this.#native;
      if (before === undefined) Reflect.deleteProperty(logger, "level");
      else Object.defineProperty(logger, "level", { ...before, value });
    };
  }

  /** The most verbose value that gets to any transport at the application's level. */
  #nativeThreshold(): number {
    const own = this.logger.transports.map(({ level }) => (level ? this.levels.value(level) : OFF_VALUE));
    return Math.max(this.levels.value(this.#native), ...own);
  }

  /** The label that the application set on a logger of this group. */
  nativeLabel(logger: NativeLogger): string {
    const isOwn = logger !== this.logger && Object.hasOwn(logger, "level");
    return isOwn ? logger.level : this.#native;
  }
}

/** The level that the application gave the logger to which a transport was added. */
function levelAbove({ parent }: NativeTransport): string | undefined {
  if (!parent) return undefined;
  return groupOf(parent)?.nativeLabel(parent) ?? parent.level;
}

function levelToLend(transport: NativeTransport): string | undefined {
  const { parent } = transport;
  return parent && gateOf(parent)?.deciding !== undefined ? levelAbove(transport) : undefined;
}

/** The group that a logger belongs to; undefined if no adapter manages it. */
export function groupOf(logger: NativeLogger): LoggerGroup | undefined {
  return gateOf<LoggerGroup>(logger)?.group;
}

/** The group that a logger belongs to, which is made if it has none. */
export function groupFor(logger: NativeLogger): LoggerGroup {
  const root = owner(logger);
  let group = groups.get(root);
  if (group === undefined) groups.set(root, (group = new LoggerGroup(root)));
  return group;
}

/**
 * Makes property access on the logger fast again. V8 gives an object with an accessor a slow shape until it has served as a
 * prototype some ten times; a logger is the prototype of its children.
 */
function keepFast(logger: NativeLogger): void {
  const read = (child: NativeLogger) => child.levels;
  for (let time = 0; time < 20; time++) read(Object.create(logger) as NativeLogger);
}

/** Gives a child with a name the gate of all children of that name below the same logger, and returns it. */
export function placeGate(child: NativeLogger, name: string): Gate {
  const parent = Object.getPrototypeOf(child) as NativeLogger;
  const above = gateOf<LoggerGroup>(parent) ?? groupFor(parent).gate;
  const own = gateOf<LoggerGroup>(child);
  if (own !== undefined && own !== above) return own;
  const gate = above.named(name);
  gate.place(child);
  return gate;
}
