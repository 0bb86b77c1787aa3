import type { MeterProvider } from "@opentelemetry/api";
import { type Checks, flag, having } from "../../../common/options.ts";

/** How the metrics of an actuator are registered. */
export interface OpenTelemetryMetricsOptions {
  /** The provider of the meter. Default: the global one, as `metrics.setGlobalMeterProvider` of OpenTelemetry's API sets it. */
  readonly meterProvider?: MeterProvider | undefined;
  /**
   * Whether REST requests are recorded in `http.server.request.duration`. Default false: OpenTelemetry's instrumentation of
   * `node:http`, which most applications use, records the actuator's requests there with all others, and twice is once too
   * often. REST requests are in `actuator.calls` either way.
   */
  readonly httpDurations?: boolean | undefined;
}

/** The checks of {@link OpenTelemetryMetricsOptions}. */
export const OPENTELEMETRY_METRICS: Checks<OpenTelemetryMetricsOptions> = {
  meterProvider: having(["getMeter"], "a meter provider of OpenTelemetry, such as new MeterProvider({ readers })"),
  httpDurations: flag,
};
