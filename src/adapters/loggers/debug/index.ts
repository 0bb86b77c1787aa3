export { type DebugLoggersOptions, debugLoggers } from "./adapter.ts";
export type { DebugFactory } from "./native.ts";
