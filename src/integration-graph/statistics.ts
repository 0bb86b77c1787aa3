import type { TimerSnapshot } from "./snapshot.ts";

/**
 * Durations since the process began. A fixed set of numbers: recording allocates nothing.
 *
 * Times are readings of `performance.now()`, in milliseconds.
 */
export class Timer {
  #count = 0;
  #total = 0;
  #max = 0;
  #last = 0;

  record(start: number, end: number): void {
    const duration = end - start;
    this.#count++;
    this.#total += duration;
    if (duration > this.#max) this.#max = duration;
    this.#last = end;
  }

  /** When the last duration ended; 0 where none did. */
  get last(): number {
    return this.#last;
  }

  snapshot(): TimerSnapshot {
    return { count: this.#count, mean: this.#count === 0 ? 0 : this.#total / this.#count, max: this.#max };
  }
}

/** Events since the process began. */
export class Counter {
  #count = 0;
  #last = 0;

  record(at: number): void {
    this.#count++;
    this.#last = at;
  }

  get last(): number {
    return this.#last;
  }

  snapshot(): number {
    return this.#count;
  }
}

/** The times of messages that were sent to a channel or handled by an endpoint, by their outcome. */
export class SendTimers {
  readonly successes = new Timer();
  readonly failures = new Timer();
}

/** The number of messages that were taken from a channel or a source, by their outcome. */
export class ReceiveCounters {
  readonly successes = new Counter();
  readonly failures = new Counter();
}
