import { ActuatorError } from "../../../common/error.ts";
import { type Checks, callable, timeLimitMs, unknown } from "../../../common/options.ts";
import type { Session } from "../../../sessions/session.ts";
import type { SessionPage, SessionQuery, SessionSearch, SessionStore } from "../../../sessions/store.ts";
import { sqlState } from "../../kit/postgres/error.ts";
import { type PostgresSource, postgresQueries } from "../../kit/postgres/index.ts";
import { firstSeenBy, isExpired, timeOf } from "./session-times.ts";

/** Sessions of Spring Session in PostgreSQL. */
export interface SpringJdbcOptions {
  /** A pool or client of `pg`, the `sql` of `postgres`, or a URL, which needs the package `pg`. */
  readonly postgres: PostgresSource;
  readonly redis?: undefined;
  /** As `spring.session.jdbc.table-name`. Default: "SPRING_SESSION". */
  readonly tableName?: string | undefined;
  /** The schema of the tables. Default: PostgreSQL's `search_path`. */
  readonly schema?: string | undefined;
  /** Milliseconds to wait for an answer. Default: 5,000. */
  readonly timeoutMs?: number | undefined;
  /** Milliseconds since the epoch. Default: `Date.now`. */
  readonly clock?: (() => number) | undefined;
}

export const SPRING_JDBC_OPTIONS: Checks<SpringJdbcOptions> = {
  postgres: unknown,
  redis: unknown,
  tableName: unknown,
  schema: unknown,
  timeoutMs: timeLimitMs,
  clock: callable,
};

/** The sessions of Spring Session in PostgreSQL. */
export interface SpringJdbcSessions
  extends Required<Omit<SessionStore, "bearerIds" | "findIdByDigest" | "limits" | "warnings">> {
  readonly kind: "spring-session-jdbc";
}

const MAX_OF_A_USER = 50_000;
const MAX_ATTEMPTS = 3;

export function jdbcSessions(options: SpringJdbcOptions): SpringJdbcSessions {
  const { tableName = "SPRING_SESSION", schema, timeoutMs, clock = Date.now } = options;
  const tables = springTables(tableName, schema);
  const queries = postgresQueries(options.postgres, { timeoutMs });
  const firstSeen = firstSeenBy(clock);

  function sessionOf({ id, created, accessed, max_inactive, username, names }: SessionRow): Session {
    const times = {
      creationTime: timeOf(Number(created)),
      lastAccessedTime: timeOf(Number(accessed)),
      maxInactiveInterval: Number(max_inactive),
    };
    return {
      id,
      attributeNames: (JSON.parse(names) as string[]).sort(),
      ...times,
      firstSeenTime: times.creationTime ?? firstSeen(id),
      expired: isExpired(times, clock()),
      username: username || undefined,
    };
  }

  async function findByUsername(username: string): Promise<SessionSearch> {
    if (!isText(username)) return { sessions: [], partial: false };
    const rows = await queries.query<SessionRow>(tables.byUsername, [username, MAX_OF_A_USER + 1]);
    return { sessions: rows.slice(0, MAX_OF_A_USER).map(sessionOf), partial: rows.length > MAX_OF_A_USER };
  }

  async function list({ limit, after, active }: SessionQuery): Promise<SessionPage> {
    const values = [limit + 1, ...(after?.split(" ") ?? []), ...(active === undefined ? [] : [clock()])];
    const rows = await queries.query<SessionRow>(tables.page({ after: after !== undefined, active }), values);
    const page = rows.slice(0, limit);
    const last = rows.length > limit ? page.at(-1) : undefined;
    return { sessions: page.map(sessionOf), partial: false, next: last && `${last.expiry} ${last.row}` };
  }

  async function end(id: string, attempts = MAX_ATTEMPTS): Promise<boolean> {
    try {
      return isText(id) && (await queries.query(tables.delete, [id])).length > 0;
    } catch (error) {
      // A request stored an attribute after the statement began, and there is no ON DELETE CASCADE.
      if (attempts > 1 && sqlState(error) === FOREIGN_KEY_VIOLATION) return end(id, attempts - 1);
      throw error;
    }
  }

  return {
    kind: "spring-session-jdbc",
    async findById(id) {
      if (!isText(id)) return undefined;
      const [row] = await queries.query<SessionRow>(tables.byId, [id]);
      return row && sessionOf(row);
    },
    findByUsername,
    list,
    async count({ active }) {
      const values = active === undefined ? [] : [clock()];
      const [row] = await queries.query<{ count: string }>(tables.count(active), values);
      return Number(row?.count);
    },
    delete: (id) => end(id),
    detach: () => queries.close(),
  };
}

/** https://www.postgresql.org/docs/current/errcodes-appendix.html */
const FOREIGN_KEY_VIOLATION = "23503";

/** Checks whether PostgreSQL accepts the string. */
function isText(text: string): boolean {
  return text.isWellFormed() && !text.includes("\0");
}

/** The statements for one pair of Spring Session's tables. */
interface SpringTables {
  /** Rows of `SessionRow`: $1 a session's id. */
  readonly byId: string;
  /** $1 the user's name, $2 the greatest number of rows. */
  readonly byUsername: string;
  /** $1 the greatest number of rows, then the parameters of `where`. */
  page(where: PageConditions): string;
  /** $1 the time now, if `active` is not undefined. */
  count(active: boolean | undefined): string;
  /** $1 a session's id. One row if it existed. */
  readonly delete: string;
}

/** Which sessions a page may have; each condition takes the next parameters, in this order. */
interface PageConditions {
  /** Sessions after a position: `EXPIRY_TIME` and `PRIMARY_ID`. */
  readonly after: boolean;
  /** Compared with the time now. */
  readonly active: boolean | undefined;
}

/** Integers are strings, because the application may have configured how its client parses `bigint`. */
interface SessionRow {
  readonly id: string;
  readonly row: string;
  readonly created: string;
  readonly accessed: string;
  readonly max_inactive: string;
  readonly expiry: string;
  readonly username: string | null;
  /** A JSON array. */
  readonly names: string;
}

/**
 * Returns the statements. Names are unquoted as in Spring's own, so that PostgreSQL folds their case.
 *
 * @throws ActuatorError INVALID_ARGUMENT if one is not a plain identifier.
 */
function springTables(tableName: string, schema?: string): SpringTables {
  const [table, attributes] = [tableName, `${tableName}_ATTRIBUTES`].map((name) =>
    [...(schema === undefined ? [] : [identifier("schema", schema)]), identifier("tableName", name)].join("."),
  );
  const rows = `SELECT rtrim(S.SESSION_ID) AS id, rtrim(S.PRIMARY_ID) AS row, S.CREATION_TIME::text AS created,
    S.LAST_ACCESS_TIME::text AS accessed, S.MAX_INACTIVE_INTERVAL::text AS max_inactive, S.EXPIRY_TIME::text AS expiry,
    S.PRINCIPAL_NAME AS username, array_to_json(ARRAY(SELECT A.ATTRIBUTE_NAME FROM ${attributes} A
      WHERE A.SESSION_PRIMARY_ID = S.PRIMARY_ID))::text AS names
    FROM ${table} S`;
  return {
    byId: `${rows} WHERE S.SESSION_ID = $1`,
    byUsername: `${rows} WHERE S.PRINCIPAL_NAME = $1 LIMIT $2`,
    page({ after, active }) {
      const conditions = [
        ...(after ? ["(S.EXPIRY_TIME, S.PRIMARY_ID) < ($2, $3)"] : []),
        ...(active === undefined ? [] : [`S.EXPIRY_TIME ${comparison(active)} $${after ? 4 : 2}`]),
      ];
      const where = conditions.length === 0 ? "" : ` WHERE ${conditions.join(" AND ")}`;
      return `${rows}${where} ORDER BY S.EXPIRY_TIME DESC, S.PRIMARY_ID DESC LIMIT $1`;
    },
    count(active) {
      const where = active === undefined ? "" : ` WHERE EXPIRY_TIME ${comparison(active)} $1`;
      return `SELECT count(*)::text AS count FROM ${table}${where}`;
    },
    // One statement, which needs no transaction and no ON DELETE CASCADE, which not every schema has.
    delete: `WITH ended AS (SELECT PRIMARY_ID FROM ${table} WHERE SESSION_ID = $1),
      emptied AS (DELETE FROM ${attributes} WHERE SESSION_PRIMARY_ID IN (SELECT PRIMARY_ID FROM ended))
      DELETE FROM ${table} WHERE PRIMARY_ID IN (SELECT PRIMARY_ID FROM ended) RETURNING 1 AS deleted`,
  };
}

function comparison(active: boolean): ">" | "<=" {
  return active ? ">" : "<=";
}

function identifier(option: string, name: string): string {
  if (/^[\p{L}_][\p{L}\p{N}_$]*$/u.test(name)) return name;
  const message = `springSessions.${option} must be a name without quotes, spaces and dots, like SPRING_SESSION.`;
  throw new ActuatorError("INVALID_ARGUMENT", "INVALID_OPTION", message, { field: option });
}
