export { type WinstonLoggersOptions, type WinstonLoggersSource, winstonLoggers } from "./adapter.ts";
export type { WinstonContainer, WinstonLogger, WinstonModule } from "./native.ts";
