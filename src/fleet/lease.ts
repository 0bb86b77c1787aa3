import { type FleetState, keyOf, type NewEntry, type Slot } from "./entry.ts";
import type { FleetMember } from "./member.ts";

/** How long a lease lasts that is not renewed. */
const LEASE_MS = 30_000;
const RENEWAL_MS = 10_000;
/** After a renewal that failed. */
const RETRY_MS = 1_000;

/** Why a lease of the fleet is over. */
export type FleetLeaseEnd =
  /** The caller released it, or finished the canary. */
  | "RELEASED"
  /** Its maximum time is over, or it could not be renewed in time. */
  | "EXPIRED"
  /** A later level of the fleet without an end replaced it. */
  | "OVERRULED";

/** Levels of the fleet, set in one change, that last until they are released. They are renewed as long as this process lives. */
export class FleetLease {
  /** The generation of the change. */
  readonly generation: number;
  readonly #member: FleetMember;
  readonly #entries: readonly NewEntry[];
  readonly #deadline: number;
  readonly #listeners = new Set<(end: FleetLeaseEnd) => void>();
  #renewed = performance.now();
  #end: FleetLeaseEnd | undefined;
  #timer: NodeJS.Timeout | undefined;

  /**
   * @param entries as they were stored, with the end that {@link leaseEnd} gives
   * @param ttlMs how long it may last at most; undefined: until it is released
   */
  constructor(member: FleetMember, entries: readonly NewEntry[], generation: number, ttlMs: number | undefined) {
    this.#member = member;
    this.#entries = entries;
    this.generation = generation;
    this.#deadline = performance.now() + (ttlMs ?? Infinity);
    this.#wait(RENEWAL_MS);
  }

  /** The reason why it is over; undefined while it lasts. */
  get end(): FleetLeaseEnd | undefined {
    return this.#end;
  }

  /** Ends this lease if the fleet has none of its levels any longer. */
  follow({ entries }: FleetState): void {
    const found = this.#entries.flatMap((entry) => entries.get(keyOf(entry)) ?? []);
    if (found.length === 0) this.#finish("OVERRULED");
    else if (found.every(({ level }) => level === null)) this.#finish("RELEASED");
  }

  /** Milliseconds until it ends by itself; undefined if it has no maximum time. */
  get timeLeft(): number | undefined {
    return this.#deadline === Infinity ? undefined : Math.max(0, this.#deadline - performance.now());
  }

  /** Calls `listener` once when the lease is over. Returns a function that removes the listener. */
  onEnd(listener: (end: FleetLeaseEnd) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /**
   * Ends the levels on all instances. Does nothing once it is over.
   *
   * @throws ActuatorError UNAVAILABLE if the engine does not answer. The levels then end 30 seconds after they were last renewed.
   */
  async release(end: FleetLeaseEnd = "RELEASED"): Promise<void> {
    if (this.#end !== undefined) return;
    this.#finish(end);
    await this.#member.change((_, now) => {
      return { entries: this.#entries.map((entry) => ({ ...entry, level: null, expireTime: leaseEnd(now) })) };
    });
  }

  #wait(ms: number): void {
    const left = this.#deadline - performance.now();
    this.#timer = setTimeout(() => void this.#renew(), Math.max(0, Math.min(ms, left))).unref();
  }

  async #renew(): Promise<void> {
    const left = this.#deadline - performance.now();
    if (left <= 1) return void this.release("EXPIRED").catch(() => undefined);
    let isRenewed = false;
    try {
      const ttlMs = Math.ceil(Math.min(LEASE_MS, left));
      const outcome = await this.#member.renew(this.#entries.map(keyOf), ttlMs);
      if (outcome !== "renewed") return this.#finish(outcome === "expired" ? "EXPIRED" : "OVERRULED");
      this.#renewed = performance.now();
      isRenewed = true;
    } catch {
      // All instances have dropped it by then.
      if (performance.now() - this.#renewed > LEASE_MS) return this.#finish("EXPIRED");
    }
    if (this.#end === undefined) this.#wait(isRenewed ? RENEWAL_MS : RETRY_MS);
  }

  #finish(end: FleetLeaseEnd): void {
    if (this.#end !== undefined) return;
    this.#end = end;
    clearTimeout(this.#timer);
    for (const listener of this.#listeners) listener(end);
    this.#listeners.clear();
  }
}

/** Where the level of a lease is kept. */
export function leaseSlot(id: string): Slot {
  return `lease:${id}`;
}

/** The id that {@link leaseSlot} was given. */
export function leaseIdOf(slot: Slot): string {
  return slot.slice(slot.indexOf(":") + 1);
}

/** When a lease ends that is not renewed. */
export function leaseEnd(now: number, ttlMs?: number | undefined): number {
  return Math.floor(now) + Math.ceil(Math.min(LEASE_MS, ttlMs ?? Infinity));
}
