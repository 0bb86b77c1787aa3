/** What a search asks the server for. */
export interface Search {
  readonly contains: string;
  /** Values at dotted paths. */
  readonly fields: Readonly<Record<string, string>>;
}

/** `order=88231`, `user="a b"`. */
const CONDITION = /(?<=^|\s)([\w$@-][\w$@.-]*)=("(?:[^"\\]|\\.)*"|[^\s"]\S*)(?=\s|$)/g;

/** Reads a search: `key=value` is a condition on a field, and what remains is a text. */
export function searchOf(text: string): Search {
  const fields: Record<string, string> = {};
  const rest = text.replace(CONDITION, (_, key: string, value: string) => {
    fields[key] = value.startsWith('"') ? value.slice(1, -1).replace(/\\(.)/g, "$1") : value;
    return " ";
  });
  return { contains: rest.replace(/\s+/g, " ").trim(), fields };
}

/** Writes a condition as {@link searchOf} reads it. */
export function conditionText(key: string, value: string): string {
  return `${key}=${/^[^\s"]\S*$/.test(value) ? value : `"${value.replace(/["\\]/g, "\\$&")}"`}`;
}

/** A search with one more condition; one on the same field gives way. */
export function withCondition(text: string, key: string, value: string): string {
  const { contains, fields } = searchOf(text);
  const conditions = Object.entries({ ...fields, [key]: value }).map(([each, wanted]) => conditionText(each, wanted));
  return [contains, ...conditions].filter((part) => part !== "").join(" ");
}
