import { LEVELS, type Level, levelVerbosity } from "../../../loggers/level.ts";
import { oncePer } from "../../kit/loggers/instrumentation.ts";
import type { NativeLevels } from "./native.ts";

/** The labels of each level in the sets that winston brings and in those that applications usually make. */
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
 * A set of winston's levels beside the seven that this package shows. Labels are matched by name, or by rank if no name in the
 * set is known. A label without a counterpart is shown as the level that it lets through completely: npm's `verbose`, which
 * stops `debug`, as INFO. Only a label outside of the set is shown as OFF.
 */
export class LevelSet {
  readonly values: NativeLevels;
  /** A word outside of the set: winston accepts it and lets nothing through. */
  readonly #off: string;
  readonly #labels: readonly (readonly [label: string, value: number])[];
  /** The levels that the set has, from FATAL to TRACE. */
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
      // Levels that the set has come first: a level that it lacks is set as its neighbour.
      const level =
        this.#known.find(([, known]) => known >= value)?.[0] ??
        LEVELS.find((each) => each !== "OFF" && this.value(this.label(each)) >= value);
      if (level !== undefined) this.#verbosities.set(label, levelVerbosity(level));
    }
  }

  /** The label to set for a level. If the set lacks the level, it is that of the nearest one. */
  label(level: Level): string {
    if (level === "OFF") return this.#off;
    const exact = this.#known.find(([known]) => known === level)?.[1];
    if (exact !== undefined) return this.labelOf(exact);
    const below = this.#known.find(([known]) => LEVELS.indexOf(known) > LEVELS.indexOf(level))?.[1];
    const nearest = this.#labels.findLast(([, value]) => below === undefined || value < below) ?? this.#labels[0];
    return nearest?.[0] ?? this.#off;
  }

  /** The most verbose label up to a value; a word that lets nothing through if all labels are more verbose. */
  labelOf(value: number): string {
    return this.#labels.findLast(([, known]) => known <= value)?.[0] ?? this.#off;
  }

  /** The value of a label; {@link OFF_VALUE} for a word that is not a level. */
  value(label: string): number {
    return this.values[label] ?? OFF_VALUE;
  }

  /** The level to show for a threshold. */
  level(value: number): Level {
    if (value === OFF_VALUE) return "OFF";
    return (this.#known.findLast(([, known]) => known <= value) ?? this.#known[0])?.[0] ?? "OFF";
  }

  /** The verbosity of the least verbose level that lets records of this label through; undefined if none does. */
  verbosity(label: string): number | undefined {
    return this.#verbosities.get(label);
  }

  /** The label that lets everything through. */
  get mostVerbose(): string {
    return this.#labels.at(-1)?.[0] ?? this.#off;
  }

  #ranked(): readonly (readonly [Level, number])[] {
    const levels = LEVELS.slice(this.#labels.length >= 6 ? 1 : 2);
    return this.#labels.slice(0, levels.length).map(([, value], index) => [levels[index]!, value]);
  }
}

/** The level set of a logger's or a transport's `levels`. */
export const levelSet = oncePer((values: NativeLevels) => new LevelSet(values));
