export { type NestjsLoggersOptions, nestjsLoggers } from "./adapter.ts";
export type { NestCommon } from "./native.ts";
