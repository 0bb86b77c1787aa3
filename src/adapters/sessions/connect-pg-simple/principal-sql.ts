import type { PrincipalPaths } from "../../../sessions/principal.ts";
import { at, isArrayKey, isStorablePath, type Path } from "./path-sql.ts";
import { type RecordType, recordJson, unreadable } from "./record-sql.ts";
import { literal } from "./sql.ts";

/** What the index holds of a name: no row of it is too long for a page, however long the name. */
export const INDEXED_CHARACTERS = 256;

/** What the index holds in the place of a name that only `principalResolver` can tell; no name is this. */
export const ASK_THE_RESOLVER = "";

/** What in JSON is a text that is not empty, or a number. */
const NAME = '^(?:"[^"]|[-0-9]).*';

/** What is a number, but none of the whole numbers that JavaScript and PostgreSQL write alike. */
const UNPLAIN_NUMBER = '^(?!"|(?:0|-?(?:[1-8][0-9]{0,15}|9[0-9]{0,14}))$).*';

/**
 * Whose session a row of the table is, as an expression that an index can hold: what `principalResolver` of these paths
 * makes of the record, cut to 256 characters; NULL: nobody's; "": only the resolver can tell. It is immutable and fails
 * for no row that the table can have. It is also short: with every write the database copies and compiles it anew, which
 * takes longer than to evaluate it.
 */
export function principalExpression(paths: PrincipalPaths, record: RecordType): string {
  const name = firstOf(recordJson(record), paths.filter(isStorablePath));
  const text = `regexp_replace(${name}, ${literal(UNPLAIN_NUMBER)}, '""')::json #>> '{}'`;
  return `CASE WHEN ${unreadable(record)} THEN ${literal(ASK_THE_RESOLVER)} ELSE left(${text}, ${INDEXED_CHARACTERS}) END COLLATE "C"`;
}

/**
 * The first name at the paths, as JSON. Paths that follow each other and begin alike are looked at only where they begin
 * with an object, so that most records are gone through less often.
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

/** An object holds the longer paths, and a text or number is what the shortest leads to: never both. */
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

/** The value as JSON where it is a text that is not empty, or a number; otherwise NULL. */
export function nameIn(value: string): string {
  return `substring(${value}::text, ${literal(NAME)})`;
}
