import { ActuatorError } from "../common/error.ts";

/** The error for a name, a property or another part of a declaration that a graph cannot take. `message` says what it must be. */
export function invalidDeclaration(message: string): ActuatorError {
  return new ActuatorError("INVALID_ARGUMENT", "INVALID_DECLARATION", message);
}

/** The error for a name that is declared, or used, as a component of another pattern. */
export function patternConflict(message: string): ActuatorError {
  return new ActuatorError("FAILED_PRECONDITION", "PATTERN_CONFLICT", message);
}
