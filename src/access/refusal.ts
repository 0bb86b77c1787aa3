import { ActuatorError } from "../error.ts";

/** What somebody is told who showed something that does not let them in. Never repeats any of it. */
export function refusal(message: string, reason = "CREDENTIALS_INVALID"): ActuatorError {
  return new ActuatorError("UNAUTHENTICATED", reason, message);
}
