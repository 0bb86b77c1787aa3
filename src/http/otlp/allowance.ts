/** For how long at once the full rate may be used up. */
const BURST_SECONDS = 2;

/** So much of something for each second, and no more. */
export class Allowance {
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

  /** Whether something is left. What is spent at once may go beyond it, and is missing then. */
  get isLeft(): boolean {
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
