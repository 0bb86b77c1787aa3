import type { Level } from "../../../loggers/level.ts";
import type { NativeLogger } from "./native.ts";

/** pino's labels and numbers for the seven levels. */
const PINO_LEVELS: Readonly<Record<Level, { readonly label: string; readonly value: number }>> = {
  OFF: { label: "silent", value: Number.POSITIVE_INFINITY },
  FATAL: { label: "fatal", value: 60 },
  ERROR: { label: "error", value: 50 },
  WARN: { label: "warn", value: 40 },
  INFO: { label: "info", value: 30 },
  DEBUG: { label: "debug", value: 20 },
  TRACE: { label: "trace", value: 10 },
};

const byValue = (Object.entries(PINO_LEVELS) as [Level, { value: number }][]).sort(([, a], [, b]) => a.value - b.value);

/** The label to set on the logger for a level: its own, or with custom levels only, the next more severe one it has. */
export function labelForLevel(logger: NativeLogger, level: Level): string {
  const { label, value } = PINO_LEVELS[level];
  const { values } = logger.levels;
  if (values[label] === value) return label;
  const severe = Object.entries(values).filter(([, custom]) => custom >= value);
  return severe.sort(([, a], [, b]) => a - b)[0]?.[0] ?? PINO_LEVELS.OFF.label;
}

/** The least verbose level that lets a record of this value through; undefined where none does. */
export function levelOfRecord(value: number): Level | undefined {
  return byValue.findLast((known) => known[1].value <= value && value < Number.POSITIVE_INFINITY)?.[0];
}

/** The level that a numeric threshold of pino amounts to: the most verbose one that passes it. */
export function levelFromValue(threshold: number): Level {
  return byValue.find(([, { value }]) => value >= threshold)![0];
}
