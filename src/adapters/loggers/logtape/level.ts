import { LEVELS, type Level, levelVerbosity } from "../../../loggers/level.ts";

/** What LogTape has as the lowest level of a logger; null where nothing passes. */
export type NativeLevel = "fatal" | "error" | "warning" | "info" | "debug" | "trace" | null;

const NATIVE_LEVELS: Readonly<Record<Level, NativeLevel>> = {
  OFF: null,
  FATAL: "fatal",
  ERROR: "error",
  WARN: "warning",
  INFO: "info",
  DEBUG: "debug",
  TRACE: "trace",
};

const byNative = new Map(LEVELS.map((level) => [NATIVE_LEVELS[level], level]));

/** LogTape's lowest level for a level. */
export function levelToNative(level: Level): NativeLevel {
  return NATIVE_LEVELS[level];
}

/** The level of a lowest level of LogTape. */
export function levelFromNative(level: NativeLevel): Level {
  return byNative.get(level)!;
}

/** What passes two thresholds, one after the other. */
export function stricter(one: Level, other: Level): Level {
  return levelVerbosity(one) < levelVerbosity(other) ? one : other;
}
