import { OFF_VALUE } from "./level-set.ts";

/** How many times which value of a level is needed: the most verbose one is known at once, however many need one. */
export class LevelCounts {
  readonly #counts = new Map<number, number>();

  /** {@link OFF_VALUE} where nobody needs any. */
  get most(): number {
    let most = OFF_VALUE;
    for (const value of this.#counts.keys()) if (value > most) most = value;
    return most;
  }

  add(value: number): void {
    this.#counts.set(value, (this.#counts.get(value) ?? 0) + 1);
  }

  remove(value: number): void {
    const rest = this.#counts.get(value)! - 1;
    if (rest === 0) this.#counts.delete(value);
    else this.#counts.set(value, rest);
  }

  clear(): void {
    this.#counts.clear();
  }
}
