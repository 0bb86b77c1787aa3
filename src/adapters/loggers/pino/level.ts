import { LEVELS, type Level } from "../../../loggers/level.ts";
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

/** From the most verbose level to OFF. */
const byValue = LEVELS.toReversed().map((level) => ({ level, value: PINO_LEVELS[level].value }));

/**
 * The label to set on a logger for a level. A logger with custom levels only may lack it; then it is the logger's next more
 * severe label.
 */
export function labelForLevel(logger: NativeLogger, level: Level): string {
  const { label, value } = PINO_LEVELS[level];
  const { values } = logger.levels;
  if (values[label] === value) return label;
  const severe = Object.entries(values).filter(([, custom]) => custom >= value);
  return severe.sort(([, a], [, b]) => a - b)[0]?.[0] ?? PINO_LEVELS.OFF.label;
}

/** The least verbose level that lets a record of this value through; undefined if none does. */
export function levelOfRecord(value: number): Level | undefined {
  return byValue.findLast((known) => known.value <= value && value < Number.POSITIVE_INFINITY)?.level;
}

/** The level to show for a numeric threshold: the most verbose level whose records all pass it. */
export function levelFromValue(threshold: number): Level {
  return byValue.find(({ value }) => value >= threshold)!.level;
}

/** pino's own method for setting a level. It gives the logger one method for each label, a noop if the level disables it. */
export type SetLevel = (this: NativeLogger, label: string) => void;

/** What a logger has while a level is its own. */
export interface LevelMethods {
  readonly value: number;
  readonly methods: readonly (readonly [label: string, method: unknown])[];
  readonly byLabel: ReadonlyMap<string, unknown>;
}

const known = new WeakMap<NativeLogger["levels"], Map<string, LevelMethods>>();

/**
 * The methods that pino gives a logger at a level. pino makes new functions each time. These are made once and shared by all
 * loggers with the same set of levels, so that a change over a hundred thousand loggers makes no garbage.
 */
export function levelMethods(
  { levelValue }: PinoCopy,
  setLevel: SetLevel,
  logger: NativeLogger,
  label: string,
): LevelMethods {
  let byLabel = known.get(logger.levels);
  if (byLabel === undefined) known.set(logger.levels, (byLabel = new Map()));
  let found = byLabel.get(label);
  if (found === undefined) byLabel.set(label, (found = makeMethods(levelValue, setLevel, logger, label)));
  return found;
}

function makeMethods(levelValue: symbol, setLevel: SetLevel, logger: NativeLogger, label: string): LevelMethods {
  const model = Object.create(logger) as NativeLogger;
  // The model is not a logger of the application: listeners of the real one must not get its "level-change".
  const silent = Object.assign(model, { emit: () => false });
  setLevel.call(silent, label);
  const methods = Object.entries(model).filter(([key]) => key !== "emit");
  return { value: model[levelValue] as number, methods, byLabel: new Map(methods) };
}
