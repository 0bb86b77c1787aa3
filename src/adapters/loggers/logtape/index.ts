export { type LogTapeLoggersOptions, logtapeLoggers } from "./adapter.ts";
