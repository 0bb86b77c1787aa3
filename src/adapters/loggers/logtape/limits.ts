import { levelToNative } from "./level.ts";
import type { NativeLogger, Sink } from "./native.ts";
import { levelFilters, sinkThresholds } from "./threshold.ts";

/** What a logger's level alone does not decide: sentences for the operator. */
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

/** LogTape's `withFilter` and `fingersCrossed` make such sinks; of any other nothing is known. */
function dropsRecords(sink: Sink): boolean {
  return sink.name === "filtered" || "flush" in sink;
}
