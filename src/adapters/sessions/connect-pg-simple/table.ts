import { createHash } from "node:crypto";
import { ActuatorError } from "../../../common/error.ts";
import type { PrincipalPaths } from "../../../sessions/principal.ts";
import type { Ask } from "./answers.ts";
import { principalExpression } from "./principal-sql.ts";
import type { RecordType } from "./record-sql.ts";
import { identifier } from "./sql.ts";

/** The table of a store, as the database has it now. */
export interface Table extends RecordType {
  readonly schema: string;
  readonly name: string;
  /** Its columns and their types. */
  readonly columns: Readonly<Record<string, string>>;
  /** Those of its columns that were added for us. */
  readonly added: readonly string[];
  readonly indexes: readonly TableIndex[];
}

/** The comment on a column that was added for us, so that no other is ever taken away. */
export const ADDED = "added by connect-actuator";

export interface TableIndex {
  readonly name: string;
  /** Whether it is complete: one whose making was interrupted is not. */
  readonly valid: boolean;
  /** Whether it is being made at this moment, where the connection's user may see that. */
  readonly building: boolean;
  /** The column that it begins with; null: an expression. */
  readonly leading: string | null;
  /** Whether it leaves rows out. */
  readonly partial: boolean;
}

const TABLE = `
  SELECT json_build_object(
    'schema', n.nspname,
    'name', c.relname,
    'utf8', getdatabaseencoding() = 'UTF8',
    'columns', (SELECT json_object_agg(a.attname, format_type(a.atttypid, NULL))
      FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped),
    'added', (SELECT coalesce(json_agg(a.attname), '[]') FROM pg_attribute a
      WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND col_description(c.oid, a.attnum) = '${ADDED}'),
    'indexes', (SELECT coalesce(json_agg(json_build_object(
        'name', x.relname,
        'valid', i.indisvalid AND i.indisready,
        'building', EXISTS (SELECT FROM pg_stat_progress_create_index p WHERE p.index_relid = i.indexrelid),
        'leading', (SELECT a.attname FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attnum = i.indkey[0]),
        'partial', i.indpred IS NOT NULL)), '[]')
      FROM pg_index i JOIN pg_class x ON x.oid = i.indexrelid WHERE i.indrelid = c.oid)
  )::text AS answer
  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.oid = to_regclass($1::text)`;

const NO_TABLE =
  "PostgreSQL has no table of this name, or not where it was looked for. With createTableIfMissing, connect-pg-simple makes " +
  "it when it is first used.";

/**
 * Looks the table up by its quoted name.
 *
 * @throws ActuatorError FAILED_PRECONDITION where there is none, or it is no table of connect-pg-simple.
 */
export async function findTable(ask: Ask, quotedName: string): Promise<Table> {
  const [table] = await ask<Omit<Table, "type">>(TABLE, [quotedName]);
  if (table === undefined) throw unfit(NO_TABLE);
  const { sid, sess, expire } = table.columns;
  if (sid === undefined || (sess !== "json" && sess !== "jsonb") || !expire?.startsWith("timestamp")) {
    throw unfit('The table is none of connect-pg-simple: it needs "sid", "sess" of type json or jsonb, and "expire".');
  }
  return { ...table, type: sess };
}

/** The table's name with its schema, for statements. */
export function qualifiedName({ schema, name }: Pick<Table, "schema" | "name">): string {
  return `${identifier(schema)}.${identifier(name)}`;
}

/** The name of the index by which sessions of a user are found: another one for other places of the principal. */
export function userIndexName(table: Table, paths: PrincipalPaths): string {
  return indexName(table, "user", principalExpression(paths, table));
}

/** The name of the index by which an id is found from its digest. */
export function digestIndexName(table: Table): string {
  return indexName(table, "digest", "");
}

/** The name of the index that lists are ordered by, where the table has lost the store's own. */
export function orderIndexName(table: Table): string {
  return indexName(table, "expire", "");
}

/** What the names of all indexes begin with that were made of this kind. */
export function indexPrefix({ name }: Pick<Table, "name">, kind: string): string {
  // A name has 63 bytes at most; the hash tells tables apart whose names begin alike.
  const start = Buffer.from(name).subarray(0, 24).toString("utf8").replaceAll("\ufffd", "");
  return `${start}_actuator_${kind}_`;
}

/** Whether the list's order has an index to follow. */
export function hasOrderIndex({ indexes }: Table): boolean {
  return indexes.some(({ valid, leading, partial }) => valid && leading === "expire" && !partial);
}

export function hasIndex({ indexes }: Table, name: string): boolean {
  return indexes.some((index) => index.name === name && index.valid);
}

function indexName(table: Table, kind: string, expression: string): string {
  const hash = createHash("sha256").update(`${table.name}\n${expression}`).digest("hex").slice(0, 12);
  return indexPrefix(table, kind) + hash;
}

function unfit(message: string): ActuatorError {
  return new ActuatorError("FAILED_PRECONDITION", "SESSION_STORE_REFUSED", message);
}
