export { type Log4jsLoggersOptions, log4jsLoggers } from "./adapter.ts";
export type { Log4js } from "./native.ts";
