import { type Checks, flag, option, shaped } from "../../common/options.ts";

/** Which metrics of the actuator's own calls are kept. */
export interface MetricsOptions {
  /** Whether `GET /prometheus` below the base path serves them in Prometheus's text format. Default true. */
  readonly prometheus?: boolean | undefined;
  /**
   * The upper boundaries of the buckets of durations, in seconds, ascending. Default: those of OpenTelemetry's semantic
   * conventions, from 5 ms to 10 s.
   */
  readonly durationBuckets?: readonly number[] | undefined;
}

/** More buckets would make each scrape long and tell nothing more. */
const MAX_BUCKETS = 50;

/** What {@link MetricsOptions} must be. */
export const METRICS: Checks<MetricsOptions> = {
  prometheus: option(flag, { default: true }),
  durationBuckets: shaped(
    { kind: "json" },
    (value) => {
      const fits =
        Array.isArray(value) &&
        value.length > 0 &&
        value.length <= MAX_BUCKETS &&
        value.every((boundary, index) => Number.isFinite(boundary) && boundary > (value[index - 1] ?? 0));
      return fits
        ? undefined
        : `must be a list of at most ${MAX_BUCKETS} numbers of seconds above 0, in ascending order`;
    },
    { schema: { type: "array", items: { type: "number" } } },
  ),
};
