export { type PinoLoggersOptions, pinoLoggers } from "./adapter.ts";
export type { PinoLogger } from "./native.ts";
