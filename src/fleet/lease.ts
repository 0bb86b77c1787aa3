import type { FleetMember } from "./member.ts";
import { type FleetState, keyOf, type NewEntry, type Slot } from "./state.ts";

/** How long a lease lasts that is not renewed. */
const LEASE_MS = 30_000;
const RENEWAL_MS = 10_000;

/** Why a lease of the fleet is over. */
export type FleetLeaseEnd =
  /** The caller released it, or finished the canary. */
  | "RELEASED"
  /** Its maximum time is over, or it could not be renewed in time. */
  | "EXPIRED"
  /** A later level of the fleet without an end replaced it. */
  | "OVERRULED";

/** A level of the fleet that lasts until it is released. It is renewed as long as this process lives. */
export class FleetLease {
  /** The generation of the change. */
  readonly generation: number;
  readonly #member: FleetMember;
  readonly #entry: NewEntry;
  readonly #deadline: number;
  readonly #listeners = new Set<(end: FleetLeaseEnd) => void>();
  #renewed = performance.now();
  #end: FleetLeaseEnd | undefined;
  #timer: NodeJS.Timeout | undefined;

  /**
   * @param entry as it was stored, with the end that {@link leaseEnd} gives
   * @param ttlMs how long it may last at most; undefined: until it is released
   */
  constructor(member: FleetMember, entry: NewEntry, generation: number, ttlMs: number | undefined) {
    this.#member = member;
    this.#entry = entry;
    this.generation = generation;
    this.#deadline = performance.now() + (ttlMs ?? Infinity);
    this.#wait();
  }

  /** The reason why it is over; undefined while it lasts. */
  get end(): FleetLeaseEnd | undefined {
    return this.#end;
  }

  /** Notices that it has ended by another hand. */
  follow({ entries }: FleetState): void {
    const entry = entries.get(keyOf(this.#entry));
    if (entry === undefined) this.#finish("OVERRULED");
    else if (entry.level === null) this.#finish("RELEASED");
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
   * Ends the level on all instances. Does nothing once it is over.
   *
   * @throws ActuatorError UNAVAILABLE if the engine does not answer. The level then ends 30 seconds after it was last renewed.
   */
  async release(end: FleetLeaseEnd = "RELEASED"): Promise<void> {
    if (this.#end !== undefined) return;
    this.#finish(end);
    await this.#member.change((_, now) => [{ ...this.#entry, level: null, expireTime: leaseEnd(now) }]);
  }

  #wait(): void {
    const left = this.#deadline - performance.now();
    this.#timer = setTimeout(() => void this.#renew(), Math.max(0, Math.min(RENEWAL_MS, left))).unref();
  }

  async #renew(): Promise<void> {
    const left = this.#deadline - performance.now();
    if (left <= 1) return void this.release("EXPIRED").catch(() => undefined);
    try {
      const outcome = await this.#member.renew(keyOf(this.#entry), Math.ceil(Math.min(LEASE_MS, left)));
      if (outcome !== "renewed") return this.#finish(outcome === "expired" ? "EXPIRED" : "OVERRULED");
      this.#renewed = performance.now();
    } catch {
      // All instances have dropped it by then.
      if (performance.now() - this.#renewed > LEASE_MS) return this.#finish("EXPIRED");
    }
    if (this.#end === undefined) this.#wait();
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

/** When a lease ends that is not renewed. */
export function leaseEnd(now: number, ttlMs?: number | undefined): number {
  return Math.floor(now) + Math.ceil(Math.min(LEASE_MS, ttlMs ?? Infinity));
}
