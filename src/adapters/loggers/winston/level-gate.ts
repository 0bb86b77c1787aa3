import type { Level } from "../../../loggers/level.ts";
import { CallCounting, type CallListener, type CountedLogger } from "./call-counting.ts";
import { type LevelSet, OFF_VALUE } from "./level-set.ts";
import { type GatedLogger, MethodOverrides } from "./method-overrides.ts";
import type { NativeLevels, NativeLogger } from "./native.ts";

/** What an adapter that manages a logger learns from its gate. */
export interface LevelGateObserver {
  /** A level was set on the logger, by the application or an adapter. */
  levelSet(logger: NativeLogger, level: Level): void;
  /** The transports have changed, so that the logger's level now lets through something else. */
  reachChanged(logger: NativeLogger): void;
}

/** What a gate needs of the logger with its children that it belongs to. */
export interface GateGroup {
  readonly levels: LevelSet;
  /** The listeners to the calls of all loggers of the group. */
  readonly listeners: readonly CallListener[];
  /** The gate of the logger that has the transports. */
  readonly owner: LevelGate;
  labelFor(level: Level): string;
  setLabel(gate: LevelGate, label: string): void;
  /** Notes a label that the application set. */
  remember(label: string): void;
  /** Reads the level set again: `logger.configure()` may have brought another. */
  readLevels(): void;
}

const gates = new WeakMap<NativeLogger, LevelGate>();

/** The gate of a logger; undefined if no adapter manages it. */
export function gateOf(logger: NativeLogger): LevelGate | undefined {
  return gates.get(logger);
}

/** The level of one logger, checked before its methods. A child has one of its own once a level is set on it. */
export class LevelGate implements GatedLogger, CountedLogger {
  readonly group: GateGroup;
  readonly logger: WeakRef<NativeLogger>;
  /** Whether this is the logger that has the transports, rather than a child of it. */
  readonly isOwner: boolean;
  readonly observers = new Set<LevelGateObserver>();
  label: string;
  /** The label that the application last set; undefined for a child on which it set none. */
  native: string | undefined;
  /** The value of the label; {@link OFF_VALUE} for a word that is not a level. */
  value: number;
  threshold = OFF_VALUE;
  written = OFF_VALUE;
  values: NativeLevels;
  #overrides: MethodOverrides | undefined;
  /** Set while the calls are counted. */
  #counting: CallCounting | undefined;

  constructor(group: GateGroup, logger: NativeLogger, isOwner: boolean) {
    this.group = group;
    this.logger = new WeakRef(logger);
    this.isOwner = isOwner;
    this.label = logger.level;
    if (isOwner || Object.hasOwn(logger, "level")) this.native = logger.level;
    this.values = group.levels.values;
    this.value = group.levels.value(this.label);
    gates.set(logger, this);
  }

  /** False for a child that still has the level of the logger above it. */
  get isOwn(): boolean {
    return this.#overrides !== undefined;
  }

  /** The level that is really written. */
  get effective(): Level {
    const gate = this.isOwn ? this : this.#leader;
    return this.group.levels.level(gate.written);
  }

  /** Sets the logger's level. */
  apply(level: Level): void {
    const label = this.group.labelFor(level);
    if (!this.isOwn || label !== this.label) this.#set(label);
  }

  /** Gives the logger back the level that the application last set; a child then has that of the logger above it. */
  restore(): void {
    if (this.isOwner || this.native !== undefined) {
      if (this.native !== this.label) this.#set(this.native!);
    } else if (this.isOwn) {
      const gate = this.#leader;
      if (gate.label !== this.label) this.#set(gate.label);
    }
  }

  /** The gate whose level a child has that was not given its own. */
  get #leader(): LevelGate {
    for (let at = this.logger.deref(); at != null; at = Object.getPrototypeOf(at) as NativeLogger | undefined) {
      const gate = gates.get(at);
      if (gate !== undefined && gate !== this && gate.isOwn) return gate;
    }
    return this.group.owner;
  }

  get root(): WeakRef<NativeLogger> {
    return this.group.owner.logger;
  }

  setByApplication(on: NativeLogger, label: string): void {
    const gate = gates.get(on);
    if (gate !== undefined) {
      gate.group.readLevels();
      gate.group.remember(label);
      gate.native = label;
      gate.#set(label);
    } else {
      // On a child that is not managed the level is just a property, as it is for winston.
      Object.defineProperty(on, "level", { value: label, writable: true, enumerable: true, configurable: true });
    }
  }

  /** Overrides the logger's methods. */
  open(): void {
    if (this.#overrides !== undefined || this.logger.deref() === undefined) return;
    this.#overrides = new MethodOverrides(this);
    this.settleCounting();
  }

  /** Puts the original methods back. The logger keeps its level, as far as winston has one for it. */
  close(): void {
    this.#counting?.end();
    this.#counting = undefined;
    this.#overrides?.remove();
    this.#overrides = undefined;
    const logger = this.logger.deref();
    if (logger !== undefined) gates.delete(logger);
  }

  /** Overrides the methods of levels that the logger has got since. */
  coverLevelMethods(): void {
    this.#overrides?.coverLevelMethods();
    this.settleCounting();
  }

  /** Starts or stops counting calls, according to whether the group has listeners. */
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
