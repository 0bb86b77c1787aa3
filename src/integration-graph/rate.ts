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
