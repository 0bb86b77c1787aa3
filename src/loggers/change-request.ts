import { ActuatorError } from "../common/error.ts";
import type { Override } from "./override.ts";

/** Who changes a level, and on what condition. */
export interface ChangeRequest {
  /** The change is made only where this is the current revision. */
  readonly ifRevision?: number | undefined;
  /** Who asks for it. */
  readonly actor?: string | undefined;
  /** Why, in at most 1,000 characters. */
  readonly reason?: string | undefined;
}

/** How a level is set. */
export interface SetRequest extends ChangeRequest {
  /**
   * How long the level lasts, in milliseconds: it then goes back to what was there before the first temporary one. 0 is for
   * ever, where the options allow it; "default" is what they say for the level; undefined, for ever whatever they say.
   */
  readonly ttlMs?: number | "default" | undefined;
}

/** How a level is held. */
export interface HoldRequest extends ChangeRequest {
  /**
   * How long the level is held at most, in milliseconds. 0 is for as long as the lease, where the options allow that;
   * undefined, for as long as they allow for the level.
   */
  readonly ttlMs?: number | undefined;
}

/** The longest reason, in UTF-16 code units. */
const MAX_REASON_LENGTH = 1_000;

/**
 * @throws ActuatorError INVALID_ARGUMENT for a reason over 1,000 characters or with a control character, FAILED_PRECONDITION where the request is for
 *   another revision than the current one.
 */
export function checkRequest({ reason = "", ifRevision }: ChangeRequest, revision: number): void {
  if (reason.length > MAX_REASON_LENGTH || /\p{Cc}/u.test(reason)) {
    const message = `The reason is longer than ${MAX_REASON_LENGTH} characters, or has a control character.`;
    throw new ActuatorError("INVALID_ARGUMENT", "INVALID_REASON", message, { field: "reason" });
  }
  if (ifRevision === undefined || ifRevision === revision) return;
  const message = `The revision is ${revision}, not ${ifRevision}: somebody changed a logger in between. Read it again.`;
  throw new ActuatorError("FAILED_PRECONDITION", "REVISION_CHANGED", message, { field: "if_revision" });
}

/** What is noted of a level that is set now; `ttl` in milliseconds. `held`: by somebody who may let go of it. */
export function overrideOf(
  { actor = "", reason = "" }: ChangeRequest,
  ttl: number | undefined,
  instance: string,
  held: boolean,
): Override {
  const setTime = Date.now();
  const expireTime = ttl === undefined ? undefined : setTime + ttl;
  return { setTime, expireTime, actor, reason, instance, ...(held && { held }) };
}
