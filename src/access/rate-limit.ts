import { ActuatorError } from "../common/error.ts";

/** The number of keys in one generation; at most twice as many are remembered. */
const GENERATION = 10_000;

/** A key that goes on after its limit has to wait for this many minutes at most. */
export const MAX_DEBT_MINUTES = 5;

interface Bucket {
  readonly level: number;
  readonly time: number;
}

/**
 * A token bucket for each key. It holds one minute's worth of tokens and refills evenly. {@link count} may overdraw it, so that many
 * simultaneous events cost as much as successive ones.
 */
export class RateLimit {
  readonly #perMinute: number;
  // Two generations instead of an order by age: finding the oldest entry of a Map gets slower with every deleted one.
  #young = new Map<string, Bucket>();
  #old: ReadonlyMap<string, Bucket> = new Map();

  constructor(perMinute: number) {
    this.#perMinute = perMinute;
  }

  /** The number of keys that are remembered. */
  get size(): number {
    return this.#young.size + this.#old.size;
  }

  /** Seconds until the key has a token again; 0 if it has one now. */
  waitSeconds(key: string): number {
    const missing = 1 - this.#levelOf(key);
    return missing <= 0 ? 0 : Math.ceil((missing * 60) / this.#perMinute);
  }

  /** Takes a token of the key, even if none is left. */
  count(key: string): void {
    const level = Math.max(this.#levelOf(key) - 1, -MAX_DEBT_MINUTES * this.#perMinute);
    this.#young.set(key, { level, time: performance.now() });
    if (this.#young.size < GENERATION) return;
    this.#old = this.#young;
    this.#young = new Map();
  }

  #levelOf(key: string): number {
    const bucket = this.#young.get(key) ?? this.#old.get(key);
    if (bucket === undefined) return this.#perMinute;
    const refill = ((performance.now() - bucket.time) * this.#perMinute) / 60_000;
    return Math.min(this.#perMinute, bucket.level + refill);
  }
}

/** The error for a caller that exceeded a rate limit; `what` names the events. */
export function tooMany(what: string, retryAfterSeconds: number): ActuatorError {
  const message = `Too many ${what}. Try again in ${retryAfterSeconds} s.`;
  const metadata = { retryAfterSeconds: String(retryAfterSeconds) };
  return new ActuatorError("RESOURCE_EXHAUSTED", "TOO_MANY_REQUESTS", message, metadata);
}
