/** How many seconds of the full rate can be used at once. */
const BURST_SECONDS = 2;

/** Limits a rate, with bursts of up to two seconds' worth. */
export class TokenBucket {
  readonly #perSecond: number;
  readonly #clock: () => number;
  #left: number;
  #at: number;

  constructor(perSecond: number, clock: () => number = () => performance.now()) {
    this.#perSecond = perSecond;
    this.#clock = clock;
    this.#left = perSecond * BURST_SECONDS;
    this.#at = clock();
  }

  /** Whether tokens are left. More than these can be spent at once; then they are missing until they are refilled. */
  get hasTokens(): boolean {
    const now = this.#clock();
    const most = this.#perSecond * BURST_SECONDS;
    this.#left = Math.min(most, this.#left + ((now - this.#at) * this.#perSecond) / 1_000);
    this.#at = now;
    return this.#left > 0;
  }

  spend(amount: number): void {
    this.#left -= amount;
  }
}

/** How many requests are read at the same time, by both protocols: each may take twice its largest size in memory. */
const MAX_REQUESTS = 32;

/**
 * Limits how many requests are read at the same time. Only requests of authenticated callers count, so that an anonymous client
 * cannot keep others out by sending incomplete requests.
 */
export class ConcurrencyLimit {
  #taken = 0;

  /** Enters until the returned function is called; undefined if the limit is reached. */
  enter(): (() => void) | undefined {
    if (this.#taken >= MAX_REQUESTS) return undefined;
    this.#taken++;
    let held = true;
    return () => {
      if (held) this.#taken--;
      held = false;
    };
  }
}
