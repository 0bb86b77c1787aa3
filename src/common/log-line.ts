import { printable } from "./printable.ts";

/**
 * Writes one line of JSON with the keys that structured logs use: `level`, `time`, `name` and `msg` first. Characters that could end the
 * line or hide text are escaped, for readers who see it as text.
 *
 * @param time RFC 3339
 */
export function logLine(level: "info" | "warn" | "error", time: string, msg: string, rest: object): string {
  return printable(JSON.stringify({ level, time, name: "connect-actuator", msg, ...rest }));
}
