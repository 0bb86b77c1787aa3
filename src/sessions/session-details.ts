import { ActuatorError } from "../common/error.ts";
import { isSessionId } from "./session-id.ts";

/** What an application says of a session that it puts into an in-memory store. */
export interface SessionDetails {
  /** Default: a random UUID. At most 512 UTF-16 code units without control characters. */
  readonly id?: string | undefined;
  /** Whose session it is, where somebody is logged in. */
  readonly username?: string | undefined;
  /** Names of what the application keeps in the session. Default: none. */
  readonly attributeNames?: readonly string[] | undefined;
  /** Whole seconds of inactivity until it expires; negative: never. Default: the store's. */
  readonly maxInactiveInterval?: number | undefined;
  /** Milliseconds since the epoch. Default: what it was before, or now. */
  readonly creationTime?: number | undefined;
  /** Milliseconds since the epoch. Default: now. */
  readonly lastAccessedTime?: number | undefined;
}

/** @throws ActuatorError INVALID_ARGUMENT for an unfit id, interval or time. */
export function checkDetails({ id, maxInactiveInterval, creationTime, lastAccessedTime }: SessionDetails): void {
  if (id !== undefined && !isSessionId(id)) {
    throw unfit("id", "1 to 512 characters without control characters");
  }
  if (maxInactiveInterval !== undefined && !Number.isSafeInteger(maxInactiveInterval)) {
    throw unfit("maxInactiveInterval", "whole seconds");
  }
  for (const [field, time] of Object.entries({ creationTime, lastAccessedTime })) {
    if (time !== undefined && Number.isNaN(new Date(time).getTime())) {
      throw unfit(field, "milliseconds since the epoch");
    }
  }
}

function unfit(field: string, shape: string): ActuatorError {
  return new ActuatorError("INVALID_ARGUMENT", "SESSION_UNFIT", `A session's ${field} must be ${shape}.`, { field });
}
