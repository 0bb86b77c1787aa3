export { type NestLoggersOptions, nestLoggers } from "./adapter.ts";
export type { NestCommon } from "./native.ts";
