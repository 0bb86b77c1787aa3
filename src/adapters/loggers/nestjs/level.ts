import { LEVELS, type Level, levelVerbosity } from "../../../loggers/level.ts";

/** Nest's levels, which are the names of its methods too, from the most severe one on. */
export const NEST_LEVELS = ["fatal", "error", "warn", "log", "debug", "verbose"] as const;

export type NestLevel = (typeof NEST_LEVELS)[number];

/** Some of Nest's levels, a bit for each: Nest takes lists, which may have gaps. */
export type LevelSet = number;

/** Every level that Nest has. */
export const ALL_LEVELS: LevelSet = (1 << NEST_LEVELS.length) - 1;

const bits = new Map<string, LevelSet>(NEST_LEVELS.map((level, index) => [level, 1 << index]));

/** The set of one level; of none, for a word that is no level of Nest's. */
export function levelBit(level: string): LevelSet {
  return bits.get(level) ?? 0;
}

/** What a logger of this level lets through: `log` stands for INFO and `verbose` for TRACE. */
export function levelSetFromLevel(level: Level): LevelSet {
  return (1 << levelVerbosity(level)) - 1;
}

/** The most verbose level in a set, OFF for an empty one. */
export function levelFromLevelSet(set: LevelSet): Level {
  return LEVELS[32 - Math.clz32(set)]!;
}

/** What Nest lets through for a list of levels: those in it, and all that are more severe than every one in it. */
export function levelSetFromNames(names: readonly string[]): LevelSet {
  const set = names.reduce((levels, name) => levels | levelBit(name), 0);
  const mostSevere = set & -set;
  return set === 0 ? 0 : set | (mostSevere - 1);
}

/** The list for Nest that lets through just what is in a set. */
export function namesFromLevelSet(set: LevelSet): NestLevel[] {
  return NEST_LEVELS.filter((level) => (set & levelBit(level)) !== 0);
}
