import { LEVELS, type Level, levelVerbosity } from "../../../loggers/level.ts";
import type { NativeLogger, PinoCopy } from "./native.ts";

/** pino's label and number for each of the seven levels. */
const PINO_LEVELS: Readonly<Record<Level, { readonly label: string; readonly value: number }>> = {
  OFF: { label: "silent", value: Number.POSITIVE_INFINITY },
  FATAL: { label: "fatal", value: 60 },
  ERROR: { label: "error", value: 50 },
  WARN: { label: "warn", value: 40 },
  INFO: { label: "info", value: 30 },
  DEBUG: { label: "debug", value: 20 },
  TRACE: { label: "trace", value: 10 },
};

/** The levels that records have, from FATAL to TRACE. */
const RECORD_LEVELS = LEVELS.slice(1);

/** The verbosity of records that no level lets through. */
const BELOW_TRACE = LEVELS.length;

/** A level method of a logger. */
export interface LevelLabel {
  readonly label: string;
  /** The `levelVerbosity` of the least verbose level that lets its records through; undefined if none does. */
  readonly verbosity: number | undefined;
}

interface Threshold {
  readonly label: string;
  /** How many labels it lets through. */
  readonly count: number;
  /** The verbosity of the least severe records that it lets through. */
  readonly verbosity: number;
}

const orders = new WeakMap<NativeLogger["levels"], LevelOrder>();

/** How a logger's own levels correspond to the seven levels. All loggers with the same set of levels share it. */
export function levelOrder({ levelComparison }: PinoCopy, logger: NativeLogger): LevelOrder {
  let order = orders.get(logger.levels);
  if (order === undefined) {
    const compare = levelComparison && (logger[levelComparison] as Compare | undefined);
    orders.set(logger.levels, (order = new LevelOrder(logger.levels.values, compare)));
  }
  return order;
}

/** pino's `levelComparison`: whether records of a value pass a threshold. Only false stops them. */
type Compare = (value: number, threshold: number) => unknown;

const ascending: Compare = (value, threshold) => value >= threshold;

/**
 * The levels of one set of labels, which may be the application's own, in its own order (`levelComparison`).
 *
 * Each of the seven levels is represented by a value: pino's own or, if the application gave its label another one, that. Labels
 * without any of pino's are represented by rank.
 */
export class LevelOrder {
  readonly labels: readonly LevelLabel[];
  /** {@link labels} by their values. */
  readonly #records: ReadonlyMap<number, LevelLabel>;
  readonly #compare: Compare;
  /** The value that represents a level. */
  readonly #values: ReadonlyMap<Level, number>;
  readonly #shown = new Map<number, Level>();
  readonly #labels: ReadonlyMap<Level, string>;

  constructor(values: Readonly<Record<string, number>>, compare: Compare = ascending) {
    this.#compare = compare;
    const labels = Object.entries(values);
    this.#values = new Map(this.#representatives(labels));
    this.labels = labels.map(([label, value]) => ({ label, verbosity: this.#verbosityOf(value) }));
    this.#records = new Map(labels.map(([, value], index) => [value, this.labels[index]!]));
    const { label, value } = PINO_LEVELS.OFF;
    const thresholds = [...labels, [label, value] as const].map(([name, threshold]) => {
      const enabled = labels.filter(([, each]) => this.enables(threshold, each));
      const verbosities = enabled.map(([, each]) => this.#verbosityOf(each) ?? BELOW_TRACE);
      return { label: name, count: enabled.length, verbosity: Math.max(0, ...verbosities) };
    });
    this.#labels = new Map(LEVELS.map((level) => [level, labelFor(level, thresholds)]));
  }

  /** The label of records of a value. */
  record(value: number): LevelLabel {
    return this.#records.get(value) ?? { label: String(value), verbosity: this.#verbosityOf(value) };
  }

  /** Whether records of a value pass a threshold. */
  enables(threshold: number, value: number): boolean {
    return this.#compare(value, threshold) !== false;
  }

  /** The level to show for a threshold: the most verbose one whose records pass it. */
  levelOf(threshold: number): Level {
    let level = this.#shown.get(threshold);
    if (level === undefined) this.#shown.set(threshold, (level = this.#show(threshold)));
    return level;
  }

  /** The label to set for a level. */
  labelFor(level: Level): string {
    return this.#labels.get(level)!;
  }

  #show(threshold: number): Level {
    const passing = RECORD_LEVELS.findLast((level) => {
      const value = this.#values.get(level);
      return value !== undefined && this.enables(threshold, value);
    });
    return passing ?? "OFF";
  }

  #verbosityOf(value: number): number | undefined {
    const level = RECORD_LEVELS.find((each) => {
      const threshold = this.#values.get(each);
      return threshold !== undefined && this.enables(threshold, value);
    });
    return level && levelVerbosity(level);
  }

  #representatives(labels: readonly (readonly [label: string, value: number])[]): [Level, number][] {
    const count = (threshold: number) => labels.filter(([, value]) => this.enables(threshold, value)).length;
    const known = new Map(labels);
    const named = RECORD_LEVELS.flatMap((level): [Level, number][] => {
      const value = known.get(PINO_LEVELS[level].label);
      return value === undefined ? [] : [[level, value]];
    });
    const isOrdered = named.every(([, value], at) => at === 0 || count(named[at - 1]![1]) < count(value));
    const { FATAL, TRACE } = PINO_LEVELS;
    const isStandard =
      this.enables(TRACE.value, FATAL.value) &&
      !this.enables(FATAL.value, TRACE.value) &&
      named.every(([level, value]) => value === PINO_LEVELS[level].value) &&
      labels.some(([, value]) => value >= TRACE.value && value <= FATAL.value);
    if (isOrdered && isStandard) return RECORD_LEVELS.map((level) => [level, PINO_LEVELS[level].value]);
    if (isOrdered && named.length > 0) return named;
    const ranked = labels.map(([, value]) => value).sort((one, other) => count(one) - count(other));
    const step = Math.max(1, (ranked.length - 1) / (RECORD_LEVELS.length - 1));
    return RECORD_LEVELS.slice(0, ranked.length).map((level, at) => [level, ranked[Math.round(at * step)]!]);
  }
}

/** The label of the most verbose threshold that lets no less severe records through, or else of the quietest one. */
function labelFor(level: Level, thresholds: readonly Threshold[]): string {
  const limit = levelVerbosity(level);
  const fitting = thresholds.filter(({ verbosity }) => verbosity <= limit);
  const most = (one: Threshold, other: Threshold) => (other.count > one.count ? other : one);
  const least = (one: Threshold, other: Threshold) => (other.count < one.count ? other : one);
  return (fitting.length > 0 ? fitting.reduce(most) : thresholds.reduce(least)).label;
}
