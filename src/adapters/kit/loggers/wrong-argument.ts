import { inspect } from "node:util";
import { ActuatorError } from "../../../common/error.ts";

/**
 * The error for an argument that an application passed to an adapter. `expected` is a sentence without its full stop, such as
 * "pinoLoggers needs a logger made by pino, such as pino()"; the value that was passed is added.
 */
export function wrongArgument(reason: string, expected: string, value: unknown): ActuatorError {
  const shown = inspect(value, { depth: -1, customInspect: false, maxStringLength: 40 });
  return new ActuatorError("INVALID_ARGUMENT", reason, `${expected}, not ${shown}.`);
}
