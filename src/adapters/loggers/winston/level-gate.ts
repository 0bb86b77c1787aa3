import type { Level } from "../../../loggers/level.ts";
import type { NativeLogger } from "./native.ts";

/** Under this key a logger has its gate. Children inherit it, so that one without a gate has that of the logger above it. */
const GATE = Symbol("connect-actuator.gate");

/** The level that an operator set for the loggers of a gate, if any. */
export interface GateState {
  /** Whether the gate above decides, because nothing was set or restored here. */
  isFollowing: boolean;
  /** The level; undefined if winston decides. */
  level: Level | undefined;
  label: string;
  /** The most verbose value that is let through. */
  threshold: number;
  /** What set the level. */
  setBy: object | undefined;
}

/** A logger with its children, to which gates belong. */
export interface GateGroup {
  /** The states of the gates on which an operator set a level. */
  readonly active: Set<GateState>;
}

/** A gate that the garbage collector took, with its last logger. */
interface CollectedGate {
  readonly state: GateState;
  readonly active: Set<GateState>;
  readonly below: Map<string, WeakRef<object>>;
  readonly name: string;
  readonly reference: WeakRef<object>;
}

const collected = new FinalizationRegistry<CollectedGate>(({ state, active, below, name, reference }) => {
  active.delete(state);
  if (below.get(name) === reference) below.delete(name);
});

/**
 * The level of a logger, or of all children of one name below the same gate. The children hold their gate and nothing else does,
 * so it costs a request that makes a child next to nothing, and goes with the last of them.
 */
export class LevelGate<Group extends GateGroup> {
  readonly group: Group;
  /** The gate of the nearest logger above that has another one. */
  readonly above: LevelGate<Group> | undefined;
  readonly state: GateState = { isFollowing: true, level: undefined, label: "", threshold: 0, setBy: undefined };
  #below: Map<string, WeakRef<LevelGate<Group>>> | undefined;

  constructor(group: Group, above?: LevelGate<Group>) {
    this.group = group;
    this.above = above;
  }

  /** The level that an operator set and that applies here; undefined if winston decides. */
  get deciding(): GateState | undefined {
    let gate: LevelGate<Group> = this;
    while (gate.state.isFollowing) {
      if (gate.above === undefined) return undefined;
      gate = gate.above;
    }
    return gate.state.level === undefined ? undefined : gate.state;
  }

  /** The gate of the children with this name. */
  named(name: string): LevelGate<Group> {
    const below = (this.#below ??= new Map());
    const known = below.get(name)?.deref();
    if (known !== undefined) return known;
    const gate = new LevelGate(this.group, this);
    const reference = new WeakRef(gate);
    below.set(name, reference);
    collected.register(gate, { state: gate.state, active: this.group.active, below, name, reference });
    return gate;
  }

  /** Forgets what was set and restored, here and on all gates below. */
  reset(): void {
    this.state.isFollowing = true;
    this.state.level = undefined;
    for (const reference of this.#below?.values() ?? []) reference.deref()?.reset();
  }

  /** Makes this the gate of a logger. */
  place(logger: NativeLogger): void {
    Object.defineProperty(logger, GATE, { value: this, configurable: true });
  }
}

/** The gate that a logger has or inherits; undefined if no adapter manages it. */
export function gateOf<Group extends GateGroup>(logger: NativeLogger): LevelGate<Group> | undefined {
  return (logger as { readonly [GATE]?: LevelGate<Group> })[GATE];
}

export function removeGate(logger: NativeLogger): void {
  Reflect.deleteProperty(logger, GATE);
}
