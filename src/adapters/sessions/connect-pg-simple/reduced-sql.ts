import type { PrincipalPaths } from "../../../sessions/principal.ts";
import { at, isArrayKey, isStorablePath, type Path } from "./path-sql.ts";
import { nameIn } from "./principal-sql.ts";
import { type RecordType, recordJson } from "./record-sql.ts";
import { literal } from "./sql.ts";

/** What a session's age and expiry are read from. The middleware writes it, and nothing large. */
const COOKIE = "json_build_object('originalMaxAge', value -> 'originalMaxAge', 'expires', value -> 'expires')";

/**
 * The record with all its names and, of its values, only the texts and numbers at these paths and in its cookie: whoever
 * reads it finds the same names, times and principal. It takes the record apart once, since that is what costs. NULL: it is
 * no object.
 */
export function reducedRecord(paths: PrincipalPaths, record: RecordType): string {
  const storable = paths.filter(isStorablePath);
  const cookieRests = restsOf(storable, "cookie");
  const cookie =
    cookieRests.length === 0 ? COOKIE : reduced("value", [...cookieRests, ["originalMaxAge"], ["expires"]]);
  const keys = [...new Set(storable.map(([key]) => key!))].filter((key) => key !== "cookie");
  const cases = [
    `WHEN 'cookie' THEN ${cookie}`,
    ...keys.map((key) => `WHEN ${literal(key)} THEN ${reduced("value", restsOf(storable, key))}`),
  ];
  const json = recordJson(record);
  return `CASE json_typeof(${json}) WHEN 'object' THEN (SELECT json_object_agg(key, CASE key ${cases.join(" ")} END) FROM json_each(${json})) END`;
}

function reduced(value: string, rests: readonly Path[]): string {
  const deeper = rests.filter((rest) => rest.length > 0);
  const itself = deeper.length < rests.length ? `${nameIn(value)}::json` : undefined;
  if (deeper.length === 0) return itself!;
  const keys = [...new Set(deeper.map(([key]) => key!))];
  const places = keys.filter(isArrayKey);
  // An object with its places for names serves as the array.
  const array = places.length === 0 ? "" : ` WHEN 'array' THEN ${objectOf(value, deeper, places)}`;
  const other = itself === undefined ? "" : ` ELSE ${itself}`;
  return `CASE json_typeof(${value}) WHEN 'object' THEN ${objectOf(value, deeper, keys)}${array}${other} END`;
}

function objectOf(value: string, paths: readonly Path[], keys: readonly string[]): string {
  const entries = keys.map((key) => `${literal(key)}, ${reduced(at(value, [key]), restsOf(paths, key))}`);
  return `json_build_object(${entries.join(", ")})`;
}

function restsOf(paths: readonly Path[], key: string): readonly Path[] {
  return paths.filter(([first]) => first === key).map((path) => path.slice(1));
}
