import { ActuatorError } from "../common/error.ts";

/** The reason for whoever showed nothing that could be right or wrong. */
export const CREDENTIALS_MISSING = "CREDENTIALS_MISSING";

/** What somebody is told who showed something that does not let them in. Never repeats any of it. */
export function refusal(message: string, reason = "CREDENTIALS_INVALID"): ActuatorError {
  return new ActuatorError("UNAUTHENTICATED", reason, message);
}
