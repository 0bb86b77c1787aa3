import { isStorable, literal } from "./sql.ts";

/** Where something stands in a record. */
export type Path = readonly string[];

/** What stands at a path below `value`, as JavaScript has it: arrays have their places and their length. */
export function at(value: string, path: Path): string {
  // In one go, unless PostgreSQL could take a key for a place in an array: it counts some from the end.
  if (path.length > 1 && !path.some((key) => /\d/.test(key) || isArrayKey(key))) {
    return `(${value} #> ARRAY[${path.map(literal).join(", ")}])`;
  }
  return path.reduce(member, value);
}

function member(value: string, key: string): string {
  const property = `(${value} -> ${literal(key)})`;
  if (!isArrayKey(key)) return property;
  const element = key === "length" ? `json_array_length(${value})::text::json` : `${value} -> ${key}`;
  return `(CASE json_typeof(${value}) WHEN 'array' THEN ${element} ELSE ${property} END)`;
}

/** A greater place than 999,999,999 no array in a record has. */
export function isArrayKey(key: string): boolean {
  return key === "length" || /^(0|[1-9]\d{0,8})$/.test(key);
}

export function isStorablePath(path: Path): boolean {
  return path.every(isStorable);
}
