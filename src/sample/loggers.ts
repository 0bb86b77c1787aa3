import pino, { type Logger } from "pino";
import { pinoLoggers } from "../adapters/loggers/pino/index.ts";

// Lines are pino's JSON, kept short: no process id and host name, and the level as a word.
const root = pino({
  base: null,
  timestamp: pino.stdTimeFunctions.isoTime,
  formatters: { level: (label) => ({ level: label }) },
});

/** The loggers of the application, for the actuator. It finds those that are made from here on. */
export const loggers = pinoLoggers(root);

/** A logger of its own name. The dots make the hierarchy: its level is that of the nearest ancestor that has one. */
export function logger(name: string): Logger {
  return root.child({ name });
}
