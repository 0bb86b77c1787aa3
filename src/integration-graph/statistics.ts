import { Rate } from "./rate.ts";
import type { TimerSnapshot } from "./snapshot.ts";

/**
 * Durations since the process began, the longest included: it is no maximum of a time window. A fixed set of numbers:
 * recording allocates nothing.
 *
 * Times are readings of `performance.now()`, in milliseconds.
 */
export class Timer {
  #count = 0;
  #total = 0;
  #max = 0;
  readonly #rate = new Rate();

  /** `count` messages went together: each of them took that long. */
  record(start: number, end: number, count = 1): void {
    const duration = end - start;
    this.#count += count;
    this.#total += duration * count;
    if (duration > this.#max) this.#max = duration;
    this.#rate.record(end, count);
  }

  get count(): number {
    return this.#count;
  }

  /** When the last duration ended; 0 where none did. */
  get last(): number {
    return this.#rate.last;
  }

  /** In messages a second. */
  rate(now: number): number {
    return this.#rate.at(now);
  }

  snapshot(): TimerSnapshot {
    return { count: this.#count, mean: this.#count === 0 ? 0 : this.#total / this.#count, max: this.#max };
  }

  /** Adds what another one recorded. */
  absorb(other: Timer): void {
    this.#count += other.#count;
    this.#total += other.#total;
    this.#max = Math.max(this.#max, other.#max);
    this.#rate.absorb(other.#rate);
  }
}

/** Events since the process began. */
export class Counter {
  #count = 0;
  readonly #rate = new Rate();

  record(at: number, count = 1): void {
    this.#count += count;
    this.#rate.record(at, count);
  }

  get count(): number {
    return this.#count;
  }

  get last(): number {
    return this.#rate.last;
  }

  /** In messages a second. */
  rate(now: number): number {
    return this.#rate.at(now);
  }

  snapshot(): number {
    return this.#count;
  }

  /** Adds what another one recorded. */
  absorb(other: Counter): void {
    this.#count += other.#count;
    this.#rate.absorb(other.#rate);
  }
}

/** What is recorded of messages by their outcome. */
abstract class Outcomes<Recorder extends Timer | Counter> {
  abstract readonly successes: Recorder;
  abstract readonly failures: Recorder;

  /** When the last message was seen; 0 where none was. */
  get last(): number {
    return Math.max(this.successes.last, this.failures.last);
  }

  /** In messages a second. */
  rate(now: number): number {
    return this.successes.rate(now) + this.failures.rate(now);
  }
}

/** The times of messages that were sent to a channel or handled by an endpoint, by their outcome. */
export class SendTimers extends Outcomes<Timer> {
  readonly successes = new Timer();
  readonly failures = new Timer();

  /** Adds what others recorded. */
  absorb({ successes, failures }: SendTimers): void {
    this.successes.absorb(successes);
    this.failures.absorb(failures);
  }
}

/** The number of messages that were taken from a channel or a source, by their outcome. */
export class ReceiveCounters extends Outcomes<Counter> {
  readonly successes = new Counter();
  readonly failures = new Counter();

  /** Adds what others recorded. */
  absorb({ successes, failures }: ReceiveCounters): void {
    this.successes.absorb(successes);
    this.failures.absorb(failures);
  }
}
