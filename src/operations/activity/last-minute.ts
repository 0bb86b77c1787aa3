const MINUTE_MS = 60_000;

/** A counter over the last minute. Times are readings of `performance.now()`, in milliseconds. */
export class LastMinute {
  /** The counter at some times, oldest first: one of them a minute ago or earlier, the others later. */
  readonly #readings: { readonly at: number; readonly count: number }[];

  /** Before the first reading the counter is taken to have grown by `rate` a second. */
  constructor(at: number, count: number, rate: number) {
    this.#readings = [{ at, count }];
    for (let back = MINUTE_MS; back > 0; back -= MINUTE_MS / 12) {
      this.#readings.splice(-1, 0, { at: at - back, count: Math.max(0, count - (rate * back) / 1_000) });
    }
  }

  /** Adds a reading, and returns by how much the counter has grown within the last minute. */
  add(at: number, count: number): number {
    this.#readings.push({ at, count });
    while (this.#readings[1]!.at <= at - MINUTE_MS) this.#readings.shift();
    return Math.max(0, count - this.#readings[0]!.count);
  }
}
