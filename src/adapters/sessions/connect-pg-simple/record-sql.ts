import { literal } from "./sql.ts";

/** How the records of a table are typed. */
export interface RecordType {
  /** The type of the column `sess`. */
  readonly type: "json" | "jsonb";
  /** Whether the database holds its text in UTF-8, and so every character. */
  readonly utf8: boolean;
}

/** The record as `json`, whose functions keep every number as it was written. */
export function recordJson({ type }: RecordType): string {
  return type === "json" ? "sess" : "sess::json";
}

const MAX_BYTES = 16 * 1024 * 1024;

/**
 * Whether the server may fail to take the record apart, though it took it in: then an index over its parts would make the
 * application's own INSERT fail. These are escapes of U+0000, of halves of surrogate pairs and, where the database is not
 * in UTF-8, of any character; what may be nested so deeply that the server's stack has just sufficed to check it (about
 * 14,000 levels at its default of 2 MB, each of at least two bytes); and what is too large for a regular expression.
 *
 * @param text the record as a text
 */
export function unreadable({ utf8 }: RecordType, text = "sess::text"): string {
  const escapes = literal(utf8 ? "\\\\u(0000|[dD][89a-fA-F])" : "\\\\u");
  const bytes = `octet_length(${text})`;
  const containers = `${bytes} - octet_length(replace(replace(${text}, '[', ''), '{', ''))`;
  return [
    `${bytes} > 20000 AND (${bytes} > ${MAX_BYTES} OR ${containers} > 5000)`,
    `strpos(${text}, ${literal("\\u")}) > 0 AND ${text} ~ ${escapes}`,
  ].join(" OR ");
}
