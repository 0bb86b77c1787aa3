import { ActuatorError } from "../../../common/error.ts";
import { type Checks, checkOptions, count, flag, positiveMs, timeLimitMs, unknown } from "../../../common/options.ts";
import { DEFAULT_PRINCIPAL, principalResolver } from "../../../sessions/principal.ts";
import { sessionDigest } from "../../../sessions/session-id.ts";
import type { SessionPage, SessionQuery, SessionSearch, SessionStore } from "../../../sessions/store.ts";
import { SCAN_BOUNDS, type ScanBounds } from "../../kit/connect-session/scan.ts";
import { Sightings } from "../../kit/connect-session/sightings.ts";
import type { ConnectStore } from "../../kit/connect-session/store.ts";
import { watchStore } from "../../kit/connect-session/watch.ts";
import { requireVersion } from "../../kit/library-version.ts";
import { postgresQueries } from "../../kit/postgres/index.ts";
import { nowInSeconds, type RowReader, readSession, type SessionRow } from "./session-row.ts";
import { isStorable } from "./sql.ts";
import { type KnownTable, MAX_BATCH, type Order, tableLookup, withTable } from "./statements.ts";
import {
  connectionOf,
  keepToExistingRows,
  type PgSimpleTableOptions,
  TABLE_OPTIONS,
  tableNameOf,
  ttlMsOf,
} from "./store.ts";
import { asking } from "./table.ts";
import { findByIndex, findByScan } from "./user-search.ts";

export type { ScanBounds } from "../../kit/connect-session/scan.ts";
export {
  type PrepareConnectPgSimpleOptions,
  type PreparedTable,
  type PrepareStep,
  prepareConnectPgSimpleSessions,
} from "./prepare.ts";
export type { PgSimpleTableOptions } from "./store.ts";

/** How sessions of connect-pg-simple are read. */
export interface ConnectPgSimpleOptions extends PgSimpleTableOptions {
  /**
   * The time zone of the application's connections, such as "Europe/Berlin", in which the store writes expiry times.
   * Default: that of the connection used here, which is right for the application's own.
   */
  readonly timeZone?: string | undefined;
  /** Milliseconds that a session lives whose cookie has no expiry. Default: the store's, or 86,400,000. */
  readonly ttlMs?: number | undefined;
  /** Milliseconds to wait for an answer of PostgreSQL. Default: 5,000. */
  readonly timeoutMs?: number | undefined;
  /** Bounds of a search by user if the table has no index for it. */
  readonly scan?: ScanBounds | undefined;
  /**
   * Whether the store sends its own statements unchanged. Then a session that another process or statement ends may be saved
   * again by a request of this process that was under way. Default: false.
   */
  readonly passive?: boolean | undefined;
  /** The most sessions for which this process remembers when it first saw them. Default: 100,000. */
  readonly maxRemembered?: number | undefined;
}

const OPTIONS: Checks<ConnectPgSimpleOptions> = {
  ...TABLE_OPTIONS,
  timeZone: unknown,
  ttlMs: positiveMs,
  timeoutMs: timeLimitMs,
  scan: SCAN_BOUNDS,
  passive: flag,
  maxRemembered: count,
};

/** The sessions of a store of connect-pg-simple. */
export interface ConnectPgSimpleSessions extends SessionStore {
  readonly kind: "connect-pg-simple";
  findByUsername(username: string): Promise<SessionSearch>;
  list(query: SessionQuery): Promise<SessionPage>;
  count(query: Pick<SessionQuery, "active">): Promise<number>;
  findIdByDigest(digest: string): Promise<string | null | undefined>;
  delete(id: string): Promise<boolean>;
  /** Restores the application's store, and closes connections of our own. */
  detach(): Promise<void>;
}

/**
 * Shows and ends the sessions in `store`, the object of connect-pg-simple 10 that the application passes to its session
 * middleware; or, without one, those in the table that `pool` or `url` reach. It reads the table with statements of its own:
 * no read counts as a use or removes expired sessions, and only names, the cookie's settings and what may be the user leave
 * the database.
 *
 * Lists are ordered by latest expiry, which is newest access if all sessions live equally long. Expired sessions are shown
 * as such until the store removes them. `lastAccessedTime` is the expiry minus the session's age and, because the store
 * rounds the expiry up to whole seconds, at most a second too early.
 *
 * The store keeps no creation time: `prepareConnectPgSimpleSessions` adds columns that the database fills by itself, and
 * indexes without which a search by user reads up to `scan` sessions. Until then this process remembers what passes through
 * `store`. A session that is deleted, here or by any other statement, is not saved again by a request that was under way in
 * a process that has called this with its store.
 *
 * @throws ActuatorError INVALID_ARGUMENT if `store` is another store, or if there is neither a store nor a connection.
 * @example
 * const store = new PgStore({ pool });
 * createActuator({ sessions: connectPgSimpleSessions(store) });
 * app.use(session({ store, secret, resave: false, saveUninitialized: false }));
 */
export function connectPgSimpleSessions(
  store: ConnectStore | undefined,
  options: ConnectPgSimpleOptions = {},
): ConnectPgSimpleSessions {
  requireVersion({ subpath: "connect-pg-simple", library: "connect-pg-simple", versions: "10" });
  checkOptions("connectPgSimpleSessions", options, OPTIONS);
  const { principal = DEFAULT_PRINCIPAL, timeZone, scan, passive = false, maxRemembered = 100_000 } = options;
  const paths = typeof principal === "function" ? undefined : principal;
  checkTimeZone(timeZone);
  const queries = postgresQueries(connectionOf(store, options), { timeoutMs: options.timeoutMs });
  const ask = asking(queries);
  const table = tableLookup(ask, tableNameOf(store, options), paths, timeZone);
  const sightings = new Sightings(maxRemembered);
  const restore = store && !passive ? keepToExistingRows(store) : undefined;
  const watch = store && watchStore(store, sightings);
  const ttlMs = () => options.ttlMs ?? ttlMsOf(store);
  const reader: RowReader = { resolver: principalResolver(principal), ttlMs, sightings };
  // Fewer at a time if a function needs the whole records.
  const batch = paths === undefined ? 100 : MAX_BATCH;

  async function findByUsername(known: KnownTable, username: string): Promise<SessionSearch> {
    const found = known.userIndex && (await findByIndex(ask, known, username, reader));
    if (found) return found;
    const { statements } = known.userIndex ? await table(true) : known;
    return findByScan(ask, statements, username, reader, scan, batch);
  }

  async function list({ statements }: KnownTable, { limit, after, active }: SessionQuery): Promise<SessionPage> {
    const [order, ...position] = after === undefined ? [statements.order] : (JSON.parse(after) as Position);
    const size = Math.min(limit, batch);
    const values = [size + 1, nowInSeconds(), ...position];
    const rows = await ask<SessionRow>(statements.page(order, after !== undefined, active), values);
    const page = rows.slice(0, size);
    const last = rows.length > size ? page.at(-1) : undefined;
    return {
      sessions: page.map((row) => readSession(row, reader).session),
      partial: false,
      next: last && JSON.stringify([order, last[1], last[0]] satisfies Position),
    };
  }

  async function findIdByDigest(digest: string): Promise<string | null | undefined> {
    const { statements, digestIndex } = await table();
    if (digestIndex === undefined) return undefined;
    const ids = await ask<string | null>(statements.findByDigest, [digest, digestIndex]);
    if (ids.includes(null)) return void (await table(true));
    return ids.find((id) => id !== null && sessionDigest(id) === digest) ?? null;
  }

  async function remove(id: string): Promise<boolean> {
    if (!isStorable(id)) return false;
    const { statements } = await table();
    const destroy = async () => (await ask<true>(statements.remove, [id])).length > 0;
    const removed = watch === undefined ? await destroy() : await watch.end(id, destroy);
    sightings.forget(id);
    return removed;
  }

  return {
    kind: "connect-pg-simple",
    async findById(id) {
      if (!isStorable(id)) return undefined;
      const [row] = await withTable(table, ({ statements }) => ask<SessionRow>(statements.find, [id]));
      return row && readSession(row, reader).session;
    },
    findByUsername: (username) => withTable(table, (known) => findByUsername(known, username)),
    list: (query) => withTable(table, (known) => list(known, query)),
    async count({ active }) {
      const { statements } = await table();
      const [count] = await ask<number>(statements.count(active), [nowInSeconds()]);
      return count!;
    },
    findIdByDigest,
    delete: remove,
    async detach() {
      restore?.();
      watch?.detach();
      await queries.close();
    },
  };
}

type Position = readonly [order: Order, expire: string, id: string];

/** @throws ActuatorError INVALID_ARGUMENT */
function checkTimeZone(timeZone: string | undefined): void {
  if (timeZone === undefined) return;
  try {
    // Not an offset such as "+02:00", whose sign PostgreSQL reads the other way round.
    if (/^[A-Za-z]/.test(timeZone) && new Intl.DateTimeFormat("en", { timeZone })) return;
  } catch {
    // Reported below.
  }
  const message = 'timeZone must be the name of a time zone, such as "Europe/Berlin".';
  throw new ActuatorError("INVALID_ARGUMENT", "INVALID_OPTION", message, { field: "timeZone" });
}
