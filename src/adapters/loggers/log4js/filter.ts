import { LEVELS, type Level, levelVerbosity } from "../../../loggers/level.ts";
import { nativeLevel } from "./level.ts";
import type { NativeAppender, NativeCategory, NativeLevels } from "./native.ts";

/** What a `logLevelFilter` lets through to its appender. */
interface Filter {
  readonly from: Level;
}

const known = new WeakMap<NativeAppender, Filter | null>();

/** The most verbose level that any appender of the category writes; TRACE where one of them does not filter. */
export function writtenLevel(levels: NativeLevels, { appenders }: NativeCategory): Level {
  let most: Level = appenders.length === 0 ? "TRACE" : "OFF";
  for (const appender of appenders) {
    const from = filterOf(levels, appender)?.from ?? "TRACE";
    if (levelVerbosity(from) > levelVerbosity(most)) most = from;
  }
  return most;
}

/** What the appenders of a category do not write whatever its level: sentences for the operator. */
export function filterLimits(levels: NativeLevels, { appenders }: NativeCategory): readonly string[] {
  return appenders.flatMap((appender) => {
    const filter = filterOf(levels, appender);
    if (filter === undefined) return [];
    return [`a logLevelFilter keeps its own level ${filter.from}: less severe records do not pass to its appender`];
  });
}

function filterOf(levels: NativeLevels, appender: NativeAppender): Filter | undefined {
  let filter = known.get(appender);
  if (filter === undefined) {
    filter = isLevelFilter(appender) ? { from: lowest(levels, appender) } : null;
    known.set(appender, filter);
  }
  return filter ?? undefined;
}

/** log4js makes plain functions of its appenders and forgets their configuration, so this knows one by how it is written. */
function isLevelFilter(appender: NativeAppender): boolean {
  const text = Function.prototype.toString.call(appender);
  return text.includes("minLevel.isLessThanOrEqualTo(") && text.includes("maxLevel.isGreaterThanOrEqualTo(");
}

/**
 * The most verbose level that gets past the lower bound of a filter. Asked of the filter itself, with records that are above
 * every upper bound: it reads such a record's level a second time when the first bound has let it through, and drops it.
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
