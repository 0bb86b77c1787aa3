import type { CallCode, CallObserver, CallProtocol, CallRecord } from "../calls/call-record.ts";
import {
  type BoundedCall,
  DURATION_BOUNDARIES,
  HTTP_DURATION,
  knownMethod,
  type MeasuredCall,
  measuredCall,
  OTHER,
  RPC_DURATION,
} from "./conventions.ts";
import type {
  CounterFamily,
  GaugeFamily,
  HistogramFamily,
  MetricDescription,
  MetricFamily,
  NumberPoint,
} from "./metric.ts";
import { Histogram } from "./metric.ts";
import type { MetricsOptions } from "./options.ts";

/** What {@link Metrics} has to know of what is served. */
export interface MetricsSettings extends Pick<MetricsOptions, "durationBuckets"> {
  /**
   * The operations that there are, as records name them. Any other is counted as `_OTHER`: callers must not be able to
   * make series.
   */
  readonly operations: Iterable<string>;
  /** The paths of REST and OTLP that there are, as records name them; for the same reason any other counts as {@link OTHER}. */
  readonly routes?: Iterable<string> | undefined;
  /** What the routes of REST stand under, such as `/actuator`. Default: nothing. */
  readonly basePath?: string | undefined;
}

/** Reads a gauge: one number, or one for each set of attributes. */
export type GaugeReading = () => number | readonly NumberPoint[];

/** What a gauge is; `additive` as in {@link GaugeFamily}. */
export interface GaugeDescription extends MetricDescription {
  readonly additive: boolean;
}

/** Called with the duration of a call in seconds when it has ended. */
export type DurationListener = (call: MeasuredCall, seconds: number) => void;

const CALLS: MetricDescription = {
  name: "actuator.calls",
  description: "Calls that are over, by protocol, operation and outcome.",
  unit: "{call}",
};

const REFUSED_LOGINS: MetricDescription = {
  name: "actuator.logins.refused",
  description: "Calls refused for missing or wrong credentials.",
  unit: "{call}",
};

const ERRORS: MetricDescription = {
  name: "actuator.errors",
  description: "Errors that were reported to the application (onError).",
  unit: "{error}",
};

const PROTOCOLS: ReadonlySet<CallProtocol> = new Set(["rest", "connect", "grpc", "grpc-web", "otlp", "mcp"]);

const CODES: ReadonlySet<CallCode> = new Set([
  "OK",
  "CANCELLED",
  "UNKNOWN",
  "INVALID_ARGUMENT",
  "DEADLINE_EXCEEDED",
  "NOT_FOUND",
  "PERMISSION_DENIED",
  "RESOURCE_EXHAUSTED",
  "FAILED_PRECONDITION",
  "UNIMPLEMENTED",
  "INTERNAL",
  "UNAVAILABLE",
  "UNAUTHENTICATED",
]);

interface Count extends NumberPoint {
  value: number;
}

interface Series {
  readonly count: Count;
  readonly call: MeasuredCall;
  readonly durations: Histogram;
}

/**
 * The metrics of the actuator's own calls and state. A call costs one table lookup when it has ended; everything else is read on
 * demand. The number of series is limited by what is served, whatever callers send.
 */
export class Metrics {
  readonly #operations: ReadonlySet<string>;
  readonly #routes: ReadonlySet<string | undefined>;
  readonly #basePath: string;
  readonly #boundaries: readonly number[];
  readonly #series = new Map<string, Series>();
  readonly #counts = new Map<string, Count>();
  readonly #histograms = new Map<string, Histogram>();
  readonly #gauges = new Map<string, { readonly description: GaugeDescription; readonly read: GaugeReading }>();
  readonly #listeners = new Set<DurationListener>();
  #refusedLogins = 0;
  #errors = 0;

  constructor({ operations, routes, basePath = "", durationBuckets = DURATION_BOUNDARIES }: MetricsSettings) {
    this.#operations = new Set(operations);
    this.#routes = new Set(routes);
    this.#basePath = basePath;
    this.#boundaries = durationBuckets;
  }

  /** What the gauges are that were registered so far. */
  get gaugeDescriptions(): readonly GaugeDescription[] {
    return Array.from(this.#gauges.values(), ({ description }) => description);
  }

  /** The boundaries of the buckets of durations, in seconds. */
  get durationBuckets(): readonly number[] {
    return this.#boundaries;
  }

  /** Counts a call that is over. */
  readonly observe: CallObserver = (record) => {
    if (record.phase === "begin") return;
    const series = this.#seriesOf(record);
    series.count.value++;
    if (record.code === "UNAUTHENTICATED") this.#refusedLogins++;
    const seconds = record.durationMs / 1000;
    if (!(seconds >= 0 && seconds < Number.POSITIVE_INFINITY)) return;
    series.durations.record(seconds);
    for (const listener of this.#listeners) listener(series.call, seconds);
  };

  /** Counts an error that was reported to the application. */
  observeError(): void {
    this.#errors++;
  }

  /**
   * Registers a gauge, which is read whenever metrics are. Returns a function that removes it. A reading that throws is left out.
   *
   * @throws Error if there is a gauge of this name already.
   */
  gauge(description: GaugeDescription, read: GaugeReading): () => void {
    const { name } = description;
    if (this.#gauges.has(name)) throw new Error(`the gauge ${name} exists already`);
    this.#gauges.set(name, { description, read });
    return () => this.#gauges.delete(name);
  }

  /** Calls `listener` for every call that is over until the returned function is called. It must not throw. */
  onDuration(listener: DurationListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** All metrics with their current values. */
  collect(): MetricFamily[] {
    return [...this.counters(), ...this.durations(), ...this.gauges()];
  }

  /** What only grows. */
  counters(): CounterFamily[] {
    const single = (value: number): NumberPoint[] => [{ attributes: {}, value }];
    return [
      { ...CALLS, type: "counter", points: [...this.#counts.values()] },
      { ...REFUSED_LOGINS, type: "counter", points: single(this.#refusedLogins) },
      { ...ERRORS, type: "counter", points: single(this.#errors) },
    ];
  }

  /** How long calls took. */
  durations(): HistogramFamily[] {
    return [HTTP_DURATION, RPC_DURATION].map((metric) => ({
      ...metric,
      type: "histogram",
      boundaries: this.#boundaries,
      points: [...this.#histograms].filter(([key]) => key.startsWith(metric.name)).map(([, histogram]) => histogram),
    }));
  }

  /** What is read now. */
  gauges(): GaugeFamily[] {
    const families: GaugeFamily[] = [];
    for (const { description, read } of this.#gauges.values()) {
      const points = pointsOf(read);
      if (points !== undefined) families.push({ ...description, type: "gauge", points });
    }
    return families;
  }

  #seriesOf(record: CallRecord): Series {
    const call = this.#boundedCall(record);
    const { protocol, operation, code, http } = call;
    const counted = `${protocol} ${code} ${operation}`;
    const key = http === undefined ? counted : `${counted} ${http.method} ${http.route} ${http.scheme} ${http.status}`;
    const known = this.#series.get(key);
    if (known !== undefined) return known;
    const measured = measuredCall(call, this.#basePath);
    const count = this.#counts.get(counted) ?? { attributes: { protocol, operation, code }, value: 0 };
    this.#counts.set(counted, count);
    const series = { count, call: measured, durations: this.#histogramOf(measured) };
    this.#series.set(key, series);
    return series;
  }

  #boundedCall({ protocol, operation, code, http }: CallRecord): BoundedCall {
    return {
      protocol: PROTOCOLS.has(protocol) ? protocol : "rest",
      operation: this.#operations.has(operation) ? operation : OTHER,
      code: CODES.has(code) ? code : "UNKNOWN",
      http: http && {
        ...http,
        method: knownMethod(http.method),
        route: this.#routes.has(http.route) ? http.route : undefined,
      },
    };
  }

  #histogramOf({ metric, attributes }: MeasuredCall): Histogram {
    const key = `${metric.name} ${JSON.stringify(attributes)}`;
    const known = this.#histograms.get(key);
    if (known !== undefined) return known;
    const histogram = new Histogram(attributes, this.#boundaries);
    this.#histograms.set(key, histogram);
    return histogram;
  }
}

function pointsOf(read: GaugeReading): readonly NumberPoint[] | undefined {
  try {
    const value = read();
    return typeof value === "number" ? [{ attributes: {}, value }] : value;
  } catch {
    return undefined;
  }
}
