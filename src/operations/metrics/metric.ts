/** What tells the series of a metric apart. Names and values are few and known beforehand: nothing of a request is here. */
export type Attributes = Readonly<Record<string, string | number>>;

/** What a metric is: its name and unit as OpenTelemetry writes them. */
export interface MetricDescription {
  /** In OpenTelemetry's form, such as `rpc.server.call.duration`. */
  readonly name: string;
  /** What it counts, as one sentence for an operator. */
  readonly description: string;
  /** In UCUM: `s`, or what is counted in braces, such as `{call}`. Empty: it has none. */
  readonly unit: string;
}

/** One number. */
export interface NumberPoint {
  readonly attributes: Attributes;
  readonly value: number;
}

/** How the values of a histogram are spread. */
export interface HistogramPoint {
  readonly attributes: Attributes;
  /** How many values were not above each of the boundaries, and above the one before; the last entry is what was above all. */
  readonly counts: readonly number[];
  readonly count: number;
  readonly sum: number;
}

/** A number that only grows while the process lives. */
export interface CounterFamily extends MetricDescription {
  readonly type: "counter";
  readonly points: readonly NumberPoint[];
}

/** A number as it is now. `additive`: that of several processes is their sum, as for connections and unlike for a time. */
export interface GaugeFamily extends MetricDescription {
  readonly type: "gauge";
  readonly additive: boolean;
  readonly points: readonly NumberPoint[];
}

/** Values by their size. */
export interface HistogramFamily extends MetricDescription {
  readonly type: "histogram";
  /** The upper boundaries of the buckets, ascending; the last bucket, which has no boundary, is not among them. */
  readonly boundaries: readonly number[];
  readonly points: readonly HistogramPoint[];
}

/** All series of one metric. */
export type MetricFamily = CounterFamily | GaugeFamily | HistogramFamily;

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
