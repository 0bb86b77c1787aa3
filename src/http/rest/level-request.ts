import { ActuatorError } from "../../common/error.ts";
import { LEVELS, type Level, levelFromText } from "../../loggers/level.ts";

/**
 * The level that the body of a change asks for: a level to set, or undefined to clear. A missing body, null, and an object
 * whose `configuredLevel` is missing, null or blank clear; `false` is OFF, as YAML writers mean it.
 *
 * @throws ActuatorError INVALID_ARGUMENT for anything else.
 */
export function levelFromBody(body: unknown): Level | undefined {
  if (body === undefined || body === null) return undefined;
  if (typeof body !== "object" || Array.isArray(body)) throw unfit("The body must be a JSON object.");
  const value = Object.hasOwn(body, "configuredLevel") ? (body as { configuredLevel: unknown }).configuredLevel : null;
  if (value === null) return undefined;
  if (value === false) return "OFF";
  if (typeof value !== "string") throw unfit(RULE);
  if (value.trim() === "") return undefined;
  const level = value.isWellFormed() ? levelFromText(value) : undefined;
  if (level === undefined) throw unfit(RULE);
  return level;
}

const RULE = `configuredLevel must be one of ${LEVELS.join(", ")}, or null to inherit.`;

function unfit(message: string): ActuatorError {
  return new ActuatorError("INVALID_ARGUMENT", "INVALID_LEVEL", message, { field: "configuredLevel" });
}
