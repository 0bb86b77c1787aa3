import type { Level } from "./level.ts";
import type { Lineage } from "./lineage.ts";
import type { Logger } from "./view.ts";

/** A level for a name and for all names below it that inherit from it. */
export interface InheritedLevel {
  readonly name: string;
  readonly level: Level;
}

/** What has changed between two lists of loggers, with the levels that many loggers inherit as one each. */
export interface CompactChange {
  /**
   * Levels that many loggers have got. A name comes after the names above it. Each applies to the logger of its name, and to those
   * below it that were not configured before, up to others that were.
   */
  readonly inherited: readonly InheritedLevel[];
  /** The loggers that differ after that, as they are now. */
  readonly loggers: readonly Logger[];
}

/** Loggers that all get a level that is inherited by one of them: a head and those below it that were and are not configured. */
interface Region {
  readonly head: Logger | undefined;
  /** The region above, unless the head was configured: then no level from above reaches the head. */
  readonly above: Region | undefined;
  /** How many of the loggers that are not configured have each level now. */
  readonly levels: Map<Level, number>;
  /** How many of them had the same level before. */
  unchanged: number;
  /** The level that its loggers get. */
  given: Level | undefined;
}

/** What an inherited level must save, in loggers: it takes about a third of the bytes of one. */
const MIN_SAVED = 2;

/**
 * Returns what has changed for a client that shows the selected loggers; undefined if it has no inherited levels.
 *
 * Which levels are inherited is only a guess from names and configured levels. Loggers that it does not predict are listed.
 *
 * @param before the logger before, for each one in `after`; undefined if it is new. No other loggers were there before.
 * @param lineage of the names in `after`
 */
export function compactChange(
  before: readonly (Logger | undefined)[],
  after: readonly Logger[],
  lineage: Lineage,
  isSelected: (logger: Logger) => boolean,
): CompactChange | undefined {
  const regions = new Set<Region>();
  const regionOf = new Array<Region | undefined>(after.length);
  for (const index of lineage.order) {
    const [was, is] = [before[index], after[index]!];
    const above = regionOf[lineage.above[index]!];
    regionOf[index] = above;
    // A client does not know of loggers that it is not shown, so that levels pass them.
    if (!isSelected(is)) continue;
    const wasConfigured = was?.configuredLevel !== undefined;
    const isConfigured = wasConfigured || is.configuredLevel !== undefined;
    let region = above;
    if (region === undefined || isConfigured) {
      region = {
        head: was,
        above: wasConfigured ? undefined : above,
        levels: new Map(),
        unchanged: 0,
        given: undefined,
      };
      regions.add(region);
      regionOf[index] = region;
    }
    if (was === undefined || isConfigured) continue;
    region.levels.set(is.effectiveLevel, (region.levels.get(is.effectiveLevel) ?? 0) + 1);
    if (was.effectiveLevel === is.effectiveLevel) region.unchanged++;
  }
  const inherited = guess(regions);
  if (inherited.length === 0) return undefined;
  const loggers = after.filter((logger, index) => {
    if (!isSelected(logger)) return false;
    const was = before[index];
    return was === undefined || !isSameLogger(was, logger, regionOf[index]!.given);
  });
  return { inherited, loggers };
}

/** Chooses a level for each region in which that leaves fewer loggers to list. The regions above come first. */
function guess(regions: Iterable<Region>): InheritedLevel[] {
  const inherited: InheritedLevel[] = [];
  for (const region of regions) {
    const { head, above, levels, unchanged } = region;
    region.given = above?.given;
    const right = region.given === undefined ? unchanged : (levels.get(region.given) ?? 0);
    const [level, count] = mostFrequent(levels);
    if (head === undefined || level === undefined || count - right < MIN_SAVED) continue;
    region.given = level;
    inherited.push({ name: head.name, level });
  }
  return inherited;
}

function mostFrequent(levels: ReadonlyMap<Level, number>): readonly [level: Level | undefined, count: number] {
  let most: readonly [Level | undefined, number] = [undefined, 0];
  for (const entry of levels) if (entry[1] > most[1]) most = entry;
  return most;
}

/** Whether a logger is as it was, except for its level, which was `level`. */
export function isSameLogger(was: Logger, is: Logger, level = was.effectiveLevel): boolean {
  return (
    was.name === is.name &&
    level === is.effectiveLevel &&
    was.configuredLevel === is.configuredLevel &&
    was.baselineLevel === is.baselineLevel &&
    was.override === is.override &&
    was.kind === is.kind &&
    was.exists === is.exists &&
    was.warnings.length === is.warnings.length &&
    was.warnings.every((warning, index) => warning === is.warnings[index])
  );
}
