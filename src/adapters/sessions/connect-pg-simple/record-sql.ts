import type { PrincipalPaths } from "../../../sessions/principal.ts";
import { at, isArrayKey, isStorablePath, literal, type Path } from "./sql.ts";

/** How a table types its records. */
export interface RecordType {
  /** The type of the column `sess`. */
  readonly type: "json" | "jsonb";
  /** Whether the database encodes strings in UTF-8, and so has every character. */
  readonly utf8: boolean;
}

/** Returns the record as `json`, whose functions keep every number as it was written. */
export function recordJson({ type }: RecordType): string {
  return type === "json" ? "sess" : "sess::json";
}

const MAX_BYTES = 16 * 1024 * 1024;

/**
 * Returns a condition that holds if the server may fail to take apart a record that it accepted: an index over its parts
 * would then make the application's own INSERT fail. Such records have escapes of U+0000, of halves of surrogate pairs or,
 * if the database is not in UTF-8, of any character; are nested so deeply that the server's stack only just sufficed to
 * check them (about 14,000 levels at its default of 2 MB, each of at least two bytes); or are too large for a regular
 * expression.
 *
 * @param text the record as a string
 */
export function unreadable({ utf8 }: RecordType, text = "sess::text"): string {
  const escapes = literal(utf8 ? "\\\\u(0000|[dD][89a-fA-F])" : "\\\\u");
  const bytes = `octet_length(${text})`;
  const containers = `${bytes} - octet_length(replace(replace(${text}, '[', ''), '{', ''))`;
  return [
    `${bytes} > 20000 AND (${bytes} > ${MAX_BYTES} OR ${containers} > 5000)`,
    // LIKE, since most records have no escape: it takes half as long as strpos.
    `${text} LIKE ${literal("%\\\\u%")} AND ${text} ~ ${escapes}`,
  ].join(" OR ");
}

/** How much of a name the index holds, so that no row is too long for a page, however long the name. */
export const INDEXED_CHARACTERS = 256;

/** What the index holds instead of a name that only `principalResolver` can find; no name is empty. */
export const ASK_THE_RESOLVER = "";

/** Matches a non-empty string or a number in JSON. */
const NAME = '^(?:"[^"]|[-0-9]).*';

/** Matches a number other than the integers that JavaScript and PostgreSQL write alike. */
const UNPLAIN_NUMBER = '^(?!"|(?:0|-?(?:[1-8][0-9]{0,15}|9[0-9]{0,14}))$).*';

/**
 * Returns an expression for a session's user that an index can hold: what `principalResolver` of these paths finds in the
 * record, cut to 256 characters; NULL: no user; "": only the resolver can tell. It is immutable and fails for no row that
 * the table can have. It is also short: with every write the database copies and compiles it again, which takes longer than
 * evaluating it.
 */
export function principalExpression(paths: PrincipalPaths, record: RecordType): string {
  const name = firstOf(recordJson(record), paths.filter(isStorablePath));
  const text = `regexp_replace(${name}, ${literal(UNPLAIN_NUMBER)}, '""')::json #>> '{}'`;
  return `CASE WHEN ${unreadable(record)} THEN ${literal(ASK_THE_RESOLVER)} ELSE left(${text}, ${INDEXED_CHARACTERS}) END COLLATE "C"`;
}

/**
 * Returns the first name at the paths, as JSON. Consecutive paths with the same first key are evaluated only if it leads to
 * an object, so that most records are traversed less often.
 */
function firstOf(record: string, paths: readonly Path[]): string {
  const names: string[] = [];
  for (let from = 0; from < paths.length; ) {
    const key = paths[from]![0]!;
    const run = paths.slice(from).findIndex((path) => path[0] !== key);
    const alike = run < 0 ? paths.slice(from) : paths.slice(from, from + run);
    const deeper = alike.filter((path) => path.length > 1).length;
    names.push(...(deeper > 1 ? [firstBelow(record, key, alike)] : alike.map((path) => nameAt(record, path))));
    from += alike.length;
  }
  return `coalesce(${[...names, "NULL::text"].join(", ")})`;
}

/** Only an object has the longer paths, and only a string or number is the shortest one: never both. */
function firstBelow(record: string, key: string, paths: readonly Path[]): string {
  const deeper = paths.filter((path) => path.length > 1);
  const held = `coalesce(${deeper.map((path) => nameAt(record, path)).join(", ")})`;
  const inArray = deeper.some(([, next]) => isArrayKey(next!)) ? ` WHEN 'array' THEN ${held}` : "";
  const itself = deeper.length < paths.length ? ` ELSE ${nameAt(record, [key])}` : "";
  return `CASE json_typeof(${at(record, [key])}) WHEN 'object' THEN ${held}${inArray}${itself} END`;
}

function nameAt(record: string, path: Path): string {
  return nameIn(at(record, path));
}

/** Returns the value as JSON if it is a non-empty string or a number; otherwise NULL. */
function nameIn(value: string): string {
  return `substring(${value}::text, ${literal(NAME)})`;
}

/**
 * Returns the record with all its names and, of its values, only the cookie and the strings and numbers at these paths: it
 * has the same names, times and user. It takes the record apart once, since that is the cost. NULL: not an object.
 *
 * The cookie is small and holds only settings, which the middleware writes: picking two of them would cost a quarter of all
 * the rest.
 */
export function reducedRecord(paths: PrincipalPaths, record: RecordType): string {
  const storable = paths.filter(isStorablePath);
  const keys = [...new Set(storable.map(([key]) => key!))].filter((key) => key !== "cookie");
  const cases = [
    "WHEN 'cookie' THEN value",
    ...keys.map((key) => `WHEN ${literal(key)} THEN ${reduced("value", restsOf(storable, key))}`),
  ];
  const json = recordJson(record);
  return `CASE json_typeof(${json}) WHEN 'object' THEN (SELECT json_object_agg(key, CASE key ${cases.join(" ")} END) FROM json_each(${json})) END`;
}

/** Returns what a value holds at the rests of paths: strings and numbers. A regular expression would cost more than types do. */
function reduced(value: string, rests: readonly Path[]): string {
  const deeper = rests.filter((rest) => rest.length > 0);
  const keys = [...new Set(deeper.map(([key]) => key!))];
  const places = keys.filter(isArrayKey);
  const cases = [
    ...(deeper.length < rests.length ? [`WHEN 'string' THEN ${value} WHEN 'number' THEN ${value}`] : []),
    ...(deeper.length > 0 ? [`WHEN 'object' THEN ${objectOf(value, deeper, keys)}`] : []),
    // An object with the indexes as names serves as the array.
    ...(places.length > 0 ? [`WHEN 'array' THEN ${objectOf(value, deeper, places)}`] : []),
  ];
  const byType = `CASE json_typeof(${value}) ${cases.join(" ")} END`;
  const [key] = keys;
  const isUsual = keys.length === 1 && /^[a-zA-Z0-9]+$/.test(key!) && deeper.some((rest) => rest.length === 1);
  return isUsual ? `CASE WHEN ${holdsOnly(value, key!)} THEN ${value} ELSE ${byType} END` : byType;
}

/**
 * Returns a condition that holds if the value is an object with this key and a string without quotes, and nothing else: what
 * Passport writes. It is evaluated in a tenth of the time that taking the object apart takes.
 *
 * @param key without characters that LIKE or JSON escapes
 */
function holdsOnly(value: string, key: string): string {
  const alone = (string: string) => `'{"${key}":"${string}"}'`;
  return `${value}::text LIKE ${alone("%")} AND ${value}::text NOT LIKE ${alone('%"%')}`;
}

function objectOf(value: string, paths: readonly Path[], keys: readonly string[]): string {
  const entries = keys.map((key) => `${literal(key)}, ${reduced(at(value, [key]), restsOf(paths, key))}`);
  return `json_build_object(${entries.join(", ")})`;
}

function restsOf(paths: readonly Path[], key: string): readonly Path[] {
  return paths.filter(([first]) => first === key).map((path) => path.slice(1));
}

/**
 * The 16 bytes of `sessionDigest`, as an expression that an index can hold. It takes the id's own bytes, which are UTF-8
 * only in a database of that encoding. Unlike `convert_to`, escaping them for `decode` is immutable, and it fails for no id.
 */
export const DIGEST_EXPRESSION = `substring(sha256(decode(replace(sid, ${literal("\\")}, ${literal("\\\\")}), 'escape')) from 1 for 16)`;
