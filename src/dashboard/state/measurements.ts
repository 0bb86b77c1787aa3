import { signal } from "@preact/signals";
import type { Level } from "../../gen/actuator/v3/level_pb.ts";

/** Lines of one level in a second: `written`, and those that levels suppressed. */
export interface LevelVolume {
  readonly level: Level;
  readonly written: number;
  readonly suppressed: number;
}

/** What a measurement has counted for the loggers that a level would change. */
export interface Volumes {
  readonly levels: readonly LevelVolume[];
  /** How long it has counted. */
  readonly elapsedMs: number;
  /** When it ended, in milliseconds since the epoch; undefined while it runs. */
  readonly at: number | undefined;
  /** Libraries that cannot be measured: their loggers are missing. */
  readonly unmeasured: readonly string[];
}

/** A measurement says something about the present for this long. */
const RECENT_MS = 10 * 60_000;

/** The measurements of this tab, by the name of the logger or group. */
export const measurements = signal<ReadonlyMap<string, Volumes>>(new Map());

/** How many lines a second the level would add; undefined: not measured recently. */
export function addedBy(name: string, level: Level): number | undefined {
  const found = measurements.peek().get(name);
  if (found?.at === undefined || Date.now() - found.at > RECENT_MS) return undefined;
  return found.levels.reduce((sum, each) => sum + (each.level <= level ? each.suppressed : 0), 0);
}
