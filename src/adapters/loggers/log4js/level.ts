import { LEVELS, type Level } from "../../../loggers/level.ts";
import type { NativeLevel, NativeLevels } from "./native.ts";

/** log4js has the seven levels by the same names. */
export function nativeLevel(levels: NativeLevels, level: Level): NativeLevel {
  return levels.getLevel(level)!;
}

/**
 * The level that a threshold of log4js amounts to: the most verbose one that passes it. MARK, which stops everything but
 * marks, is OFF; a level of the application's own between two is the less verbose of them.
 */
export function levelFromNative(levels: NativeLevels, threshold: NativeLevel): Level {
  return LEVELS.findLast((level) => nativeLevel(levels, level).level >= threshold.level)!;
}
