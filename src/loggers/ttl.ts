import { ActuatorError } from "../common/error.ts";
import { type Level, levelVerbosity } from "./level.ts";

/** How long levels last that are set from outside. */
export interface TtlOptions {
  /** What DEBUG and TRACE last where the caller does not say, in milliseconds. Default 10 minutes. */
  readonly defaultTtlMs?: number | undefined;
  /** The longest that DEBUG and TRACE may last, in milliseconds. Default 24 hours. */
  readonly maxTtlMs?: number | undefined;
  /** Whether a caller may ask for DEBUG and TRACE for ever, with a time of 0. Default false. */
  readonly allowForever?: boolean | undefined;
}

const UNITS = [
  ["h", 3_600_000],
  ["min", 60_000],
  ["s", 1_000],
] as const;

/** The longest time that any level may be set for. */
const LONGEST_MS = 365 * 24 * 3_600_000;

/**
 * How long a level lasts: milliseconds, or undefined for ever. `asked` is what the caller wants, 0 being for ever; undefined
 * leaves it to the options.
 *
 * @throws ActuatorError INVALID_ARGUMENT for a time that is negative, too long, or for ever where that is not allowed.
 */
export function ttlFor(level: Level, asked: number | undefined, options: TtlOptions): number | undefined {
  const verbose = isVerbose(level);
  const longest = longestFor(level, options);
  if (asked === undefined) return verbose ? Math.min(options.defaultTtlMs ?? 600_000, longest) : undefined;
  if (asked === 0) {
    if (!verbose || options.allowForever) return undefined;
    throw unfit(`${level} for ever is not allowed here: give a time of at most ${words(longest)}.`);
  }
  if (!(asked > 0)) throw unfit("The time is negative.");
  if (asked > longest) throw unfit(`${level} may last at most ${words(longest)}.`);
  return asked;
}

/**
 * How long a level may be held at most: milliseconds, or undefined for as long as whoever holds it does. `asked` as in
 * {@link ttlFor}, but where it is undefined DEBUG and TRACE may be held for as long as they may last at all.
 *
 * @throws ActuatorError INVALID_ARGUMENT as {@link ttlFor}.
 */
export function holdTtlFor(level: Level, asked: number | undefined, options: TtlOptions): number | undefined {
  if (asked !== undefined) return ttlFor(level, asked, options);
  return isVerbose(level) ? longestFor(level, options) : undefined;
}

function isVerbose(level: Level): boolean {
  return levelVerbosity(level) >= levelVerbosity("DEBUG");
}

function longestFor(level: Level, { maxTtlMs = 24 * 3_600_000 }: TtlOptions): number {
  return isVerbose(level) ? maxTtlMs : LONGEST_MS;
}

function words(milliseconds: number): string {
  const [unit, length] = UNITS.find(([, length]) => milliseconds % length === 0) ?? ["ms", 1];
  return `${milliseconds / length} ${unit}`;
}

function unfit(message: string): ActuatorError {
  return new ActuatorError("INVALID_ARGUMENT", "INVALID_TTL", message, { field: "ttl" });
}
