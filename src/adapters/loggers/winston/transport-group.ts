import type { Level } from "../../../loggers/level.ts";
import type { CallListener } from "./call-counting.ts";
import { type GateGroup, gateOf, LevelGate, type LevelGateObserver } from "./level-gate.ts";
import { LevelCounts, type LevelSet, levelSet, OFF_VALUE } from "./level-set.ts";
import { type NativeLogger, type NativeTransport, owner } from "./native.ts";
import { join, leave, open, ownLevel, transportLimits, type Writers } from "./transports.ts";

const groups = new WeakMap<NativeLogger, TransportGroup>();

/**
 * A logger with its children, which all write through its transports. winston has one level for all of them, in the
 * transports. So the transports are opened as far as the most verbose logger needs, and each logger's gate does the rest.
 */
export class TransportGroup implements GateGroup, Writers {
  readonly owner: LevelGate;
  levels: LevelSet;
  /** The number of observers of all gates. */
  observers = 0;
  #listeners: readonly CallListener[] = [];
  readonly #gates = new Set<LevelGate>();
  readonly #counts = new LevelCounts();
  /** The labels that the application set, by the level shown for them. Setting such a level again sets its label. */
  readonly #labels = new Map<Level, string>();
  #transports: ReadonlySet<NativeTransport> = new Set();
  /** The value of the most verbose level that a transport has of its own. */
  #eager = OFF_VALUE;
  /** The most verbose value that any transport writes. */
  #cap = Number.POSITIVE_INFINITY;

  constructor(logger: NativeLogger) {
    this.levels = levelSet(logger.levels);
    this.owner = new LevelGate(this, logger, true);
    this.remember(logger.level);
    groups.set(logger, this);
    this.owner.open();
    this.#gates.add(this.owner);
    this.#counts.add(this.owner.value);
    this.transportsChanged();
  }

  /** The most verbose value among the loggers. The transports must let it through. */
  get most(): number {
    return this.#counts.most;
  }

  has(logger: NativeLogger): boolean {
    return groupOf(logger) === this;
  }

  get listeners(): readonly CallListener[] {
    return this.#listeners;
  }

  setListeners(listeners: readonly CallListener[]): void {
    this.#listeners = listeners;
    for (const gate of this.#gates) gate.settleCounting();
  }

  labelFor(level: Level): string {
    return this.#labels.get(level) ?? this.levels.label(level);
  }

  remember(label: string): void {
    this.#labels.set(this.levels.level(this.levels.value(label)), label);
  }

  setLabel(gate: LevelGate, label: string): void {
    if (this.#gates.has(gate)) this.#counts.remove(gate.value);
    this.#gates.add(gate);
    gate.label = label;
    gate.value = this.levels.value(label);
    this.#counts.add(gate.value);
    this.#limit(gate);
    for (const transport of this.#transports) open(transport, this);
  }

  #forget(gate: LevelGate): void {
    if (!this.#gates.delete(gate)) return;
    this.#counts.remove(gate.value);
    for (const transport of this.#transports) open(transport, this);
  }

  readLevels(): void {
    const logger = this.owner.logger.deref();
    if (logger === undefined || logger.levels === this.levels.values) return;
    this.levels = levelSet(logger.levels);
    this.#labels.clear();
    this.#counts.clear();
    for (const gate of this.#gates) {
      gate.values = this.levels.values;
      gate.value = this.levels.value(gate.label);
      gate.coverLevelMethods();
      this.#counts.add(gate.value);
    }
  }

  /** Reads the transports again, and tells the observers of loggers whose reach has changed. */
  transportsChanged(): void {
    const logger = this.owner.logger.deref();
    if (logger === undefined) return;
    this.readLevels();
    const before = this.#transports;
    this.#transports = new Set(logger.transports);
    for (const transport of before) if (!this.#transports.has(transport)) leave(transport, this);
    for (const transport of this.#transports) {
      join(transport, this);
      open(transport, this);
    }
    this.limitsChanged();
  }

  /** Reads the levels again that the transports have of their own. */
  limitsChanged(): void {
    const own = [...this.#transports].map((transport) => {
      const label = ownLevel(transport);
      return label === undefined ? Number.POSITIVE_INFINITY : this.levels.value(label);
    });
    this.#eager = Math.max(OFF_VALUE, ...own.filter((value) => value !== Number.POSITIVE_INFINITY));
    this.#cap = own.length === 0 ? Number.POSITIVE_INFINITY : Math.max(...own);
    if (this.owner.logger.deref()?.silent === true) this.#cap = OFF_VALUE;
    for (const gate of [...this.#gates]) {
      const before = gate.written;
      this.#limit(gate);
      const logger = gate.logger.deref();
      if (before === gate.written || logger === undefined) continue;
      for (const observer of gate.observers) observer.reachChanged(logger);
    }
  }

  /** Warnings for the operator about what a level of these loggers cannot change. */
  limits(): readonly string[] {
    const limits = [...this.#transports].flatMap((transport) => transportLimits(transport, this));
    return this.owner.logger.deref()?.silent === true
      ? [...limits, "logger.silent is true: nothing is written at any level"]
      : limits;
  }

  /** Removes an observer of a gate. The last one of a child removes its gate; the last one of all restores the logger. */
  release(gate: LevelGate, observer: LevelGateObserver): void {
    if (!gate.observers.delete(observer)) return;
    this.observers--;
    if (gate.observers.size === 0 && !gate.isOwner) {
      gate.close();
      this.#forget(gate);
    }
    if (this.observers === 0) this.#dissolve();
  }

  /** Restores the logger and its transports. */
  #dissolve(): void {
    for (const gate of this.#gates) if (gate !== this.owner) gate.close();
    this.owner.close();
    const logger = this.owner.logger.deref();
    if (logger !== undefined) groups.delete(logger);
    for (const transport of this.#transports) leave(transport, this);
    this.#transports = new Set();
  }

  #limit(gate: LevelGate): void {
    const { value } = gate;
    // With the application's own level, a transport with a more verbose level of its own writes more than the logger has, as
    // in winston. A level that an operator set means what it says.
    const isApplications = value !== OFF_VALUE && this.#labels.get(this.levels.level(value)) === gate.label;
    gate.threshold = isApplications ? Math.max(value, this.#eager) : value;
    gate.written = Math.min(gate.threshold, this.#cap);
  }
}

/** The group that a logger belongs to; undefined if no adapter manages any of its loggers. */
export function groupOf(logger: NativeLogger): TransportGroup | undefined {
  return groups.get(owner(logger));
}

const collected = new FinalizationRegistry<{ readonly group: TransportGroup; readonly gate: LevelGate }>(
  ({ group, gate }) => {
    for (const observer of gate.observers) group.release(gate, observer);
  },
);

/** Observes the gate of a logger, which is made if it has none. End it with {@link releaseGate}. */
export function observeGate(logger: NativeLogger, observer: LevelGateObserver): LevelGate {
  const root = owner(logger);
  const group = groupOf(logger) ?? new TransportGroup(root);
  let gate = gateOf(logger);
  if (gate === undefined) {
    gate = new LevelGate(group, logger, false);
    collected.register(logger, { group, gate });
  }
  if (!gate.observers.has(observer)) group.observers++;
  gate.observers.add(observer);
  return gate;
}

/** Ends {@link observeGate}. The last observer of a group restores its logger and transports. */
export function releaseGate(logger: NativeLogger, observer: LevelGateObserver): void {
  const gate = gateOf(logger);
  if (gate !== undefined) groupOf(logger)?.release(gate, observer);
}
