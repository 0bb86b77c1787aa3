import type { BatchObservableResult, Histogram, Meter, MeterProvider, Observable } from "@opentelemetry/api";
import { ActuatorError } from "../../../common/error.ts";
import { checkOptions } from "../../../common/options.ts";
import { HTTP_DURATION, RPC_DURATION } from "../../../operations/metrics/conventions.ts";
import type { MetricDescription } from "../../../operations/metrics/metric.ts";
import type { Metrics } from "../../../operations/metrics/metrics.ts";
import { requireVersion } from "../../kit/library-version.ts";
import { OPENTELEMETRY_METRICS, type OpenTelemetryMetricsOptions } from "./options.ts";

/** Under this key the API keeps what was set globally, the same in all of its versions 1.x. */
const GLOBAL_API = Symbol.for("opentelemetry.js.api.1");

/** The name of the meter. */
const METER = "connect-actuator";

/**
 * Registers the metrics of an actuator with OpenTelemetry, under the same names as Prometheus gets them in its own form:
 *
 * Numbers are read when a reader of the provider collects; only the duration of a call is recorded as the call ends. Returns a
 * function that ends this.
 *
 * @example
 * ```ts
 * const actuator = createActuator({ metrics: true });
 * openTelemetryMetrics(actuator, { meterProvider });
 * ```
 *
 * @throws ActuatorError INVALID_ARGUMENT for an unfit option, FAILED_PRECONDITION for an actuator without metrics and where there
 *   is no meter provider.
 */
export function openTelemetryMetrics(
  source: Metrics | { readonly metrics: Metrics | undefined },
  options: OpenTelemetryMetricsOptions = {},
): () => void {
  requireVersion({ subpath: "opentelemetry-metrics", library: "@opentelemetry/api", versions: "1.9 to 1.x" });
  checkOptions("openTelemetryMetrics", options, OPENTELEMETRY_METRICS);
  const metrics = "metrics" in source ? source.metrics : source;
  if (metrics === undefined)
    throw missing("NO_METRICS", "the actuator has no metrics; createActuator({ metrics: true })");
  const provider = options.meterProvider ?? globalProvider();
  if (provider === undefined) {
    throw missing("NO_METER_PROVIDER", "there is no global meter provider yet; set one before, or pass meterProvider");
  }
  const meter = provider.getMeter(METER);
  const stopRecording = recordDurations(metrics, meter, options.httpDurations ?? false);
  const stopObserving = observeNumbers(metrics, meter);
  return () => {
    stopRecording();
    stopObserving();
  };
}

function recordDurations(metrics: Metrics, meter: Meter, http: boolean): () => void {
  const recorded = http ? [HTTP_DURATION, RPC_DURATION] : [RPC_DURATION];
  const histograms = new Map<MetricDescription, Histogram>(
    recorded.map((metric) => {
      const advice = { explicitBucketBoundaries: [...metrics.durationBuckets] };
      return [metric, meter.createHistogram(metric.name, { ...described(metric), advice })];
    }),
  );
  return metrics.onDuration(({ metric, attributes }, seconds) => histograms.get(metric)?.record(seconds, attributes));
}

function observeNumbers(metrics: Metrics, meter: Meter): () => void {
  const instruments = new Map<string, Observable>();
  for (const family of metrics.counters()) {
    instruments.set(family.name, meter.createObservableCounter(family.name, described(family)));
  }
  for (const gauge of metrics.gaugeDescriptions) {
    const instrument = gauge.additive
      ? meter.createObservableUpDownCounter(gauge.name, described(gauge))
      : meter.createObservableGauge(gauge.name, described(gauge));
    instruments.set(gauge.name, instrument);
  }
  const observe = (result: BatchObservableResult) => {
    for (const { name, points } of [...metrics.counters(), ...metrics.gauges()]) {
      const instrument = instruments.get(name);
      if (instrument === undefined) continue;
      for (const { attributes, value } of points) result.observe(instrument, value, attributes);
    }
  };
  const observed = [...instruments.values()];
  meter.addBatchObservableCallback(observe, observed);
  return () => meter.removeBatchObservableCallback(observe, observed);
}

function described({ description, unit }: MetricDescription) {
  return { description, unit };
}

function globalProvider(): MeterProvider | undefined {
  const api = (globalThis as { readonly [GLOBAL_API]?: { readonly metrics?: MeterProvider } })[GLOBAL_API];
  return api?.metrics;
}

function missing(reason: string, message: string): ActuatorError {
  return new ActuatorError("FAILED_PRECONDITION", reason, message);
}
