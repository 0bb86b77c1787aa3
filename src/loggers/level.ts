import { inspect } from "node:util";
import { ActuatorError } from "../common/error.ts";

/** The seven levels in the order of the specification, section 2.1, from the least to the most verbose. */
export const LEVELS = ["OFF", "FATAL", "ERROR", "WARN", "INFO", "DEBUG", "TRACE"] as const;

/** A level of the specification. A logger lets records through that are at least as severe. */
export type Level = (typeof LEVELS)[number];

const verbosity = new Map<string, number>(LEVELS.map((level, index) => [level, index]));

/**
 * Checks a level that JavaScript code passed.
 *
 * @throws ActuatorError INVALID_ARGUMENT if it is not one of the seven, in upper case.
 */
export function checkLevel(level: Level): void {
  if (verbosity.has(level)) return;
  const message = `The level must be one of ${LEVELS.join(", ")}, not ${inspect(level, { depth: 0 })}.`;
  throw new ActuatorError("INVALID_ARGUMENT", "INVALID_LEVEL", message, { field: "level" });
}

/** The one of two levels that lets more through; the second if there is no first. */
export function moreVerbose(one: Level | undefined, other: Level): Level {
  return one !== undefined && levelVerbosity(one) >= levelVerbosity(other) ? one : other;
}

/** The rank of a level by how much it lets through: 0 for OFF, 6 for TRACE. */
export function levelVerbosity(level: Level): number {
  return verbosity.get(level)!;
}

/**
 * Reads a level as the REST contract does: it ignores case and all characters other than letters and digits (`debug`,
 * ` Debug `, `d-e_b u g`); `false` is OFF, as in YAML. Returns undefined for any other word.
 */
export function levelFromText(text: string): Level | undefined {
  const letters = text.replace(/[^\p{L}\p{N}]/gu, "");
  // Upper case would turn a dotless i into I and the ligature ﬀ into FF.
  if (!/^[a-z]+$/i.test(letters)) return undefined;
  const word = letters.toUpperCase();
  if (word === "FALSE") return "OFF";
  return verbosity.has(word) ? (word as Level) : undefined;
}
