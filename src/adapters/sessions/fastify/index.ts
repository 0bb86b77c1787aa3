import { checkOptions } from "../../../common/options.ts";
import {
  type ConnectSessions,
  type ConnectSessionsOptions,
  connectSessions,
} from "../../kit/connect-session/connect-sessions.ts";
import { listedSessions } from "../../kit/connect-session/listed-sessions.ts";
import { CONNECT_SESSIONS_OPTIONS } from "../../kit/connect-session/options.ts";
import { parseRecord } from "../../kit/connect-session/record.ts";
import { requireStore } from "../../kit/connect-session/required-store.ts";
import type { SessionEntry } from "../../kit/connect-session/session-scan.ts";
import type { ConnectStore } from "../../kit/connect-session/store.ts";
import { requireVersion } from "../../kit/library-version.ts";

export type { ScanBounds } from "../../kit/connect-session/session-scan.ts";
export type { ConnectStore } from "../../kit/connect-session/store.ts";

/** How sessions of @fastify/session are read. */
export type FastifySessionsOptions = ConnectSessionsOptions;

/** The sessions of a store of @fastify/session. */
export type FastifySessions = ConnectSessions<"fastify-session">;

/**
 * The sessions in `store`, the object that the application hands to @fastify/session as its `store`: the library's own
 * memory store, which must therefore be made by the application (`new fastifySession.MemoryStore()`), or any store of the
 * connect family with an `all` that tells what it has, such as memorystore. Stores of connect-redis, connect-pg-simple and
 * session-file-store have adapters of their own, whichever framework they serve.
 *
 * @fastify/session keeps no creation time: the cookie's `originalExpires` is when the session would have expired before the
 * last request. It is noted when a session is first saved that no request got out of the store before, so call this before
 * the first request. Where over 100,000 sessions are used within ten minutes, new ones cannot be told from old ones and
 * have no creation time.
 *
 * `lastAccessedTime` is the cookie's expiry less its maximum age or, where it has none, the last save seen: the library
 * saves at each request unless its option `rolling` is off. `maxInactiveInterval` is the cookie's maximum age, or -1. The
 * memory store keeps what has expired until its browser comes back, and it is shown as such. A session that is deleted is
 * not saved again by a request that was under way then.
 *
 * @throws ActuatorError INVALID_ARGUMENT for what is no store.
 */
export function fastifySessions(store: ConnectStore, options: FastifySessionsOptions = {}): FastifySessions {
  requireStore(store, "@fastify/session");
  requireVersion({ subpath: "fastify-session", library: "@fastify/session", versions: "11" });
  checkOptions("fastifySessions", options, CONNECT_SESSIONS_OPTIONS);
  const { timeoutMs: timeout = 5_000 } = options;
  const entries = sessionMap(store) ?? listedSessions(store, timeout);
  return connectSessions("fastify-session", store, { entries, limit: NO_LISTING }, options);
}

const NO_LISTING =
  "The application's session store cannot list its sessions (it is neither the memory store nor has it an `all` method), so they cannot be searched or listed.";

/** The library's memory store keeps its sessions in a Map, which is the one that its constructor takes. */
function sessionMap(store: ConnectStore): (() => Promise<SessionEntry[]>) | undefined {
  const sessions = (store as { store?: unknown }).store;
  if (!(sessions instanceof Map)) return undefined;
  return async () => {
    return [...sessions].flatMap(([id, stored]): SessionEntry[] => {
      const record = parseRecord(stored);
      return record === undefined ? [] : [[id, record]];
    });
  };
}
