import { anything, type Checks, callable, checkOptions, timeLimit } from "../../../common/options.ts";
import type { Session } from "../../../sessions/session.ts";
import type { SessionPage, SessionQuery, SessionSearch, SessionStore } from "../../../sessions/store.ts";
import { sqlState } from "../../kit/postgres/error.ts";
import { type PostgresSource, postgresQueries } from "../../kit/postgres/index.ts";
import { FirstSeen } from "./first-seen.ts";
import { type SessionRow, springTables } from "./jdbc-tables.ts";
import { isExpired, timeOf } from "./session-times.ts";

/** Where Spring Session's tables are. */
export interface SpringSessionJdbcOptions {
  /** As `spring.session.jdbc.table-name`. Default: "SPRING_SESSION". */
  readonly tableName?: string | undefined;
  /** Default: where PostgreSQL's `search_path` finds the tables. */
  readonly schema?: string | undefined;
  /** Milliseconds to wait for an answer of PostgreSQL. Default: 5,000. */
  readonly timeoutMs?: number | undefined;
  /** Milliseconds since the epoch. Default: `Date.now`. */
  readonly clock?: (() => number) | undefined;
}

const OPTIONS: Checks<SpringSessionJdbcOptions> = {
  tableName: anything,
  schema: anything,
  timeoutMs: timeLimit,
  clock: callable,
};

/** The sessions of Spring Session in PostgreSQL. */
export interface SpringSessionJdbc extends Required<Omit<SessionStore, "bearerIds" | "findIdByDigest" | "limits">> {
  readonly kind: "spring-session-jdbc";
}

const MOST_OF_A_USER = 50_000;
const MOST_ATTEMPTS = 3;

/**
 * The sessions that JVMs keep in PostgreSQL by Spring Session's `JdbcIndexedSessionRepository`, read and ended from
 * outside. `postgres` is a pool or client of `pg`, the `sql` of `postgres`, or a URL, for which the package `pg` has to be
 * installed. Its user needs SELECT and, to end sessions, DELETE on both tables.
 *
 * - Lists are by `EXPIRY_TIME`, the latest first, since Spring has an index of it and none of the last access: newest
 *   access first among sessions of the same interval, and those that never expire before all others.
 * - Deleting removes the session's row and its attributes. Spring's own `deleteById` leaves sessions that never expire;
 *   this does not. Spring has no event for a deleted session here.
 *
 * @throws ActuatorError INVALID_ARGUMENT where an option is unfit.
 */
export function springSessionJdbc(postgres: PostgresSource, options: SpringSessionJdbcOptions = {}): SpringSessionJdbc {
  checkOptions("springSessionJdbc", options, OPTIONS);
  const { tableName = "SPRING_SESSION", schema, timeoutMs: timeout, clock = Date.now } = options;
  const tables = springTables(tableName, schema);
  const queries = postgresQueries(postgres, { timeoutMs: timeout });
  const firstSeen = new FirstSeen();

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
      firstSeenTime: times.creationTime ?? firstSeen.of(id, clock()),
      expired: isExpired(times, clock()),
      username: username || undefined,
    };
  }

  async function findByUsername(username: string): Promise<SessionSearch> {
    if (!isText(username)) return { sessions: [], partial: false };
    const rows = await queries.query<SessionRow>(tables.byUsername, [username, MOST_OF_A_USER + 1]);
    return { sessions: rows.slice(0, MOST_OF_A_USER).map(sessionOf), partial: rows.length > MOST_OF_A_USER };
  }

  async function list({ limit, after, active }: SessionQuery): Promise<SessionPage> {
    const values = [limit + 1, ...(after?.split(" ") ?? []), ...(active === undefined ? [] : [clock()])];
    const rows = await queries.query<SessionRow>(tables.page({ after: after !== undefined, active }), values);
    const page = rows.slice(0, limit);
    const last = rows.length > limit ? page.at(-1) : undefined;
    return { sessions: page.map(sessionOf), partial: false, next: last && `${last.expiry} ${last.row}` };
  }

  async function end(id: string, attempts = MOST_ATTEMPTS): Promise<boolean> {
    try {
      return isText(id) && (await queries.query(tables.delete, [id])).length > 0;
    } catch (error) {
      // A request has stored an attribute since the statement began, and there is no ON DELETE CASCADE.
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

/** Anything else is no text of PostgreSQL's, and would be an error there. */
function isText(text: string): boolean {
  return text.isWellFormed() && !text.includes("\0");
}
