import { onTestFinished } from "vitest";
import type { RecordContent, WrittenRecord } from "../../src/loggers/adapter.ts";
import { LEVELS, type Level, levelVerbosity } from "../../src/loggers/level.ts";
import type { Loggers } from "../../src/loggers/loggers.ts";

/** A record that a sink took. */
export type Heard = Omit<WrittenRecord, "read" | "verbosity" | "size"> &
  RecordContent & { readonly logger: string; readonly level: Level };

/** What a sink wants. Default: all that is written, of all loggers. */
export interface Wanted {
  readonly level?: Level;
  readonly hidden?: Level;
  readonly names?: readonly string[];
  readonly take?: (record: WrittenRecord) => void;
}

/** Hears what loggers write from now on, until the test or `stop` ends it. `heard` returns what came since its last call. */
export function hear(loggers: Loggers, { level = "TRACE", hidden = "OFF", names, take }: Wanted = {}) {
  const taken: Heard[] = [];
  const hiddenVerbosity = levelVerbosity(hidden);
  /** The names whose sinks the library asked for. */
  const asked: string[] = [];
  const unheard = loggers.hear((logger) => {
    asked.push(logger);
    if (names?.includes(logger) === false) return undefined;
    return {
      verbosity: levelVerbosity(level),
      hiddenVerbosity,
      take(record) {
        const { verbosity, nativeLevel, hidden } = record;
        taken.push({ logger, level: LEVELS[verbosity]!, nativeLevel, hidden, ...record.read() });
        take?.(record);
      },
    };
  }, hiddenVerbosity > 0);
  const stop = () => void loggers.hear(undefined);
  onTestFinished(stop);
  return { unheard, asked, stop, heard: () => taken.splice(0) };
}
