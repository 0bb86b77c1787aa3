import type { Holder, TemporarySetting } from "./setting.ts";
import type { LevelOutcome } from "./view.ts";

/** Why a lease is over. */
export type LeaseEnd =
  /** Whoever held it let go. */
  | "RELEASED"
  /** Its time is over. */
  | "EXPIRED"
  /** Somebody, or the application itself, configured everything that it held for good. */
  | "OVERRULED"
  /** The loggers are no longer managed. */
  | "CLOSED";

/**
 * A level that somebody holds: a temporary one whose end is that of an interest and not, or not only, a time.
 *
 * Of several temporary levels on one logger, held or for a time, the latest is in force. When it ends, the latest of those
 * that still last comes back, and after the last of them what was there before the first. A level configured for good ends
 * them all. The lease of a group holds the group and each of its members, and is over when none is left.
 */
export class Lease implements Holder {
  readonly #deadline: number | undefined;
  readonly #lift: (held: TemporarySetting) => void;
  readonly #held = new Set<TemporarySetting>();
  readonly #listeners = new Set<() => void>();
  #end: LeaseEnd | undefined;

  /** `lift` ends one temporary level; `ttl` in milliseconds. */
  constructor(ttl: number | undefined, lift: (held: TemporarySetting) => void) {
    this.#deadline = ttl === undefined ? undefined : performance.now() + ttl;
    this.#lift = lift;
  }

  /** Why it is over; undefined while it lasts. */
  get end(): LeaseEnd | undefined {
    return this.#end;
  }

  /** Milliseconds until it ends by itself; undefined where no time ends it. */
  get timeLeft(): number | undefined {
    return this.#deadline === undefined ? undefined : Math.max(0, this.#deadline - performance.now());
  }

  /** Whether a later temporary level lies over one that this holds. */
  get covered(): boolean {
    for (const held of this.#held) if (held.on.temporary?.at(-1) !== held) return true;
    return false;
  }

  /** How many loggers and groups it holds. */
  get size(): number {
    return this.#held.size;
  }

  /** Calls `listener` once when the lease is over, unless the returned function is called before. */
  onEnd(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Gives back every level that it still holds. Does nothing once it is over. */
  release(end: LeaseEnd = "RELEASED"): void {
    if (this.#end !== undefined) return;
    for (const held of this.#held) this.#lift(held);
    this.#held.clear();
    this.#finish(end);
  }

  add(held: TemporarySetting): void {
    this.#held.add(held);
  }

  lost(held: TemporarySetting, end: "EXPIRED" | "OVERRULED"): void {
    if (this.#held.delete(held) && this.#held.size === 0) this.#finish(end);
  }

  #finish(end: LeaseEnd): void {
    if (this.#end !== undefined) return;
    this.#end = end;
    for (const listener of this.#listeners) listener();
    this.#listeners.clear();
  }
}

/** A level that is held now, and what that led to. */
export interface HoldOutcome extends LevelOutcome {
  readonly lease: Lease;
}
