import { type Level, levelVerbosity } from "../../../loggers/level.ts";
import { levelFromNative, type NativeLevel, stricter } from "./level.ts";
import type { NativeLogger, Sink } from "./native.ts";

/** The level that a logger natively amounts to: the most verbose one that any of its sinks gets. */
export function threshold(logger: NativeLogger): Level {
  const levels = sinkThresholds(logger);
  if (levels.length === 0) return ownThreshold(logger);
  return levels.reduce((most, level) => (levelVerbosity(level) > levelVerbosity(most) ? level : most));
}

/** Whether a logger has the level by its own configuration, and does not only pass its parent's on. */
export function isConfigured(logger: Readonly<Pick<NativeLogger, "lowestLevel" | "parentSinks" | "sinks">>): boolean {
  return logger.lowestLevel !== "trace" || logger.parentSinks !== "inherit" || logger.sinks.length > 0;
}

/** All sinks that are within reach of a logger, whatever the levels on the way. */
export function sinksInReach(logger: NativeLogger | null): readonly Sink[] {
  if (logger === null) return [];
  return logger.parentSinks === "override" ? logger.sinks : [...sinksInReach(logger.parent), ...logger.sinks];
}

/** What reaches each of a logger's sinks. */
export function sinkThresholds(logger: NativeLogger): readonly Level[] {
  const own = levelFromNative(logger.lowestLevel);
  const { parent, parentSinks, sinks } = logger;
  const mine = sinks.map(() => own);
  if (parent === null || parentSinks === "override") return mine;
  if (parentSinks === "forward") return [...sinksInReach(parent).map(() => own), ...mine];
  return [...sinkThresholds(parent).map((level) => stricter(level, own)), ...mine];
}

/** What passes the level filters that decide for a logger: its own or, where it has none, its nearest ancestor's. */
export function filterThreshold(logger: NativeLogger): Level {
  let at = logger;
  while (at.filters.length === 0 && at.parent !== null) at = at.parent;
  return levelFilters(at).reduce(stricter, "TRACE" as Level);
}

/** The levels of those among a logger's own filters that look at nothing else. */
export function levelFilters(logger: NativeLogger): Level[] {
  // Since LogTape 2.4, which keeps it there for all its copies.
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
