/** Whatever could end a line, hide text or turn it around: controls, formats, lone surrogates, separators. */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

/**
 * One line of JSON, with the keys that structured logs use: `level`, `time`, `name` and `msg` first. Whatever could end a line,
 * hide text or turn it around stands there escaped, for those who read it as text.
 *
 * @param time RFC 3339
 */
export function logLine(level: "info" | "warn" | "error", time: string, msg: string, rest: object): string {
  return JSON.stringify({ level, time, name: "connect-actuator", msg, ...rest }).replace(UNPRINTABLE, escaped);
}

function escaped(character: string): string {
  return Array.from({ length: character.length }, (_, at) => character.charCodeAt(at))
    .map((unit) => `\\u${unit.toString(16).padStart(4, "0")}`)
    .join("");
}
