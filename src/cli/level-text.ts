import { Level as LevelProto, LevelSchema } from "../gen/actuator/v3/level_pb.ts";
import { LEVELS, type Level, levelFromText } from "../loggers/level.ts";
import { type Format, styled } from "./output.ts";

const FORMATS: Readonly<Record<Level, Format>> = {
  OFF: "gray",
  FATAL: "red",
  ERROR: "red",
  WARN: "yellow",
  INFO: "green",
  DEBUG: "cyan",
  TRACE: "magenta",
};

/** The name of a level as the server answers it; undefined for UNSPECIFIED. */
export function levelName(level: LevelProto): string | undefined {
  if (level === LevelProto.UNSPECIFIED) return undefined;
  return LevelSchema.value[level]?.localName ?? String(level);
}

/** A level in its colour, filled up to `width`; `none` stands for no level. */
export function levelText(level: LevelProto, none = "inherited", width = 0): string {
  const name = levelName(level);
  if (name === undefined) return styled("dim", none.padEnd(width));
  return styled(FORMATS[name as Level] ?? "reset", name.padEnd(width));
}

/** The level that somebody typed, in any case; undefined where it is none. */
export function levelFromWord(word: string): LevelProto | undefined {
  const level = levelFromText(word);
  return level && LevelProto[level];
}

/** The levels as they are typed. */
export const LEVEL_WORDS: readonly string[] = LEVELS.map((level) => level.toLowerCase());
