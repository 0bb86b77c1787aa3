export { openTelemetryMetrics } from "./metrics.ts";
export type { OpenTelemetryMetricsOptions } from "./options.ts";
