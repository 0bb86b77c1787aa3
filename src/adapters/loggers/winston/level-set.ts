import { LEVELS, type Level, levelVerbosity } from "../../../loggers/level.ts";
import type { NativeLevels } from "./native.ts";

/** What the levels are called in the sets that winston brings and in those that applications make. */
const NAMES: readonly (readonly [Level, readonly string[]])[] = [
  ["FATAL", ["fatal", "emerg", "emergency", "panic", "alert", "crit", "critical"]],
  ["ERROR", ["error", "err"]],
  ["WARN", ["warn", "warning"]],
  ["INFO", ["info", "information"]],
  ["DEBUG", ["debug"]],
  ["TRACE", ["trace", "silly"]],
];

/** The value of a threshold that lets nothing through. */
export const OFF_VALUE = Number.NEGATIVE_INFINITY;

/**
 * A set of levels of winston beside the seven of the specification: found by name, or by rank where not one name is known. A
 * label without a counterpart counts as the level that it lets through completely: npm's `verbose`, which stops `debug`, as
 * INFO; but never as OFF.
 */
export class LevelSet {
  readonly values: NativeLevels;
  /** A word that is no level of the set: winston accepts it and lets nothing through. */
  readonly #off: string;
  readonly #labels: readonly (readonly [label: string, value: number])[];
  /** From FATAL to TRACE, those that the set has. */
  readonly #known: readonly (readonly [Level, number])[];

  readonly #verbosities = new Map<string, number>();

  constructor(values: NativeLevels) {
    this.values = values;
    this.#off = ["off", "silent", "none"].find((word) => !Object.hasOwn(values, word)) ?? "";
    this.#labels = Object.entries(values).sort(([, a], [, b]) => a - b);
    const named = NAMES.map(([level, names]) => {
      const found = this.#labels.findLast(([label]) => names.includes(label.toLowerCase()));
      return [level, found?.[1]] as const;
    }).filter((entry): entry is readonly [Level, number] => entry[1] !== undefined);
    this.#known = named.length > 0 ? named : this.#ranked();
    for (const [label, value] of this.#labels) {
      // First among those that the set has: where it lacks one, that is set as its neighbour.
      const level =
        this.#known.find(([, known]) => known >= value)?.[0] ??
        LEVELS.find((each) => each !== "OFF" && this.value(this.label(each)) >= value);
      if (level !== undefined) this.#verbosities.set(label, levelVerbosity(level));
    }
  }

  /** The label to set for a level; where the set lacks the level, the one that comes next to it. */
  label(level: Level): string {
    if (level === "OFF") return this.#off;
    const exact = this.#known.find(([known]) => known === level)?.[1];
    if (exact !== undefined) return this.labelOf(exact);
    const below = this.#known.find(([known]) => LEVELS.indexOf(known) > LEVELS.indexOf(level))?.[1];
    const nearest = this.#labels.findLast(([, value]) => below === undefined || value < below) ?? this.#labels[0];
    return nearest?.[0] ?? this.#off;
  }

  /** The most verbose label that is not above a value; a word that lets nothing through where all are. */
  labelOf(value: number): string {
    return this.#labels.findLast(([, known]) => known <= value)?.[0] ?? this.#off;
  }

  value(label: string): number {
    return this.values[label] ?? OFF_VALUE;
  }

  /** The level that a threshold of this value amounts to. */
  level(value: number): Level {
    if (value === OFF_VALUE) return "OFF";
    return (this.#known.findLast(([, known]) => known <= value) ?? this.#known[0])?.[0] ?? "OFF";
  }

  /** That of the least verbose level which lets records of this label through; undefined where none does, or for no label. */
  verbosity(label: string): number | undefined {
    return this.#verbosities.get(label);
  }

  /** The value of the most verbose label. */
  get most(): number {
    return this.#labels.at(-1)?.[1] ?? OFF_VALUE;
  }

  #ranked(): readonly (readonly [Level, number])[] {
    const levels = LEVELS.slice(this.#labels.length >= 6 ? 1 : 2);
    return this.#labels.slice(0, levels.length).map(([, value], index) => [levels[index]!, value]);
  }
}

const sets = new WeakMap<NativeLevels, LevelSet>();

export function levelSet(values: NativeLevels): LevelSet {
  let set = sets.get(values);
  if (set === undefined) sets.set(values, (set = new LevelSet(values)));
  return set;
}
