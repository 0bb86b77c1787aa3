/** How many messages are found by their place; one more than a mask of bits. */
const PLACES = 256;

/**
 * Values by delivery tags, which count up from 1. Most messages are settled soon after they came, so a value has the place that its tag
 * leads to as long as that is free: a Map, which grows and shrinks all the time, takes several times as long.
 */
export class ByTag<Value> {
  readonly #tags = new Array<number>(PLACES).fill(0);
  readonly #values = new Array<Value | undefined>(PLACES).fill(undefined);
  /** Those whose places were taken. */
  readonly #others = new Map<number, Value>();
  #placed = 0;

  get size(): number {
    return this.#placed + this.#others.size;
  }

  set(tag: number, value: Value): void {
    const place = tag & (PLACES - 1);
    if (this.#tags[place] !== 0) {
      this.#others.set(tag, value);
      return;
    }
    this.#tags[place] = tag;
    this.#values[place] = value;
    this.#placed++;
  }

  /** Removes a value and returns it. */
  take(tag: number): Value | undefined {
    const place = tag & (PLACES - 1);
    if (tag === 0 || this.#tags[place] !== tag) {
      const other = this.#others.get(tag);
      if (other !== undefined) this.#others.delete(tag);
      return other;
    }
    const value = this.#values[place];
    this.#tags[place] = 0;
    this.#values[place] = undefined;
    this.#placed--;
    return value;
  }

  /** In the order in which the messages came. */
  get tags(): readonly number[] {
    return [...this.#tags.filter((tag) => tag !== 0), ...this.#others.keys()].sort((one, other) => one - other);
  }
}
