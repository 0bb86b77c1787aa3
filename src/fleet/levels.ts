import { LONGEST_TIMER_MS } from "../common/timeout.ts";
import type { Lease } from "../loggers/lease.ts";
import type { Loggers } from "../loggers/loggers.ts";
import type { Override } from "../loggers/setting.ts";
import { type Labels, matches } from "./selector.ts";
import { type FleetEntry, type FleetState, isLease, keyOf, nextExpiry, wanted } from "./state.ts";

/** By how much a clock may be wrong before a level of this instance counts as later than one of the fleet. */
const CLOCK_MS = 1_000;
/** The most levels that a report names as failed, and as overruled. */
const MAX_REPORTED = 100;

/** What did not take effect here, by the keys of entries. */
export interface LevelFaults {
  /** Why it could not be applied. */
  readonly failed: Readonly<Record<string, string>>;
  /** Who changed the level in this instance later; empty: the application itself, or it is not known. */
  readonly overruled: Readonly<Record<string, string>>;
}

/** A level of the fleet as this instance has it. */
interface Applied {
  readonly entry: FleetEntry;
  /** Undefined: it is not in force here. */
  readonly lease: Lease | undefined;
}

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
  /** The latest generation of each name that was applied here. */
  readonly #latest = new Map<string, number>();
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
    this.#stopListening = loggers.onChange(({ name, override }) => {
      // Another level above that of the fleet, or no longer.
      if (this.#applied.has(name) && !override?.ofFleet) onFaults();
    });
  }

  /** Makes the loggers follow what is known of the fleet. */
  apply(known: FleetState): void {
    this.#known = known;
    const now = this.#now();
    const inForce = wanted(known, this.#labels, now);
    for (const [name, { lease }] of this.#applied) {
      if (inForce.has(name)) continue;
      this.#applied.delete(name);
      lease?.release();
    }
    for (const entry of known.entries.values()) if (entry.restores) this.#restore(entry);
    for (const entry of inForce.values()) this.#hold(entry);
    this.#forget(known);
    clearTimeout(this.#expiry);
    const next = nextExpiry(known, now);
    if (next === undefined) return;
    this.#expiry = setTimeout(() => this.apply(this.#known!), Math.min(next - now + 1, LONGEST_TIMER_MS)).unref();
  }

  /** What did not take effect here. */
  get faults(): LevelFaults {
    const overruled = new Map([...this.#overruled].map(([key, { by }]) => [key, by]));
    for (const { entry, lease } of this.#applied.values()) {
      if (lease?.end === undefined && lease?.covered)
        overruled.set(keyOf(entry), this.#overrideOn(entry.name)?.actor ?? "");
    }
    const failed = [...this.#failed].map(([key, { reason }]): [string, string] => [key, reason]);
    return {
      failed: Object.fromEntries(failed.slice(-MAX_REPORTED)),
      overruled: Object.fromEntries([...overruled].slice(-MAX_REPORTED)),
    };
  }

  /** Ends the fleet's levels in this instance. */
  close(): void {
    clearTimeout(this.#expiry);
    this.#stopListening();
    for (const { lease } of this.#applied.values()) lease?.release();
    this.#applied.clear();
  }

  #hold(entry: FleetEntry): void {
    const { name, generation } = entry;
    const before = this.#applied.get(name);
    if (before?.entry.generation === generation && before.entry.slot === entry.slot) return;
    this.#applied.set(name, { entry, lease: this.#leaseFor(entry) });
    this.#latest.set(name, Math.max(generation, this.#latest.get(name) ?? 0));
    // Only then, so that the level beneath is never in force in between.
    before?.lease?.release();
  }

  #leaseFor(entry: FleetEntry): Lease | undefined {
    const { name, generation, level, actor, reason, instance, expireTime } = entry;
    const key = keyOf(entry);
    if (this.#overruled.get(key)?.generation === generation) return undefined;
    const beneath = this.#overrideOn(name);
    const isLater =
      beneath !== undefined &&
      !beneath.ofFleet &&
      !beneath.ofFile &&
      beneath.setTime > this.#localTime(entry.setTime) + CLOCK_MS;
    const isTemporary = beneath?.expireTime !== undefined || beneath?.held;
    if (isLater && !isTemporary) {
      this.#overruled.set(key, { name, generation, by: beneath.actor });
      return undefined;
    }
    // A level that comes back must not cover what was set on this instance alone in the meantime.
    const comesBack = generation <= (this.#latest.get(name) ?? -1);
    // The end of a lease is put off again and again.
    const isHeld = isLease(entry);
    const author: Override = {
      setTime: this.#localTime(entry.setTime),
      expireTime: expireTime === undefined || isHeld ? undefined : this.#localTime(expireTime),
      ...{ actor, reason, instance, ofFleet: true },
      ...(isHeld && { held: true }),
    };
    try {
      const isBeneath = !beneath?.ofFleet && !beneath?.ofFile && (comesBack || isLater);
      const { lease } = this.#loggers.holdDecided(name, level!, author, isBeneath);
      this.#failed.delete(key);
      lease.onEnd(() => {
        if (lease.end !== "OVERRULED") return;
        this.#overruled.set(key, { name, generation, by: this.#lastActor(name) });
        this.#onFaults();
      });
      return lease;
    } catch (error) {
      this.#failed.set(key, { generation, reason: (error as Error).message });
      return undefined;
    }
  }

  /** Ends what was set on this instance alone before the fleet's level was restored. */
  #restore(entry: FleetEntry): void {
    const { name, selector, generation, setTime, actor, reason } = entry;
    const key = keyOf(entry);
    if (!matches(selector, this.#labels) || generation <= (this.#restored.get(key) ?? -1)) return;
    this.#restored.set(key, generation);
    // A later level of the fleet on top is applied again after this.
    this.#applied.get(name)?.lease?.release();
    this.#applied.delete(name);
    for (const [overruled, { name: of }] of this.#overruled) if (of === name) this.#overruled.delete(overruled);
    const local = this.#overrideOn(name);
    if (local !== undefined && local.setTime <= this.#localTime(setTime))
      this.#loggers.restoreLevel(name, { actor, reason });
  }

  /** Drops what is known of entries that have been replaced. */
  #forget(known: FleetState): void {
    for (const faults of [this.#failed, this.#overruled]) {
      for (const [key, { generation }] of faults) {
        if (known.entries.get(key)?.generation !== generation) faults.delete(key);
      }
    }
    for (const key of this.#restored.keys()) if (!known.entries.has(key)) this.#restored.delete(key);
    for (const name of this.#latest.keys()) if (!this.#applied.has(name)) this.#latest.delete(name);
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
