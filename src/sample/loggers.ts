import pino, { type Logger } from "pino";
import { pinoLoggers } from "../adapters/loggers/pino/index.ts";

// The JSON of pino, short: without process id and host name, the level as a word.
const root = pino({
  base: null,
  timestamp: pino.stdTimeFunctions.isoTime,
  formatters: { level: (label) => ({ level: label }) },
});

/** The loggers of the application, for the actuator. Those created from here on are found. */
export const loggers = pinoLoggers(root);

/** Creates a logger. Dots in its name make the hierarchy: it inherits the level of its nearest configured ancestor. */
export function logger(name: string): Logger {
  return root.child({ name });
}
