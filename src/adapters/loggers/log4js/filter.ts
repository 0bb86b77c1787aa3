import { LEVELS, type Level, levelVerbosity } from "../../../loggers/level.ts";
import { type NativeAppender, type NativeCategory, type NativeLevels, nativeLevel } from "./native.ts";

/** The most verbose level that a `logLevelFilter` lets through; undefined for an appender that does not filter. */
const known = new WeakMap<NativeAppender, { readonly from: Level | undefined }>();

/** The most verbose level that any appender of the category writes; TRACE if one of them does not filter. */
export function writtenLevel(levels: NativeLevels, { appenders }: NativeCategory): Level {
  let most: Level = appenders.length === 0 ? "TRACE" : "OFF";
  for (const appender of appenders) {
    const from = filterLevel(levels, appender) ?? "TRACE";
    if (levelVerbosity(from) > levelVerbosity(most)) most = from;
  }
  return most;
}

/** Warnings for the operator about what the appenders of a category do not write, whatever its level. */
export function filterLimits(levels: NativeLevels, { appenders }: NativeCategory): readonly string[] {
  return appenders.flatMap((appender) => {
    const from = filterLevel(levels, appender);
    if (from === undefined) return [];
    return [`a logLevelFilter keeps its own level ${from}: less severe records do not pass to its appender`];
  });
}

function filterLevel(levels: NativeLevels, appender: NativeAppender): Level | undefined {
  let filter = known.get(appender);
  if (filter === undefined) {
    filter = { from: isLevelFilter(appender) ? lowest(levels, appender) : undefined };
    known.set(appender, filter);
  }
  return filter.from;
}

/** log4js turns appenders into plain functions and drops their configuration, so a filter is recognized by its source text. */
function isLevelFilter(appender: NativeAppender): boolean {
  const text = Function.prototype.toString.call(appender);
  return text.includes("minLevel.isLessThanOrEqualTo(") && text.includes("maxLevel.isGreaterThanOrEqualTo(");
}

/**
 * The most verbose level that passes the lower bound of a filter. The filter is called with records above every upper bound: it
 * reads such a record's level a second time if the lower bound has let it through, and then drops it.
 */
function lowest(levels: NativeLevels, filter: NativeAppender): Level {
  const passes = (level: Level): boolean => {
    let reads = 0;
    filter({
      level: {
        get level() {
          return ++reads === 1 ? nativeLevel(levels, level).level : Number.POSITIVE_INFINITY;
        },
      },
    });
    return reads > 1;
  };
  return LEVELS.findLast((level) => level !== "OFF" && passes(level)) ?? "OFF";
}
