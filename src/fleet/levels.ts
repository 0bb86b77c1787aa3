import { LONGEST_TIMER_MS } from "../common/timeout.ts";
import type { Lease, LeaseCause } from "../loggers/lease.ts";
import type { Loggers } from "../loggers/loggers.ts";
import { isAtOrBelow } from "../loggers/name.ts";
import type { Notice } from "../loggers/notice.ts";
import type { Override, Setting } from "../loggers/setting.ts";
import { byGeneration, type FleetEntry, type FleetState, isLease, keyOf } from "./entry.ts";
import { type Labels, matches } from "./selector.ts";
import { nextExpiry, wanted } from "./state.ts";

/** By how much a clock may be wrong before a level of this instance counts as later than one of the fleet. */
const CLOCK_MS = 1_000;
/** The most levels that a report names as failed, and as overruled. */
const MAX_REPORTED = 100;
/** The most names for which a report looks for the logger that was meant: it compares them letter by letter. */
const MAX_COMPARED = 10;

/** What did not take effect here, by the keys of entries. */
export interface LevelFaults {
  /** Why it could not be applied. What is kept for the empty key stands for all that are not named. */
  readonly failed: Readonly<Record<string, string>>;
  /** Who changed the level in this instance later; empty: the application itself, or it is not known. */
  readonly overruled: Readonly<Record<string, string>>;
  /** Of levels on names that no logger has here: the logger that was probably meant; empty: none is similar. */
  readonly unknown: Readonly<Record<string, string>>;
}

/** A level of the fleet as this instance has it. */
interface Applied {
  readonly entry: FleetEntry;
  /** Undefined: it is not in force here. */
  readonly lease: Lease | undefined;
  /** What was said of its name if no logger had it; undefined: one did. */
  readonly unknown: Notice | undefined;
}

const NOT_HELD = { lease: undefined, unknown: undefined };

/** The fleet's levels in the loggers of this instance: each one is a lease, so that what is beneath comes back when it ends. */
export class FleetLevels {
  readonly #loggers: Loggers;
  readonly #labels: Labels;
  readonly #now: () => number;
  readonly #onFaults: () => void;
  readonly #applied = new Map<string, Applied>();
  readonly #failed = new Map<string, { readonly generation: number; readonly reason: string }>();
  /** A level of the fleet that was overruled stays so until the name is restored; a later one takes effect again. */
  readonly #overruled = new Map<string, { readonly name: string; readonly generation: number; readonly by: string }>();
  /** The names of the loggers and groups that have a level of the fleet. */
  #reached: ReadonlySet<string> = new Set();
  /** When each entry was first known here, by the clock of this machine. */
  readonly #arrivals = new Map<string, { readonly generation: number; readonly time: number }>();
  /** What the traces of restored levels have done here. */
  readonly #restored = new Map<string, number>();
  readonly #stopListening: () => void;
  #expiry: NodeJS.Timeout | undefined;
  #known: FleetState | undefined;

  /**
   * @param now the engine's clock
   * @param onFaults called when {@link faults} may have changed
   */
  constructor(loggers: Loggers, labels: Labels, now: () => number, onFaults: () => void) {
    this.#loggers = loggers;
    this.#labels = labels;
    this.#now = now;
    this.#onFaults = onFaults;
    this.#stopListening = loggers.onChange(({ name }) => {
      // Another level may be above that of the fleet, or no longer.
      if (this.#reached.has(name)) onFaults();
    });
  }

  /** Makes the loggers follow what is known of the fleet. */
  apply(known: FleetState): void {
    this.#known = known;
    const now = this.#now();
    const inForce = wanted(known, this.#labels, now);
    for (const [name, { entry, lease }] of this.#applied) {
      if (inForce.has(name)) continue;
      this.#applied.delete(name);
      lease?.release("RELEASED", this.#causeOf(entry, known));
    }
    for (const entry of known.entries.values()) if (entry.restores) this.#restore(entry);
    for (const entry of [...inForce.values()].sort(byGeneration)) this.#hold(entry);
    this.#reached = new Set([...this.#applied.keys()].flatMap((name) => [name, ...this.#loggers.reach(name)]));
    this.#remember(known);
    const next = nextExpiry(known, now);
    this.#applyAfter(next === undefined ? undefined : next - now + 1);
  }

  /** What did not take effect here. */
  get faults(): LevelFaults {
    const overruled = new Map([...this.#overruled].map(([key, { by }]) => [key, by]));
    for (const { entry, lease } of this.#applied.values()) {
      if (lease === undefined || lease.end !== undefined) continue;
      const [overrider] = lease.overriders.filter((override) => override?.fleetGeneration === undefined).map(actorOf);
      if (overrider !== undefined) overruled.set(keyOf(entry), overrider);
    }
    const failed = new Map([...this.#failed].map(([key, { reason }]) => [key, reason]));
    const named = { failed: lastOf(failed), overruled: lastOf(overruled) };
    const unnamed = failed.size + overruled.size - named.failed.length - named.overruled.length;
    if (unnamed > 0)
      named.failed.push(["", `${unnamed} more levels than are named have failed or were overruled here`]);
    return {
      failed: Object.fromEntries(named.failed),
      overruled: Object.fromEntries(named.overruled),
      unknown: Object.fromEntries(lastOf(this.#unknown)),
    };
  }

  get #unknown(): ReadonlyMap<string, string> {
    const unknown = [...this.#applied.values()].filter(({ entry, unknown }) => {
      const found = unknown && this.#loggers.get(entry.name);
      return found?.type === "logger" && !found.exists;
    });
    const compared = unknown.length - MAX_COMPARED;
    return new Map(
      unknown
        .sort((one, other) => byGeneration(one.entry, other.entry))
        .map(({ entry, unknown }, at) => [keyOf(entry), (at >= compared && unknown?.nearest) || ""]),
    );
  }

  /** Ends the fleet's levels in this instance. */
  close(): void {
    clearTimeout(this.#expiry);
    this.#stopListening();
    const applied = [...this.#applied.values()];
    this.#applied.clear();
    for (const { lease } of applied) lease?.release();
  }

  #hold(entry: FleetEntry): void {
    const { name, generation } = entry;
    const before = this.#applied.get(name);
    if (before?.entry.generation === generation && before.entry.slot === entry.slot) return;
    this.#applied.set(name, { entry, ...this.#leaseFor(entry) });
    // Only then, so that the level beneath is never in force in between.
    before?.lease?.release();
  }

  #leaseFor(entry: FleetEntry): Omit<Applied, "entry"> {
    const { name, generation, level, expireTime } = entry;
    const key = keyOf(entry);
    if (this.#overruled.get(key)?.generation === generation) return NOT_HELD;
    // The end of a lease is put off again and again.
    const isHeld = isLease(entry);
    const author: Override = {
      ...this.#overrideFor(entry),
      expireTime: expireTime === undefined || isHeld ? undefined : this.#localTime(expireTime),
      ...(isHeld && { held: true }),
    };
    try {
      this.#checkReach(entry);
      const { lease, notices } = this.#loggers.holdDecided(name, level!, author, this.#isLater(entry));
      const fault = notices.find(({ code }) => code === "PARTLY_APPLIED");
      if (fault === undefined || lease.overriders.length > 0) this.#failed.delete(key);
      else this.#failed.set(key, { generation, reason: fault.message });
      if (lease.end === undefined) lease.onEnd(() => this.#ended(entry, lease));
      else this.#ended(entry, lease);
      return { lease, unknown: notices.find(({ code }) => code === "LOGGER_UNKNOWN") };
    } catch (error) {
      this.#failed.set(key, { generation, reason: (error as Error).message });
      return NOT_HELD;
    }
  }

  #ended(entry: FleetEntry, { end, overriders }: Lease): void {
    const { name, generation } = entry;
    if (end === "CLOSED") {
      // A library was detached, which ends what is held on the loggers of all of them.
      this.#applied.delete(name);
      this.#applyAfter(0);
    } else if (end === "OVERRULED") {
      const [by = this.#lastActor(name)] = overriders.filter((override) => override !== undefined).map(actorOf);
      this.#overruled.set(keyOf(entry), { name, generation, by });
      this.#onFaults();
    }
  }

  /** A group may have other members here than where the caller's permissions were checked. */
  #checkReach({ name, reach }: FleetEntry): void {
    if (reach === undefined) return;
    const isInReach = (each: string) => reach.some((prefix) => isAtOrBelow(each, prefix));
    if (this.#loggers.reach(name).every(isInReach)) return;
    throw new Error(`Its caller may not change all loggers that the group ${name} has here.`);
  }

  /** Why a level of the fleet is over, and who ended it. */
  #causeOf({ name, generation }: FleetEntry, { entries, reset }: FleetState): LeaseCause {
    const traces = [...entries.values()].filter((each) => {
      return each.name === name && each.slot === "lasting" && each.level === null && each.generation > generation;
    });
    const trace = traces
      .filter(({ selector }) => matches(selector, this.#labels))
      .sort(byGeneration)
      .at(-1);
    if (trace === undefined) return reset >= generation ? { kind: "CLEARED" } : {};
    return { kind: trace.restores ? "RESTORED" : "CLEARED", author: this.#overrideFor(trace) };
  }

  #overrideFor({ setTime, actor, reason, instance, generation }: FleetEntry): Override {
    return {
      ...{ setTime: this.#localTime(setTime), expireTime: undefined },
      ...{ actor, reason, instance, fleetGeneration: generation },
    };
  }

  /** Tells which settings of this instance are later than an entry. */
  #isLater(entry: FleetEntry): (setting: Setting) => boolean {
    const { generation } = entry;
    const setTime = this.#localTime(entry.setTime);
    const known = this.#arrivals.get(keyOf(entry));
    const arrival = known?.generation === generation ? known.time : Number.POSITIVE_INFINITY;
    return ({ override }) => {
      if (override === undefined || override.ofFile) return false;
      if (override.fleetGeneration !== undefined) return override.fleetGeneration > generation;
      return override.setTime >= arrival || override.setTime > setTime + CLOCK_MS;
    };
  }

  /** Ends what was set on this instance alone before the fleet's level was restored. */
  #restore(entry: FleetEntry): void {
    const { name, selector, generation, setTime, actor, reason } = entry;
    const key = keyOf(entry);
    if (!matches(selector, this.#labels) || generation <= (this.#restored.get(key) ?? -1)) return;
    this.#restored.set(key, generation);
    try {
      this.#checkReach(entry);
    } catch (error) {
      this.#failed.set(key, { generation, reason: (error as Error).message });
      return;
    }
    // A later level of the fleet on top is applied again after this.
    this.#applied.get(name)?.lease?.release();
    this.#applied.delete(name);
    for (const [overruled, { name: of }] of this.#overruled) if (of === name) this.#overruled.delete(overruled);
    for (const each of new Set([name, ...this.#loggers.reach(name)])) {
      const local = this.#overrideOn(each);
      if (local !== undefined && local.setTime <= this.#localTime(setTime))
        this.#loggers.restoreLevel(each, { actor, reason });
    }
  }

  /** Notes what has arrived, and drops what is known of entries that have been replaced. */
  #remember({ entries }: FleetState): void {
    const time = Date.now();
    for (const [key, { generation }] of entries) {
      if (this.#arrivals.get(key)?.generation !== generation) this.#arrivals.set(key, { generation, time });
    }
    for (const facts of [this.#failed, this.#overruled, this.#arrivals]) {
      for (const [key, { generation }] of facts) if (entries.get(key)?.generation !== generation) facts.delete(key);
    }
    for (const key of this.#restored.keys()) if (!entries.has(key)) this.#restored.delete(key);
  }

  #applyAfter(ms: number | undefined): void {
    clearTimeout(this.#expiry);
    if (ms === undefined) return;
    this.#expiry = setTimeout(() => this.apply(this.#known!), Math.min(ms, LONGEST_TIMER_MS)).unref();
  }

  #overrideOn(name: string): Override | undefined {
    return this.#loggers.get(name)?.override;
  }

  #lastActor(name: string): string {
    const [change] = this.#loggers.history({ name, limit: 1 });
    return change?.override?.actor ?? "";
  }

  /** A time of the engine's clock by the clock of this machine. */
  #localTime(time: number): number {
    return Math.round(time - this.#now() + Date.now());
  }
}

function lastOf(faults: ReadonlyMap<string, string>): [key: string, fault: string][] {
  return [...faults].slice(-MAX_REPORTED);
}

function actorOf(override: Override | undefined): string {
  return override?.actor ?? "";
}
