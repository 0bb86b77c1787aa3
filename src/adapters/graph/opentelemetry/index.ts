export { type OpenTelemetryAdapter, openTelemetry } from "./adapter.ts";
export type { OpenTelemetryOptions } from "./options.ts";
export { recordAll } from "./sampler.ts";
