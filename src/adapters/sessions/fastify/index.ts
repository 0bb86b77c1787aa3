import { checkOptions } from "../../../common/options.ts";
import { type ConnectSessions, connectSessions } from "../../kit/connect-session/connect-sessions.ts";
import {
  QUERIED_SESSIONS_OPTIONS,
  type QueriedSessionsOptions,
  queriedReading,
} from "../../kit/connect-session/queries.ts";
import type { SessionEntry } from "../../kit/connect-session/record.ts";
import { type ConnectStore, entriesOf, listedSessions, requireStore } from "../../kit/connect-session/store.ts";
import { requireVersion } from "../../kit/library-version.ts";

export type { QueriedSession, QueriedSessions } from "../../kit/connect-session/queries.ts";
export type { ScanBounds } from "../../kit/connect-session/scan.ts";
export type { ConnectStore } from "../../kit/connect-session/store.ts";

/** How sessions of @fastify/session are read. */
export type FastifySessionsOptions = QueriedSessionsOptions;

/** The sessions of a store of @fastify/session. */
export type FastifySessions = ConnectSessions<"fastify-session">;

const NO_LISTING =
  "The application's session store cannot list its sessions (it is not the memory store and has no `all` method), so they cannot be searched or listed. The adapter's option `list` can query them.";

/**
 * Shows and ends the sessions in `store`, the object that the application passes to @fastify/session as its `store`: the
 * library's own memory store, which the application must therefore create itself (`new fastifySession.MemoryStore()`), or
 * any store of the connect family with an `all` that gives ids, such as memorystore, or the option `list`. Stores of connect-redis, connect-pg-simple and
 * session-file-store have adapters of their own, whichever framework they serve.
 *
 * @fastify/session keeps no creation time: the cookie's `originalExpires` is when the session would have expired before the
 * last request. The creation time is noted when a session is first saved that no request got from the store before, so call
 * this before the first request. If over 100,000 sessions are used within ten minutes, new ones cannot be told from old
 * ones and have no creation time.
 *
 * `lastAccessedTime` is the cookie's expiry minus its maximum age or, if it has none, the last save seen: the library saves
 * on each request unless its option `rolling` is off. `maxInactiveInterval` is the cookie's maximum age, or -1. The memory
 * store keeps expired sessions until their browser returns; they are shown as expired. A deleted session is not saved again
 * by a request that was under way.
 *
 * @throws ActuatorError INVALID_ARGUMENT if `store` is not a store or an option is invalid.
 * @example
 * const store = new fastifySession.MemoryStore();
 * createActuator({ sessions: fastifySessions(store) });
 * app.register(fastifySession, { store, secret });
 */
export function fastifySessions(store: ConnectStore, options: FastifySessionsOptions = {}): FastifySessions {
  requireVersion({ subpath: "fastify-session", library: "@fastify/session", versions: "11" });
  requireStore(store, "@fastify/session");
  checkOptions("fastifySessions", options, QUERIED_SESSIONS_OPTIONS);
  const { timeoutMs = 5_000 } = options;
  const entries = sessionMap(store) ?? listedSessions(store, timeoutMs);
  return connectSessions("fastify-session", store, { entries, limit: NO_LISTING, ...queriedReading(options) }, options);
}

/** The library's memory store keeps its sessions in a Map, which its constructor takes. */
function sessionMap(store: ConnectStore): (() => Promise<SessionEntry[]>) | undefined {
  const sessions = (store as { store?: unknown }).store;
  return sessions instanceof Map ? async () => entriesOf(sessions) : undefined;
}
