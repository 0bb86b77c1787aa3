import type { Attributes, HistogramPoint } from "./metric.ts";

/** One series of values in buckets. */
export class Histogram implements HistogramPoint {
  readonly attributes: Attributes;
  readonly counts: number[];
  sum = 0;
  count = 0;
  readonly #boundaries: readonly number[];

  constructor(attributes: Attributes, boundaries: readonly number[]) {
    this.attributes = attributes;
    this.#boundaries = boundaries;
    this.counts = new Array<number>(boundaries.length + 1).fill(0);
  }

  record(value: number): void {
    const bucket = this.#boundaries.findIndex((boundary) => value <= boundary);
    this.counts[bucket < 0 ? this.#boundaries.length : bucket]!++;
    this.count++;
    this.sum += value;
  }
}
