export { type OpenTelemetryAdapter, openTelemetrySource } from "./adapter.ts";
export type { OpenTelemetryOptions } from "./options.ts";
export { recordAll } from "./sampler.ts";
