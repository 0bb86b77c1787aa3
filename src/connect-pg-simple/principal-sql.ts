import type { PrincipalPaths } from "../sessions/principal.ts";
import { type RecordType, recordJson, unreadable } from "./record-sql.ts";
import { isStorable, literal } from "./sql.ts";

/** What the index holds of a name: no row of it is too long for a page, however long the name. */
export const INDEXED_CHARACTERS = 256;

/** What the index holds in the place of a name that only `principalResolver` can tell; no name is this. */
export const ASK_THE_RESOLVER = "";

type Path = readonly string[];

/** The whole numbers that JavaScript and PostgreSQL write alike. */
const PLAIN_NUMBER = "^(0|-?([1-8][0-9]{0,15}|9[0-9]{0,14}))$";

/**
 * Whose session a row of the table is, as an expression that an index can hold: what `principalResolver` of these paths
 * makes of the record, cut to 256 characters; NULL: nobody's; "": only the resolver can tell. It is immutable and fails
 * for no row that the table can have.
 */
export function principalExpression(paths: PrincipalPaths, record: RecordType): string {
  const principal = firstOf(recordJson(record), paths.filter(isStorablePath));
  return `CASE WHEN ${unreadable(record)} THEN ${literal(ASK_THE_RESOLVER)} ELSE left(${principal}, ${INDEXED_CHARACTERS}) END COLLATE "C"`;
}

/** What stands at each of the paths where that may be a name, as a JSON array; null: nothing that could. */
export function principalValues(paths: PrincipalPaths, record: RecordType): string {
  const values = paths.map((path) => {
    if (!isStorablePath(path)) return "NULL";
    const value = path.reduce(member, recordJson(record));
    return `CASE WHEN json_typeof(${value}) IN ('string', 'number') THEN ${value} END`;
  });
  return `json_build_array(${values.join(", ")})`;
}

/**
 * Paths that begin alike and follow each other share a CASE: what they begin with is either a name itself or holds
 * the others.
 */
function firstOf(value: string, paths: readonly Path[]): string {
  const choices: string[] = [];
  for (let at = 0; at < paths.length; ) {
    const key = paths[at]![0]!;
    const run = paths.slice(at).findIndex((path) => path[0] !== key);
    const alike = run < 0 ? paths.slice(at) : paths.slice(at, at + run);
    choices.push(
      choice(
        member(value, key),
        alike.map((path) => path.slice(1)),
      ),
    );
    at += alike.length;
  }
  return choices.length === 1 ? choices[0]! : `coalesce(${choices.join(", ")}, NULL::text)`;
}

function choice(value: string, rests: readonly Path[]): string {
  const text = `${value} #>> '{}'`;
  const deeper = rests.filter((rest) => rest.length > 0);
  const inArray = deeper.filter(([key]) => isArrayKey(key!));
  const cases = [
    ...(deeper.length === rests.length
      ? []
      : [
          `WHEN 'string' THEN nullif(${text}, '')`,
          `WHEN 'number' THEN CASE WHEN ${text} ~ ${literal(PLAIN_NUMBER)} THEN ${text} ELSE ${literal(ASK_THE_RESOLVER)} END`,
        ]),
    ...(deeper.length === 0 ? [] : [`WHEN 'object' THEN ${firstOf(value, deeper)}`]),
    ...(inArray.length === 0 ? [] : [`WHEN 'array' THEN ${firstOf(value, inArray)}`]),
  ];
  return `CASE json_typeof(${value}) ${cases.join(" ")} END`;
}

/** A property, as JavaScript has it: arrays have their places and their length. */
function member(value: string, key: string): string {
  const property = `(${value} -> ${literal(key)})`;
  if (!isArrayKey(key)) return property;
  const element = key === "length" ? `json_array_length(${value})::text::json` : `${value} -> ${key}`;
  return `(CASE json_typeof(${value}) WHEN 'array' THEN ${element} ELSE ${property} END)`;
}

/** A greater place than 999,999,999 no array in a record has. */
function isArrayKey(key: string): boolean {
  return key === "length" || /^(0|[1-9]\d{0,8})$/.test(key);
}

function isStorablePath(path: Path): boolean {
  return path.every(isStorable);
}
