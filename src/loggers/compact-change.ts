import { type InheritedLevel, inheritedLevels } from "./inherited-level.ts";
import type { Level } from "./level.ts";
import { dotted, parentName, ROOT } from "./name.ts";
import type { Logger } from "./view.ts";

/** What has changed between two lists of loggers, with the levels that many loggers inherit as one each. */
export interface CompactChange {
  /** Names come after the names above them. Applied to the earlier list, they give every logger of {@link loggers} its level. */
  readonly inherited: readonly InheritedLevel<Level>[];
  /** The loggers that differ after that, as they are now, in the order of the list. */
  readonly loggers: readonly Logger[];
}

/** The loggers that get the same level if one is inherited from their head, as far as these lists show. */
interface Region {
  readonly head: string;
  /** Whether the head was configured, so that no level from above reaches the region. */
  readonly isClosed: boolean;
  /** How many loggers that only inherit have each level now. */
  readonly levels: Map<Level, number>;
  /** How many of them had the same level before. */
  unchanged: number;
}

/** What a level must save, in loggers: it takes about a third of the bytes of one. */
const MIN_SAVED = 2;

/**
 * Returns the change from one list to a later one; undefined if it has no inherited levels. Both may be a part of all loggers: then
 * levels are inherited from loggers in this part.
 *
 * Which levels are inherited is only a guess, by names and configured levels. What it does not predict is listed as a whole.
 */
export function compactChange(before: readonly Logger[], after: readonly Logger[]): CompactChange | undefined {
  const known = new Map(before.map((logger) => [dotted(logger.name), logger]));
  const inherited = guess(known, regionsOf(known, after));
  if (inherited.length === 0) return undefined;
  const levelFor = inheritedLevels(inherited, (key) => known.get(key)?.configuredLevel !== undefined);
  const loggers = after.filter((logger) => {
    const was = known.get(dotted(logger.name));
    return was === undefined || !isSameLogger(was, logger, levelFor(was.name) ?? was.effectiveLevel);
  });
  return { inherited, loggers };
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

/** The regions by the key of their head: a logger that is or was configured, or that has none above it. */
function regionsOf(known: ReadonlyMap<string, Logger>, after: readonly Logger[]): ReadonlyMap<string, Region> {
  const now = new Map(after.map((logger) => [dotted(logger.name), logger]));
  const regions = new Map<string, Region>();
  const heads = new Map<string, string | undefined>();

  /** The key of the nearest head, from this name upwards. */
  function headOf(key: string): string | undefined {
    if (heads.has(key)) return heads.get(key);
    const above = key === ROOT ? undefined : headOf(parentName(key));
    const isHead = now.has(key) && (above === undefined || isConfigured(key));
    const head = isHead ? key : above;
    heads.set(key, head);
    return head;
  }
  const isConfigured = (key: string) =>
    known.get(key)?.configuredLevel !== undefined || now.get(key)?.configuredLevel !== undefined;

  for (const [key, logger] of now) {
    const head = headOf(key)!;
    let region = regions.get(head);
    if (region === undefined) {
      const isClosed = known.get(head)?.configuredLevel !== undefined;
      region = { head, isClosed, levels: new Map(), unchanged: 0 };
      regions.set(head, region);
    }
    const was = known.get(key);
    if (was === undefined || isConfigured(key)) continue;
    region.levels.set(logger.effectiveLevel, (region.levels.get(logger.effectiveLevel) ?? 0) + 1);
    if (was.effectiveLevel === logger.effectiveLevel) region.unchanged++;
  }
  return regions;
}

/** Chooses a level for each region in which that leaves fewer loggers to list. */
function guess(known: ReadonlyMap<string, Logger>, regions: ReadonlyMap<string, Region>): InheritedLevel<Level>[] {
  const inherited: InheritedLevel<Level>[] = [];
  /** The level that reaches the loggers below each head. */
  const reaching = new Map<string, Level | undefined>();
  const fromAbove = (head: string): Level | undefined => {
    for (let at = head; at !== ROOT; ) {
      at = parentName(at);
      if (reaching.has(at)) return reaching.get(at);
    }
    return undefined;
  };
  for (const region of [...regions.values()].sort((a, b) => depth(a.head) - depth(b.head))) {
    const { head, isClosed, levels, unchanged } = region;
    const given = isClosed ? undefined : fromAbove(head);
    const right = given === undefined ? unchanged : (levels.get(given) ?? 0);
    const [level, count] = mostFrequent(levels);
    const isWorthIt = level !== undefined && count - right >= MIN_SAVED && known.has(head);
    if (isWorthIt) inherited.push({ name: known.get(head)!.name, level });
    reaching.set(head, isWorthIt ? level : given);
  }
  return inherited;
}

/** Less for a name than for all names below it. */
function depth(key: string): number {
  return key === ROOT ? 0 : key.length;
}

function mostFrequent(levels: ReadonlyMap<Level, number>): readonly [level: Level | undefined, count: number] {
  let most: readonly [Level | undefined, number] = [undefined, 0];
  for (const entry of levels) if (entry[1] > most[1]) most = entry;
  return most;
}
