import { type Level, levelVerbosity } from "../../../loggers/level.ts";
import { stricter } from "../../kit/loggers/level-table.ts";
import { levelFromNative, levelToNative, type NativeLevel, type NativeLogger, type Sink } from "./native.ts";

/** The level to show for a logger as it natively is: the most verbose one that any of its sinks gets. */
export function threshold(logger: NativeLogger): Level {
  const levels = sinkThresholds(logger);
  if (levels.length === 0) return ownThreshold(logger);
  return levels.reduce((most, level) => (levelVerbosity(level) > levelVerbosity(most) ? level : most));
}

/** Whether a logger has a level or sinks of its own configuration, rather than only its parent's. */
export function isConfigured(logger: Readonly<Pick<NativeLogger, "lowestLevel" | "parentSinks" | "sinks">>): boolean {
  return logger.lowestLevel !== "trace" || logger.parentSinks !== "inherit" || logger.sinks.length > 0;
}

/** All sinks that a logger can write to, whatever the levels on the way. */
export function sinksInReach(logger: NativeLogger | null): readonly Sink[] {
  if (logger === null) return [];
  return logger.parentSinks === "override" ? logger.sinks : [...sinksInReach(logger.parent), ...logger.sinks];
}

/** The most verbose level that reaches each of a logger's sinks. */
function sinkThresholds(logger: NativeLogger): readonly Level[] {
  const own = levelFromNative(logger.lowestLevel);
  const { parent, parentSinks, sinks } = logger;
  const mine = sinks.map(() => own);
  if (parent === null || parentSinks === "override") return mine;
  if (parentSinks === "forward") return [...sinksInReach(parent).map(() => own), ...mine];
  return [...sinkThresholds(parent).map((level) => stricter(level, own)), ...mine];
}

/** What passes the level filters that apply to a logger: its own or, if it has no filters, its nearest ancestor's. */
export function filterThreshold(logger: NativeLogger): Level {
  let at = logger;
  while (at.filters.length === 0 && at.parent !== null) at = at.parent;
  return levelFilters(at).reduce(stricter, "TRACE" as Level);
}

/** The levels of a logger's own filters that filter by level alone. */
function levelFilters(logger: NativeLogger): Level[] {
  // Since LogTape 2.4, for all copies of LogTape.
  const known = (globalThis as Record<symbol, unknown>)[Symbol.for("logtape.levelFilters")];
  if (!(known instanceof WeakMap)) return [];
  return logger.filters
    .filter((filter) => known.has(filter))
    .map((filter) => levelFromNative(known.get(filter) as NativeLevel));
}

function ownThreshold({ lowestLevel, parent, parentSinks }: NativeLogger): Level {
  const own = levelFromNative(lowestLevel);
  return parent === null || parentSinks !== "inherit" ? own : stricter(own, ownThreshold(parent));
}

/** Warnings for the operator about what a logger's level alone does not decide. */
export function limitsOf(logger: NativeLogger): string[] {
  const limits: string[] = [];
  const byLevel = levelFilters(logger);
  for (const level of byLevel) {
    limits.push(`a level filter lets through "${levelToNative(level)}" and what is more severe, whatever the level is`);
  }
  const others = logger.filters.length - byLevel.length;
  if (others > 0)
    limits.push(`${count(others, "filter")} of the application's own may drop records that the level lets through`);
  const filtering = logger.sinks.filter(dropsRecords).length;
  if (filtering > 0)
    limits.push(`${count(filtering, "sink")} may hold back or drop records that the level lets through`);
  if (logger.sinks.length > 0 && new Set(sinkThresholds(logger)).size > 1) {
    limits.push(
      "its own sinks and those of its parents were given different levels; one level now decides for all of them",
    );
  }
  return limits;
}

function count(number: number, noun: string): string {
  return number === 1 ? `1 ${noun}` : `${number} ${noun}s`;
}

/** Recognizes the sinks that LogTape's `withFilter` and `fingersCrossed` make; other sinks cannot be judged. */
function dropsRecords(sink: Sink): boolean {
  return sink.name === "filtered" || "flush" in sink;
}
