import type { Level } from "../../../loggers/level.ts";
import { CallCounting, type CallListener, type Counted } from "./counting.ts";
import { type LevelSet, OFF_VALUE } from "./level-set.ts";
import { type Gated, type MethodOverrides, overrideMethods } from "./method-overrides.ts";
import type { NativeLevels, NativeLogger } from "./native.ts";

/** What is told to each adapter that holds a logger. */
export interface LevelGateObserver {
  /** A level was set on the logger, by whomever. */
  levelSet(logger: NativeLogger, level: Level): void;
  /** What is written at the level that the logger has is no longer the same: its transports have changed. */
  reachChanged(logger: NativeLogger): void;
}

/** A logger with its children, as the gate of one of them knows them. */
export interface GateGroup {
  readonly levels: LevelSet;
  /** Who hears of the calls of the loggers. */
  readonly listeners: readonly CallListener[];
  /** The gate of the logger that is no child. */
  readonly owner: LevelGate;
  labelFor(level: Level): string;
  setLabel(gate: LevelGate, label: string): void;
  /** The application has chosen this label. */
  remember(label: string): void;
  /** Reads the levels again: `logger.configure()` may have brought others. */
  readLevels(): void;
}

const gates = new WeakMap<NativeLogger, LevelGate>();

export function gateOf(logger: NativeLogger): LevelGate | undefined {
  return gates.get(logger);
}

/** The level of one logger: it stands before the logger's methods. A child has one of its own once a level is set on it. */
export class LevelGate implements Gated, Counted {
  readonly group: GateGroup;
  readonly logger: WeakRef<NativeLogger>;
  /** Whether this is the logger that owns the transports, and no child of it. */
  readonly isOwner: boolean;
  readonly observers = new Set<LevelGateObserver>();
  label: string;
  /** The value of the label; {@link OFF_VALUE} for a word that is no level. */
  value: number;
  threshold = OFF_VALUE;
  written = OFF_VALUE;
  values: NativeLevels;
  #overrides: MethodOverrides | undefined;
  /** There while somebody listens to the calls. */
  #counting: CallCounting | undefined;

  constructor(group: GateGroup, logger: NativeLogger, isOwner: boolean) {
    this.group = group;
    this.logger = new WeakRef(logger);
    this.isOwner = isOwner;
    this.label = logger.level;
    this.values = group.levels.values;
    this.value = group.levels.value(this.label);
    gates.set(logger, this);
  }

  /** False for a child whose level is still that of the logger above it. */
  get isOwn(): boolean {
    return this.#overrides !== undefined;
  }

  /** Makes `level` the level of the logger, and returns what is then really written. */
  apply(level: Level): Level {
    const label = this.group.labelFor(level);
    if (!this.isOwn || label !== this.label) this.#set(label);
    return this.group.levels.level(this.written);
  }

  get root(): WeakRef<NativeLogger> {
    return this.group.owner.logger;
  }

  setByApplication(on: NativeLogger, label: string): void {
    const gate = gates.get(on);
    if (gate !== undefined) {
      gate.group.readLevels();
      gate.group.remember(label);
      gate.#set(label);
    } else {
      // A child that nobody holds: to winston, too, such a level is but a property.
      Object.defineProperty(on, "level", { value: label, writable: true, enumerable: true, configurable: true });
    }
  }

  /** Puts the gate before the logger's methods. */
  open(): void {
    if (this.#overrides !== undefined || this.logger.deref() === undefined) return;
    this.#overrides = overrideMethods(this);
    this.settleCounting();
  }

  /** Takes the gate away; the logger keeps its level, as far as winston knows one for it. */
  close(): void {
    this.#counting?.end();
    this.#counting = undefined;
    this.#overrides?.remove();
    this.#overrides = undefined;
    const logger = this.logger.deref();
    if (logger !== undefined) gates.delete(logger);
  }

  coverLevelMethods(): void {
    this.#overrides?.coverLevelMethods();
    this.settleCounting();
  }

  /** Counts calls as long as somebody listens to those of the group. */
  settleCounting(): void {
    if (this.#overrides !== undefined && this.group.listeners.length > 0) {
      this.#counting ??= new CallCounting(this);
      this.#counting.cover(this.#overrides.covered);
    } else {
      this.#counting?.end();
      this.#counting = undefined;
    }
  }

  #set(label: string): void {
    this.open();
    this.group.setLabel(this, label);
    const logger = this.logger.deref();
    if (logger === undefined) return;
    for (const observer of this.observers) observer.levelSet(logger, this.group.levels.level(this.value));
  }
}
