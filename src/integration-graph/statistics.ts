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

/** The time in which the weight of a message falls by e, in milliseconds. */
const TIME_CONSTANT = 60_000;
/** Slower than this, about four messages an hour, is at rest: so a rate ends instead of falling forever. */
const AT_REST = 0.001;

/**
 * How many messages a second came lately: an average over the past whose weights fall by e each minute. After a minute at an
 * even pace it shows 63 % of that pace, after five minutes more than 99 %.
 *
 * Two numbers: recording allocates nothing. Times are readings of `performance.now()`, in milliseconds.
 */
export class Rate {
  /** In messages a millisecond, as of `#last`. */
  #rate = 0;
  #last = 0;

  record(at: number, count: number): void {
    const passed = at - this.#last;
    if (passed > 0) {
      this.#rate = this.#rate * weight(passed) + count / TIME_CONSTANT;
      this.#last = at;
    } else this.#rate += (count * Math.exp(passed / TIME_CONSTANT)) / TIME_CONSTANT;
  }

  /** When the last message came; 0 where none did. */
  get last(): number {
    return this.#last;
  }

  /** In messages a second. */
  at(now: number): number {
    const rate = this.#rate * 1_000 * Math.exp(-Math.max(0, now - this.#last) / TIME_CONSTANT);
    return rate < AT_REST ? 0 : rate;
  }

  /** Adds what another one recorded. */
  absorb(other: Rate): void {
    const last = Math.max(this.#last, other.#last);
    const asOf = (rate: Rate) => rate.#rate * Math.exp((rate.#last - last) / TIME_CONSTANT);
    this.#rate = asOf(this) + asOf(other);
    this.#last = last;
  }
}

/** What is left of the weight of a message after a time. */
function weight(passed: number): number {
  const times = passed / TIME_CONSTANT;
  // On the way of every message: of a busy channel the first terms of the series say the same, a good deal sooner.
  return times < 0.01 ? 1 - times + (times * times) / 2 : Math.exp(-times);
}
