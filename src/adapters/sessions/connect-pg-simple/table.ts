import { createHash } from "node:crypto";
import { ActuatorError } from "../../../common/error.ts";
import type { PrincipalPaths } from "../../../sessions/principal.ts";
import type { PostgresQueries } from "../../kit/postgres/index.ts";
import { principalExpression, type RecordType } from "./record-sql.ts";
import { identifier, remembered } from "./sql.ts";

/** Runs a statement and resolves to the JSON in the column `answer` of each row. */
export type Ask = <Answer>(sql: string, values?: readonly (string | number | null)[]) => Promise<readonly Answer[]>;

/**
 * Returns how statements are run: each answers with a single string, because connect-pg-simple passes on only one row, and
 * because a borrowed connection may be configured to parse types and name columns in its own way.
 */
export function asking(queries: PostgresQueries): Ask {
  const texts = remembered(
    (sql: string) =>
      `WITH answers AS (${sql}) SELECT '[' || coalesce(string_agg(answer, ','), '') || ']' AS answers FROM answers`,
  );
  return async <Answer>(sql: string, values: readonly (string | number | null)[] = []) => {
    const [row] = await queries.query<{ answers: string }>(texts(sql), values);
    return JSON.parse(row!.answers) as Answer[];
  };
}

/** The table of a store, as the database describes it now. */
export interface Table extends RecordType {
  readonly schema: string;
  readonly name: string;
  /** The types of its columns by name. */
  readonly columns: Readonly<Record<string, string>>;
  /** Those of its columns that this adapter added. */
  readonly added: readonly string[];
  readonly indexes: readonly TableIndex[];
}

/** The comment on a column that this adapter added, so that no other is ever dropped. */
export const ADDED = "added by connect-actuator";

export interface TableIndex {
  readonly name: string;
  /** Whether it is complete: one whose creation was interrupted is not. */
  readonly valid: boolean;
  /** Whether it is being created at this moment, if the connection's user may see that. */
  readonly building: boolean;
  /** Its first column; null: an expression. */
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
  "PostgreSQL has no table with this name in the search path. With createTableIfMissing, connect-pg-simple creates it when " +
  "it is first used.";

/**
 * Looks up the table by its quoted name.
 *
 * @throws ActuatorError FAILED_PRECONDITION if there is none, or it is not a table of connect-pg-simple.
 */
export async function findTable(ask: Ask, quotedName: string): Promise<Table> {
  const [table] = await ask<Omit<Table, "type">>(TABLE, [quotedName]);
  if (table === undefined) throw unfit(NO_TABLE);
  const { sid, sess, expire } = table.columns;
  if (sid === undefined || (sess !== "json" && sess !== "jsonb") || !expire?.startsWith("timestamp")) {
    throw unfit(
      'The table is not one of connect-pg-simple: it needs "sid", "sess" of type json or jsonb, and "expire".',
    );
  }
  return { ...table, type: sess };
}

/** Returns the quoted name with its schema. */
export function qualifiedName({ schema, name }: Pick<Table, "schema" | "name">): string {
  return `${identifier(schema)}.${identifier(name)}`;
}

/** Returns the name of the index of users, which depends on the paths of the user's name. */
export function userIndexName(table: Table, paths: PrincipalPaths): string {
  return indexName(table, "user", principalExpression(paths, table));
}

/** Returns the name of the index of digests. */
export function digestIndexName(table: Table): string {
  return indexName(table, "digest", "");
}

/** Returns the name of the index that orders lists, if the table has lost the store's own. */
export function orderIndexName(table: Table): string {
  return indexName(table, "expire", "");
}

/** Returns the prefix of the names of all indexes of this kind. */
export function indexPrefix({ name }: Pick<Table, "name">, kind: string): string {
  // A name has at most 63 bytes; the hash distinguishes tables whose names begin alike.
  const start = Buffer.from(name).subarray(0, 24).toString("utf8").replaceAll("\ufffd", "");
  return `${start}_actuator_${kind}_`;
}

/** Checks whether an index orders lists. */
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
