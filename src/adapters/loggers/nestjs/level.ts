import { LEVELS, type Level, levelVerbosity } from "../../../loggers/level.ts";

/** Nest's levels, which are also the names of its methods, from the most severe to the most verbose. */
export const NEST_LEVELS = ["fatal", "error", "warn", "log", "debug", "verbose"] as const;

export type NestLevel = (typeof NEST_LEVELS)[number];

/** A set of Nest's levels, one bit for each. Nest takes lists of levels, which may have gaps. */
export type LevelSet = number;

/** All of Nest's levels. */
export const ALL_LEVELS: LevelSet = (1 << NEST_LEVELS.length) - 1;

const bits = new Map<string, LevelSet>(NEST_LEVELS.map((level, index) => [level, 1 << index]));

/** The set of one level; the empty set for a word that is not one of Nest's levels. */
export function levelBit(level: string): LevelSet {
  return bits.get(level) ?? 0;
}

/** What a logger with this level lets through. `log` is INFO and `verbose` is TRACE. */
export function levelSetFromLevel(level: Level): LevelSet {
  return (1 << levelVerbosity(level)) - 1;
}

/** The most verbose level in a set; OFF for the empty set. */
export function levelFromLevelSet(set: LevelSet): Level {
  return LEVELS[32 - Math.clz32(set)]!;
}

/** What Nest lets through for a list of levels: the levels in it, and all that are more severe than every one of them. */
export function levelSetFromNames(names: readonly string[]): LevelSet {
  const set = names.reduce((levels, name) => levels | levelBit(name), 0);
  const mostSevere = set & -set;
  return set === 0 ? 0 : set | (mostSevere - 1);
}

/** The list for Nest that lets through exactly what is in a set. */
export function namesFromLevelSet(set: LevelSet): NestLevel[] {
  return NEST_LEVELS.filter((level) => (set & levelBit(level)) !== 0);
}
