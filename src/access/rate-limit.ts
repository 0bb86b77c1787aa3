import { ActuatorError } from "../common/error.ts";

/** How many other keys may come before one is forgotten; twice as many are remembered at most. */
const GENERATION = 10_000;

/** For how many minutes at most somebody who went on and on has to be silent. */
export const MAX_DEBT_MINUTES = 5;

interface Bucket {
  readonly level: number;
  readonly time: number;
}

/**
 * So many a minute for each key: a bucket that holds a minute's worth and fills again evenly. It may be overdrawn by what
 * is counted only after it happened, so that many at once pay for it as much as one after the other.
 */
export class RateLimit {
  readonly #perMinute: number;
  // Two generations instead of an order by age: to look for the oldest of a Map takes longer the more were deleted.
  #young = new Map<string, Bucket>();
  #old: ReadonlyMap<string, Bucket> = new Map();

  constructor(perMinute: number) {
    this.#perMinute = perMinute;
  }

  /** How many keys are remembered. */
  get size(): number {
    return this.#young.size + this.#old.size;
  }

  /** Seconds until there is one more for the key; 0 where there is. */
  waitSeconds(key: string): number {
    const missing = 1 - this.#levelOf(key);
    return missing <= 0 ? 0 : Math.ceil((missing * 60) / this.#perMinute);
  }

  /** Counts one, whether or not there is one left. */
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

/** What somebody is told who has to wait; `what` has been too much. */
export function tooMany(what: string, retryAfterSeconds: number): ActuatorError {
  const message = `Too many ${what}. Try again in ${retryAfterSeconds} s.`;
  const metadata = { retryAfterSeconds: String(retryAfterSeconds) };
  return new ActuatorError("RESOURCE_EXHAUSTED", "TOO_MANY_REQUESTS", message, metadata);
}
