import { invalidDeclaration } from "./invalid.ts";

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi;
/** In a name with dots it cannot be known where the local part begins: the last word before the @ belongs to it. */
const EMAIL = /(?<![\w%+-])[\w%+-]{1,64}@[a-z0-9-]+(?:\.[a-z0-9-]+){0,4}?\.[a-z]{2,6}(?![\w-])/gi;
const HASH = /(?<![0-9a-z])(?=[a-f]*[0-9])[0-9a-f]{16,}(?![0-9a-z])/gi;
const ULID = /(?<![0-9a-z])(?=[a-z]*[0-9])[0-9a-hjkmnp-tv-z]{26}(?![0-9a-z])/gi;
const NUMBER = /(?<![\p{L}\d])\d{6,}(?![\p{L}\d])/gu;

/** What a name must have to match, which is quick to find out. */
const REQUIREMENTS: ReadonlyMap<RegExp, (name: string) => boolean> = new Map([
  [UUID, (name) => name.length >= 36],
  [EMAIL, (name) => name.includes("@")],
  [HASH, (name) => name.length >= 16],
  [ULID, (name) => name.length >= 26],
]);

/**
 * Names that are generated while the application runs, so that a graph with all of them would grow without end: server-named
 * queues and reply queues of RabbitMQ, inboxes of NATS, reply channels of NestJS; and in any name UUIDs, ULIDs, e-mail addresses,
 * hexadecimal hashes of 16 and more digits, and numbers of 6 and more digits.
 */
export const DEFAULT_TEMPORARY_NAMES: readonly TemporaryName[] = [
  "amq.gen-*",
  "amq.rabbitmq.reply-to*",
  "_INBOX.*",
  "*.reply",
  "*/reply",
  UUID,
  EMAIL,
  HASH,
  ULID,
  NUMBER,
];

/**
 * Which names are temporary. A string stands for whole names, with `*` for any part: all of them are shown as that string. Of a
 * regular expression, every match in a name is shown as `*`.
 */
export type TemporaryName = string | RegExp;

/**
 * Gives a name as it is shown: `amq.gen-*` for `amq.gen-mTT3`, `reply-*` for `reply-` and a UUID, any other name unchanged.
 *
 * @throws ActuatorError INVALID_ARGUMENT for a pattern that is empty or stands for every name.
 */
export function temporaryNames(patterns: readonly TemporaryName[] = DEFAULT_TEMPORARY_NAMES): (name: string) => string {
  const rules = patterns.map((pattern) => (typeof pattern === "string" ? wholeName(pattern) : parts(pattern)));
  return (name) => rules.reduce((shown, rule) => rule(shown), name);
}

function wholeName(pattern: string): (name: string) => string {
  const pieces = pattern.split("*");
  if (pieces.every((piece) => piece === ""))
    throw invalidDeclaration(`"${pattern}" must not stand for every name; name a part of it, such as reply-*`);
  const [start, ...rest] = pieces as [string, ...string[]];
  const end = rest.pop();
  if (end === undefined) return (name) => name;
  return (name) => (matches(name, start, rest, end) ? pattern : name);
}

/** Not a regular expression: those take long for some names, and names come from elsewhere. */
function matches(name: string, start: string, middle: readonly string[], end: string): boolean {
  if (name.length < start.length + end.length || !name.startsWith(start) || !name.endsWith(end)) return false;
  let at = start.length;
  for (const piece of middle) {
    const found = name.indexOf(piece, at);
    if (found < 0) return false;
    at = found + piece.length;
  }
  return at <= name.length - end.length;
}

function parts(pattern: RegExp): (name: string) => string {
  const all = pattern.global ? pattern : new RegExp(pattern, `${pattern.flags}g`);
  const mayMatch = REQUIREMENTS.get(pattern) ?? (() => true);
  return (name) => (mayMatch(name) ? name.replaceAll(all, "*") : name);
}
