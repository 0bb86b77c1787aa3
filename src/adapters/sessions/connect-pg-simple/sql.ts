/** Quotes the name of a table, column or index. */
export function identifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** Quotes a string; it means the same whatever `standard_conforming_strings` is. */
export function literal(text: string): string {
  const quoted = `'${text.replaceAll("'", "''")}'`;
  return quoted.includes("\\") ? `E${quoted.replaceAll("\\", "\\\\")}` : quoted;
}

/** Checks whether PostgreSQL can store the string: not if it has U+0000 or half of a surrogate pair. */
export function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes("\0");
}

/** The path of a value in a record. */
export type Path = readonly string[];

/** Returns the value at a path below `value`, as in JavaScript: arrays have indexes and a length. */
export function at(value: string, path: Path): string {
  // In one operation, unless PostgreSQL could take a key for an index of an array: it counts some from the end.
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

/** Checks whether an array has this key; none in a record has an index over 999,999,999. */
export function isArrayKey(key: string): boolean {
  return key === "length" || /^(0|[1-9]\d{0,8})$/.test(key);
}

export function isStorablePath(path: Path): boolean {
  return path.every(isStorable);
}

/** Returns a function that builds each text once: of the same string, the hash by which it is found later is known. */
export function remembered<Args extends readonly unknown[]>(
  build: (...args: Args) => string,
): (...args: Args) => string {
  const texts = new Map<string, string>();
  return (...args) => {
    const key = args.join();
    const text = texts.get(key) ?? build(...args);
    texts.set(key, text);
    return text;
  };
}
