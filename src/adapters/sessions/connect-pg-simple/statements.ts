import type { PrincipalPaths } from "../../../sessions/principal.ts";
import { sqlState } from "../../kit/postgres/error.ts";
import {
  ASK_THE_RESOLVER,
  DIGEST_EXPRESSION,
  INDEXED_CHARACTERS,
  principalExpression,
  reducedRecord,
  unreadable,
} from "./record-sql.ts";
import { literal, remembered } from "./sql.ts";
import {
  type Ask,
  digestIndexName,
  findTable,
  hasIndex,
  hasOrderIndex,
  qualifiedName,
  type Table,
  userIndexName,
} from "./table.ts";

/** The most sessions that are read at a time. */
export const MAX_BATCH = 1000;

/** Latest expiry first, or by id if no index serves that. */
export type Order = "expire" | "sid";

/** The statements for one table, each with its parameters. */
export interface Statements {
  /** The order for which the table has an index. */
  readonly order: Order;
  /** $1: the id. */
  readonly find: string;
  /** $1: the id. */
  readonly remove: string;
  /**
   * $1: the name or null, $2: the most sessions, $3: the most sessions whose name only the resolver can find, $4: the index.
   * Returns whether it is one of the latter, and the session; null: the index cannot be used.
   */
  readonly findByUser: string;
  /** $1: the digest, $2: the index. Returns the id; null: the index cannot be used. */
  readonly findByDigest: string;
  /** $1: now, in seconds. */
  count(active: boolean | undefined): string;
  /** $1: how many, $2: now, in seconds, $3 and $4: the position if `after`. */
  page(order: Order, after: boolean, active: boolean | undefined): string;
  /** $1: how many, $2: the name or null, $3 and $4: the position if `after`. */
  scan(order: Order, after: boolean): string;
}

/** The most rows of a page: the largest batch, and one more that shows whether there is another page. */
const MAX_ROWS = MAX_BATCH + 1;

/** The largest records, in bytes, that are read as a whole. */
const MAX_WHOLE = 16 * 1024;
const MAX_WHOLE_FOR_FUNCTION = 256 * 1024;

/** @param paths of the user's name; undefined: a function finds it in the whole record */
function statements(table: Table, paths: PrincipalPaths | undefined, timeZone: string | undefined): Statements {
  const from = `FROM ${qualifiedName(table)}`;
  const { epoch, twice, from: expiresFrom, before } = expiryOf(table, timeZone);
  const [created, seen] = ["created_at", "first_seen_at"].map((name) => hasTimeColumn(table, name) && name);
  // The string once for all expressions that use it.
  const columns = ["sid", "sess", "sess::text AS text", "expire", created, seen].filter(Boolean).join(", ");
  const session = `json_build_array(sid, expire, ${epoch}, ${twice}, ${seconds(created)}, ${seconds(seen)}, ${recordToRead(table, paths)})`;
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
    const by = order === "expire" ? "expire DESC, sid DESC" : "sid DESC";
    // Of a limit that is a parameter the planner expects a tenth of the table, and so would plan anew each time.
    return `SELECT * FROM (SELECT ${columns} ${from} ${where} ORDER BY ${by} LIMIT ${MAX_ROWS}) AS most LIMIT $1::int`;
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
    page: remembered((order, after, active) => {
      const condition = activeCondition(active, "$2") ?? "$2::float8 IS NOT NULL";
      return `SELECT ${row} FROM (${ordered(order, after, condition)}) AS page`;
    }),
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
 * Returns the record without the values that are not needed; as a whole string if the server cannot take it apart or a
 * function finds the user; true: too large for that.
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

function seconds(column: string | false | undefined): string {
  return column ? `date_part('epoch', ${column})` : "NULL";
}

/**
 * The column `expire` as points in time.
 *
 * The store writes a timestamp without time zone, in the zone of its connection: so it is read in the zone of the same
 * connection, or in the one that is configured. In the hour that a clock shows twice, PostgreSQL takes the second.
 */
interface Expiry {
  /** Seconds since the epoch; NULL: never. */
  readonly epoch: string;
  /** Whether the clock showed this time twice, so that an hour earlier may be meant. */
  readonly twice: string;
  /** A condition: it is at this second since the epoch or later. An index on the column serves it. */
  from(second: string): string;
  /** A condition: it is earlier. */
  before(second: string): string;
}

/** Returns how to read the expiry in this table. @param timeZone of the application's connections; undefined: this one's */
function expiryOf(table: Table, timeZone: string | undefined): Expiry {
  if (table.columns.expire === "timestamp with time zone") {
    return {
      epoch: epochOf("expire"),
      twice: "false",
      from: (second) => `expire >= to_timestamp(${second})`,
      before: (second) => `expire < to_timestamp(${second})`,
    };
  }
  const zone = timeZone === undefined ? undefined : literal(timeZone);
  const instant = zone === undefined ? "expire::timestamptz" : `(expire AT TIME ZONE ${zone})`;
  const shown = (time: string) => (zone === undefined ? `(${time})::timestamp` : `((${time}) AT TIME ZONE ${zone})`);
  return {
    epoch: epochOf(instant),
    twice: `${shown(`${instant} - interval '1 hour'`)} = expire`,
    // Clocks may have been set back by some hours meanwhile: the index finds candidates, the second condition decides.
    from: (second) =>
      `expire >= ${shown(`to_timestamp(${second})`)} - interval '3 hours' AND ${instant} >= to_timestamp(${second})`,
    before: (second) =>
      `expire < ${shown(`to_timestamp(${second})`)} + interval '3 hours' AND ${instant} < to_timestamp(${second})`,
  };
}

function epochOf(instant: string): string {
  return `CASE WHEN isfinite(expire) THEN date_part('epoch', ${instant}) END`;
}

/** The table as it was lately, with the statements for it. */
export interface KnownTable {
  readonly statements: Statements;
  /** The quoted names of the indexes that it had. */
  readonly userIndex: string | undefined;
  readonly digestIndex: string | undefined;
}

/** After how long a preparation is noticed while the application runs. */
const LOOK_AGAIN_AFTER_MS = 10_000;

/** Looks up the table, unless that was done lately. @param renew looks in any case */
export type TableLookup = (renew?: boolean) => Promise<KnownTable>;

/**
 * Works with the table as it was lately, and if it has lost a column since, with what it is now. An index that was dropped
 * does no harm: the statements that need it check for it themselves.
 */
export async function withTable<T>(table: TableLookup, work: (known: KnownTable) => Promise<T>): Promise<T> {
  try {
    return await work(await table());
  } catch (error) {
    if (sqlState((error as Error).cause) !== UNDEFINED_COLUMN) throw error;
    return work(await table(true));
  }
}

const UNDEFINED_COLUMN = "42703";

/** Returns a function that looks up the table, and again after 10 seconds or with `renew`. */
export function tableLookup(
  ask: Ask,
  quotedName: string,
  paths: PrincipalPaths | undefined,
  timeZone: string | undefined,
): TableLookup {
  let lookup: { readonly at: number; readonly table: Promise<KnownTable> } | undefined;
  let last: { readonly text: string; readonly known: KnownTable } | undefined;

  async function look(): Promise<KnownTable> {
    const table = await findTable(ask, quotedName);
    const text = JSON.stringify(table);
    // The same statements stay prepared.
    if (last?.text !== text) last = { text, known: know(table, paths, timeZone) };
    return last.known;
  }

  return (renew = false) => {
    if (lookup === undefined || renew || performance.now() - lookup.at > LOOK_AGAIN_AFTER_MS) {
      const looked = { at: performance.now(), table: look() };
      lookup = looked;
      looked.table.catch(() => {
        if (lookup === looked) lookup = undefined;
      });
    }
    return lookup.table;
  };
}

function know(table: Table, paths: PrincipalPaths | undefined, timeZone: string | undefined): KnownTable {
  const indexCalled = (name: string) =>
    hasIndex(table, name) ? qualifiedName({ schema: table.schema, name }) : undefined;
  return {
    statements: statements(table, paths, timeZone),
    userIndex: paths && indexCalled(userIndexName(table, paths)),
    digestIndex: table.utf8 ? indexCalled(digestIndexName(table)) : undefined,
  };
}
