import { Rate } from "./rate.ts";
import type { TimerSnapshot } from "./snapshot.ts";

/** Something that comes again and again since the process began. Recording allocates nothing. */
abstract class Recorder {
  #count = 0;
  readonly #rate = new Rate();

  get count(): number {
    return this.#count;
  }

  /** When the last one was seen, a reading of `performance.now()`; 0 where none was. */
  get last(): number {
    return this.#rate.last;
  }

  /** In messages a second. */
  rate(now: number): number {
    return this.#rate.at(now);
  }

  protected seen(at: number, count: number): void {
    this.#count += count;
    this.#rate.record(at, count);
  }

  /** Adds what another one recorded. */
  absorb(other: Recorder): void {
    this.#count += other.#count;
    this.#rate.absorb(other.#rate);
  }
}

/**
 * Durations since the process began, the longest included: it is no maximum of a time window. Times are readings of
 * `performance.now()`, in milliseconds.
 */
export class Timer extends Recorder {
  #total = 0;
  #max = 0;

  /** `count` messages went together: each of them took that long. */
  record(start: number, end: number, count = 1): void {
    const duration = end - start;
    this.#total += duration * count;
    if (duration > this.#max) this.#max = duration;
    this.seen(end, count);
  }

  snapshot(): TimerSnapshot {
    return { count: this.count, mean: this.count === 0 ? 0 : this.#total / this.count, max: this.#max };
  }

  override absorb(other: Timer): void {
    super.absorb(other);
    this.#total += other.#total;
    this.#max = Math.max(this.#max, other.#max);
  }
}

/** Events since the process began. */
export class Counter extends Recorder {
  record(at: number, count = 1): void {
    this.seen(at, count);
  }

  snapshot(): number {
    return this.count;
  }
}

/** What is recorded of messages by their outcome. */
abstract class Outcomes<Kind extends Recorder> {
  abstract readonly successes: Kind;
  abstract readonly failures: Kind;

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
