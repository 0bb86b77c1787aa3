import type { PrincipalPaths } from "../../../sessions/principal.ts";
import { DIGEST_EXPRESSION } from "./digest-sql.ts";
import { expiryOf } from "./expiry-sql.ts";
import { ASK_THE_RESOLVER, INDEXED_CHARACTERS, principalExpression } from "./principal-sql.ts";
import { unreadable } from "./record-sql.ts";
import { reducedRecord } from "./reduced-sql.ts";
import { literal } from "./sql.ts";
import { hasOrderIndex, qualifiedName, type Table } from "./table.ts";

/** Latest expiry first, or by id where no index serves that. */
export type Order = "expire" | "sid";

/** The statements for one table. The comment of each says what its parameters are. */
export interface Statements {
  /** The order that the table has an index for. */
  readonly order: Order;
  /** $1: the id. */
  readonly find: string;
  /** $1: the id. */
  readonly remove: string;
  /**
   * $1: the name or null, $2: how many at most, $3: how many at most of which only the resolver knows the name, $4: the
   * index. Answers with whether it is one of the latter and the session; null: the index cannot be used.
   */
  readonly findByUser: string;
  /** $1: the digest, $2: the index. Answers with the id; null: the index cannot be used. */
  readonly findByDigest: string;
  /** $1: now, in seconds. */
  count(active: boolean | undefined): string;
  /** $1: how many, $2: now, in seconds, $3 and $4: the position where `after`. */
  page(order: Order, after: boolean, active: boolean | undefined): string;
  /** $1: how many, $2: the name or null, $3 and $4: the position where `after`. */
  scan(order: Order, after: boolean): string;
}

/** Of records from which values must be read as a whole, the greatest size. */
const MAX_WHOLE = 16 * 1024;
const MAX_WHOLE_FOR_FUNCTION = 256 * 1024;

/** @param paths where the principal stands; undefined: a function finds it in the whole record */
export function statements(table: Table, paths: PrincipalPaths | undefined, timeZone: string | undefined): Statements {
  const from = `FROM ${qualifiedName(table)}`;
  const { epoch, twice, from: expiresFrom, before } = expiryOf(table, timeZone);
  const [created, seen] = ["created_at", "first_seen_at"].map((name) => hasTimeColumn(table, name) && name);
  // The text once for all that look at it.
  const columns = ["sid", "sess", "sess::text AS text", "expire", created, seen].filter(Boolean).join(", ");
  const session = `json_build_array(sid, expire, ${epoch}, ${twice}, ${milliseconds(created)}, ${milliseconds(seen)}, ${recordToRead(table, paths)})`;
  const row = `${session}::text AS answer`;
  const principal = paths === undefined ? undefined : principalExpression(paths, table);
  const usable = (index: string) =>
    `WITH usable AS MATERIALIZED (SELECT EXISTS (SELECT FROM pg_index WHERE indexrelid = to_regclass(${index}::text)::oid AND indisvalid) AS yes)`;
  const ifUsable = "(SELECT yes FROM usable)";
  const orUnusable = `UNION ALL SELECT 'null' WHERE NOT ${ifUsable}`;
  const expireType = table.columns.expire!;

  const ordered = (order: Order, after: boolean, condition: string | undefined) => {
    const position =
      order === "expire"
        ? `(expire, sid) < ($3::text::${expireType}, $4::text)`
        : "$3::text IS NOT NULL AND sid < $4::text";
    const conditions = [after && position, condition].filter(Boolean);
    const where = conditions.length === 0 ? "" : `WHERE ${conditions.join(" AND ")}`;
    return `SELECT ${columns} ${from} ${where} ORDER BY ${order === "expire" ? "expire DESC, sid DESC" : "sid DESC"} LIMIT $1::int`;
  };
  const activeCondition = (active: boolean | undefined, now: string) =>
    active === undefined ? undefined : active ? expiresFrom(`${now}::float8`) : before(`${now}::float8`);

  return {
    order: hasOrderIndex(table) ? "expire" : "sid",
    find: `SELECT ${row} FROM (SELECT ${columns} ${from} WHERE sid = $1::text LIMIT 1) AS found`,
    remove: `DELETE ${from} WHERE sid = $1::text RETURNING 'true' AS answer`,
    findByUser: `${usable("$4")}
      SELECT json_build_array(unknown, ${session})::text AS answer FROM (
        (SELECT false AS unknown, ${columns} ${from} WHERE ${ifUsable} AND ${principal} = left($1::text, ${INDEXED_CHARACTERS}) LIMIT $2::int)
        UNION ALL
        (SELECT true, ${columns} ${from} WHERE ${ifUsable} AND ${principal} = ${literal(ASK_THE_RESOLVER)} LIMIT $3::int)
      ) AS found ${orUnusable}`,
    findByDigest: `${usable("$2")}
      SELECT to_json(sid)::text AS answer ${from} WHERE ${ifUsable} AND ${DIGEST_EXPRESSION} = decode($1::text, 'hex') ${orUnusable}`,
    count(active) {
      const condition = activeCondition(active, "$1");
      return `SELECT count(*)::text AS answer ${from} WHERE ${condition ?? "$1::float8 IS NOT NULL"}`;
    },
    page(order, after, active) {
      const condition = activeCondition(active, "$2") ?? "$2::float8 IS NOT NULL";
      return `SELECT ${row} FROM (${ordered(order, after, condition)}) AS page`;
    },
    scan(order, after) {
      const last = order === "expire" ? "expire, sid" : "sid";
      const matches =
        principal === undefined
          ? "($2::text IS NULL) IS NOT NULL"
          : `${principal} IN (left($2::text, ${INDEXED_CHARACTERS}), ${literal(ASK_THE_RESOLVER)})`;
      return `WITH batch AS MATERIALIZED (${ordered(order, after, undefined)})
        SELECT json_build_object('read', (SELECT count(*) FROM batch),
          'last', (SELECT json_build_array(expire, sid) FROM batch ORDER BY ${last} LIMIT 1))::text AS answer
        UNION ALL SELECT ${row} FROM batch WHERE ${matches}`;
    },
  };
}

/**
 * The record without the values that nobody needs; as a text and whole where the server cannot take it apart or a function
 * has to be asked; true: it is too large for that.
 */
function recordToRead(table: Table, paths: PrincipalPaths | undefined): string {
  const whole = (limit: number) => `WHEN octet_length(text) <= ${limit} THEN to_json(text)`;
  return paths === undefined
    ? `CASE ${whole(MAX_WHOLE_FOR_FUNCTION)} WHEN NOT (${unreadable(table, "text")}) THEN json_build_array(${reducedRecord([], table)}) ELSE 'true'::json END`
    : `CASE WHEN NOT (${unreadable(table, "text")}) THEN ${reducedRecord(paths, table)} ${whole(MAX_WHOLE)} ELSE 'true'::json END`;
}

function hasTimeColumn({ columns }: Table, name: string): boolean {
  return columns[name] === "timestamp with time zone";
}

function milliseconds(column: string | false | undefined): string {
  return column ? `extract(epoch FROM ${column}) * 1000` : "NULL";
}
