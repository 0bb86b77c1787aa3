import { ActuatorError } from "../common/error.ts";
import { type Level, levelVerbosity } from "./level.ts";
import type { TtlOptions } from "./options.ts";
import type { Override } from "./setting.ts";

/** Who changes a level, why, and on what condition. */
export interface ChangeRequest {
  /** Makes the change only if this is the current revision. */
  readonly ifRevision?: number | undefined;
  /** The caller. */
  readonly actor?: string | undefined;
  /** The reason, at most 1,000 characters. */
  readonly reason?: string | undefined;
}

/** How a level is set. */
export interface SetRequest extends ChangeRequest {
  /**
   * How long the level lasts; then the level from before the first temporary one comes back. 0 means no end, if the options allow
   * it. "default" means what the options say for the level. Undefined means no end, whatever the options say.
   */
  readonly ttlMs?: number | "default" | undefined;
}

/** How a level is held. */
export interface HoldRequest extends ChangeRequest {
  /**
   * How long the level is held at most. 0 means as long as the lease, if the options allow it. Undefined means as long as the
   * options allow for the level.
   */
  readonly ttlMs?: number | undefined;
  /**
   * Whether temporary levels that let more through stay in force, and the held one applies when they end. Default false: the held one
   * applies.
   */
  readonly isBeneath?: boolean | undefined;
}

/** Counted in UTF-16 code units. */
const MAX_REASON_LENGTH = 1_000;

/**
 * Checks the reason and the revision of a request.
 *
 * @throws ActuatorError INVALID_ARGUMENT for a reason over 1,000 characters or with a control character, FAILED_PRECONDITION if
 *   `ifRevision` is not the current revision.
 */
export function checkRequest({ reason = "", ifRevision }: ChangeRequest, revision: number): void {
  if (reason.length > MAX_REASON_LENGTH || /\p{Cc}/u.test(reason)) {
    const message = `The reason is longer than ${MAX_REASON_LENGTH} characters, or has a control character.`;
    throw new ActuatorError("INVALID_ARGUMENT", "INVALID_REASON", message, { field: "reason" });
  }
  if (ifRevision === undefined || ifRevision === revision) return;
  const message = `The revision is ${revision}, not ${ifRevision}, because a logger was changed in between. Read it again.`;
  throw new ActuatorError("FAILED_PRECONDITION", "REVISION_CHANGED", message, { field: "if_revision" });
}

/** The override of a level that is set now. `held` says whether the caller may release it. */
export function overrideOf(
  { actor = "", reason = "" }: ChangeRequest,
  ttlMs: number | undefined,
  instance: string,
  held: boolean,
): Override {
  const setTime = Date.now();
  const expireTime = ttlMs === undefined ? undefined : setTime + ttlMs;
  return { setTime, expireTime, actor, reason, instance, ...(held && { held }) };
}

const UNITS = [
  ["h", 3_600_000],
  ["min", 60_000],
  ["s", 1_000],
] as const;

/** The maximum for every level. */
const MAX_MS = 365 * 24 * 3_600_000;

/**
 * Returns how long a level lasts; undefined for no end. `asked` is what the caller wants, with 0 for no end; undefined leaves it
 * to the options.
 *
 * @throws ActuatorError INVALID_ARGUMENT for a time that is negative or too long, or without an end if that is not allowed.
 */
export function ttlFor(level: Level, asked: number | undefined, options: TtlOptions): number | undefined {
  const verbose = isVerbose(level);
  const longest = longestFor(level, options);
  if (asked === undefined) return verbose ? Math.min(options.defaultTtlMs ?? 600_000, longest) : undefined;
  if (asked === 0) {
    if (!verbose || options.allowForever) return undefined;
    throw invalidTtl(`${level} without an end is not allowed; give a time of at most ${inWords(longest)}.`);
  }
  if (!(asked > 0)) throw invalidTtl("The time is negative.");
  if (asked > longest) throw invalidTtl(`${level} may last at most ${inWords(longest)}.`);
  return asked;
}

/**
 * Returns how long a level may be held at most; undefined for no limit. `asked` is as in {@link ttlFor}, but undefined means as
 * long as DEBUG and TRACE may last at all.
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
  return isVerbose(level) ? maxTtlMs : MAX_MS;
}

function inWords(ms: number): string {
  const [unit, length] = UNITS.find(([, length]) => ms % length === 0) ?? ["ms", 1];
  return `${ms / length} ${unit}`;
}

function invalidTtl(message: string): ActuatorError {
  return new ActuatorError("INVALID_ARGUMENT", "INVALID_TTL", message, { field: "ttl" });
}
