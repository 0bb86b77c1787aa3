import type { SessionData, Store } from "express-session";
import { checkOptions } from "../../../common/options.ts";
import type { Principal, PrincipalPaths, SessionRecord } from "../../../sessions/principal.ts";
import {
  type ConnectReading,
  type ConnectSessions,
  connectSessions,
} from "../../kit/connect-session/connect-sessions.ts";
import {
  QUERIED_SESSIONS_OPTIONS,
  type QueriedSessionsOptions,
  queriedReading,
} from "../../kit/connect-session/queries.ts";
import { COOKIE_TIMES, maxAge } from "../../kit/connect-session/record.ts";
import { listedSessions, NO_LISTING, requireStore } from "../../kit/connect-session/store.ts";
import { requireVersion } from "../../kit/library-version.ts";

export type { QueriedSession, QueriedSessions } from "../../kit/connect-session/queries.ts";
export type { ScanBounds } from "../../kit/connect-session/scan.ts";

/** How sessions of express-session are read. */
export interface ExpressSessionsOptions extends Omit<QueriedSessionsOptions, "principal"> {
  /** How to find a session's user: paths in the record, or a function. Default: `DEFAULT_PRINCIPAL`. */
  readonly principal?:
    | PrincipalPaths
    | ((session: Readonly<SessionData> & SessionRecord) => string | undefined)
    | undefined;
}

/** The sessions of an express-session store. */
export type ExpressSessions = ConnectSessions<"express-session">;

/**
 * Shows and ends the sessions in `store`, the object that the application passes to express-session as its `store`: the
 * library's MemoryStore, memorystore, or any store with `get`, `set` and `destroy`. Searching by user and listing need an
 * `all` that gives the sessions' ids, and read everything it returns; if the store has none, as with connect-mongo,
 * connect-sqlite3, connect-session-knex and better-sqlite3-session-store, they need the option `list`. connect-redis,
 * connect-pg-simple and session-file-store have adapters of their own.
 *
 * express-session keeps no creation time. It is noted when a new session is first saved, by wrapping the `set`, `touch`,
 * `destroy`, `clear` and `createSession` of this object, so call this before the first request. For older sessions the
 * creation time stays unknown, and `firstSeenTime` says since when this process has known them. Nothing is added to a
 * session, and none is saved that would not have been saved.
 *
 * `lastAccessedTime` is the cookie's expiry minus its maximum age or, if it has none, the last save or touch seen;
 * `maxInactiveInterval` is the cookie's maximum age, or -1; memorystore also has a time of its own. Lists are ordered by
 * newest access. A deleted session is not saved again by a request that was under way.
 *
 * @throws ActuatorError INVALID_ARGUMENT if `store` is not a store or an option is invalid.
 * @example
 * const store = new session.MemoryStore();
 * createActuator({ sessions: expressSessions(store) });
 * app.use(session({ store, secret, resave: false, saveUninitialized: false }));
 */
export function expressSessions(store: Store, options: ExpressSessionsOptions = {}): ExpressSessions {
  requireVersion({ subpath: "express-session", library: "express-session", versions: "1.17 to 1.x" });
  requireStore(store, "express-session");
  checkOptions("expressSessions", options, QUERIED_SESSIONS_OPTIONS);
  const { timeoutMs = 5_000 } = options;
  const known = { ...options, principal: options.principal as Principal | undefined };
  const reading = {
    ...memorystoreReading(store),
    entries: listedSessions(store, timeoutMs),
    limit: NO_LISTING,
    ...queriedReading(known),
  };
  return connectSessions("express-session", store, reading, known);
}

interface MemorystoreLike {
  readonly store: { peek(id: string): unknown };
  readonly serializer: { parse(text: unknown): unknown };
  readonly options: { readonly ttl?: unknown };
}

const ONE_DAY_MS = 86_400_000;

/**
 * Returns how to read memorystore; undefined for any other store. Its `get` counts as a use, and a store with a `max` drops
 * what was used least recently, so it is read with `peek`. It drops a session that was not used for its `ttl`, else for the
 * cookie's maximum age, else for a day.
 */
function memorystoreReading(store: object): Pick<ConnectReading, "find" | "times"> | undefined {
  const { store: cache, serializer, options } = store as Partial<MemorystoreLike>;
  if (typeof cache?.peek !== "function" || typeof serializer?.parse !== "function") return undefined;
  const ttl = options?.ttl;
  return {
    find(id) {
      const text = cache.peek(id);
      return text === undefined ? undefined : serializer.parse(text);
    },
    times: { ...COOKIE_TIMES, maxAge: (record) => (typeof ttl === "number" ? ttl : (maxAge(record) ?? ONE_DAY_MS)) },
  };
}
