import { ActuatorError } from "../common/error.ts";
import { LEVELS, levelVerbosity } from "../loggers/level.ts";
import type { Loggers } from "../loggers/loggers.ts";
import { dotted, isAtOrBelow, loggerName, ROOT } from "../loggers/name.ts";
import type { LogQuery } from "./query.ts";
import type { LogRecord } from "./record.ts";

const WILDCARD = ".*";
const MAX_NAMES = 100;
const MAX_FIELDS = 20;
const MAX_TEXT = 1_000;

/** The name before the wildcard of `orders.*`; undefined for a name without one. */
export function prefixOf(name: string): string | undefined {
  return name.endsWith(WILDCARD) ? loggerName(name.slice(0, -WILDCARD.length)) : undefined;
}

/** Which records a tail receives. */
export class RecordFilter {
  /** The `levelVerbosity` of the most verbose records. */
  readonly verbosity: number;
  /** The same for filters that select the same records. */
  readonly key: string;
  readonly #names: ReadonlySet<string>;
  readonly #prefixes: readonly string[];
  readonly #isAll: boolean;
  readonly #reach: readonly string[] | undefined;
  readonly #contains: string;
  readonly #fields: readonly (readonly [path: readonly string[], dotted: string, value: string])[];

  /** @throws ActuatorError INVALID_ARGUMENT for a condition that cannot be used. */
  constructor(query: LogQuery, loggers: Loggers) {
    const { names = [], level = "TRACE", contains = "", fields = {}, reach } = query;
    if (names.length > MAX_NAMES) throw invalid("names", `At most ${MAX_NAMES} names can be given.`);
    if (!LEVELS.includes(level) || level === "OFF") {
      throw invalid("level", `The level must be one of ${LEVELS.slice(1).join(", ")}.`);
    }
    const conditions = Object.entries(fields).sort(([one], [other]) => (one < other ? -1 : 1));
    if (conditions.length > MAX_FIELDS) throw invalid("fields", `At most ${MAX_FIELDS} fields can be given.`);
    for (const [field, texts] of [["contains", [contains]] as const, ["fields", conditions.flat()] as const]) {
      if (texts.every((text) => typeof text === "string" && text.length <= MAX_TEXT)) continue;
      throw invalid(field, `A text to look for has at most ${MAX_TEXT} characters.`);
    }
    const members = names.flatMap((name) => (prefixOf(name) === undefined ? loggers.reach(name) : [name]));
    this.#prefixes = members.map(prefixOf).filter((prefix) => prefix !== undefined);
    this.#names = new Set(members.filter((name) => prefixOf(name) === undefined).map(loggerName));
    this.#isAll = names.length === 0;
    this.#reach = reach;
    this.verbosity = levelVerbosity(level);
    this.#contains = contains.toLowerCase();
    this.#fields = conditions.map(([path, value]) => [path.split("."), path, value]);
    this.key = JSON.stringify([names, level, this.#contains, conditions, reach]);
  }

  /** Whether it selects the records of a logger. */
  selects(text: string): boolean {
    const name = loggerName(text);
    if (this.#reach?.some((above) => isAtOrBelow(name, above)) === false) return false;
    return this.#isAll || this.#names.has(name) || this.#prefixes.some((prefix) => isBelow(name, prefix));
  }

  /** Whether a record of a selected logger meets the other conditions. */
  matches(record: LogRecord): boolean {
    return this.#hasText(record) && this.#fields.every(([path, name, value]) => textAt(record, path, name) === value);
  }

  #hasText({ message, fields, error }: LogRecord): boolean {
    const text = this.#contains;
    if (text === "") return true;
    const has = (part: string | undefined) => part?.toLowerCase().includes(text) === true;
    return has(message) || has(error?.type) || has(error?.message) || has(error?.stack) || has(JSON.stringify(fields));
  }
}

function isBelow(name: string, prefix: string): boolean {
  return prefix === ROOT ? name !== ROOT : name.startsWith(`${dotted(prefix)}.`);
}

/** The value at a path as text. A name with dots may be that of one field. */
function textAt({ fields }: LogRecord, path: readonly string[], name: string): string | undefined {
  let value: unknown = Object.hasOwn(fields, name) ? fields[name] : fields;
  if (value === fields) {
    for (const key of path) {
      if (typeof value !== "object" || value === null || !Object.hasOwn(value, key)) return undefined;
      value = (value as Record<string, unknown>)[key];
    }
  }
  return typeof value === "string" ? value : JSON.stringify(value);
}

function invalid(field: string, message: string): ActuatorError {
  return new ActuatorError("INVALID_ARGUMENT", "INVALID_QUERY", message, { field });
}
