import type { SessionData, Store } from "express-session";
import { checkOptions } from "../../../common/options.ts";
import type { Principal, PrincipalPaths, SessionRecord } from "../../../sessions/principal.ts";
import {
  type ConnectSessions,
  type ConnectSessionsOptions,
  connectSessions,
} from "../../kit/connect-session/connect-sessions.ts";
import { listedSessions, NO_LISTING } from "../../kit/connect-session/listed-sessions.ts";
import { CONNECT_SESSIONS_OPTIONS } from "../../kit/connect-session/options.ts";
import { requireStore } from "../../kit/connect-session/required-store.ts";
import { requireVersion } from "../../kit/library-version.ts";
import { memorystoreReading } from "./memorystore.ts";

export type { ScanBounds } from "../../kit/connect-session/session-scan.ts";

/** How sessions of express-session are read. */
export interface ExpressSessionsOptions extends Omit<ConnectSessionsOptions, "principal"> {
  /** Whose session it is: places in it, or a function. Default: `DEFAULT_PRINCIPAL`. */
  readonly principal?:
    | PrincipalPaths
    | ((session: Readonly<SessionData> & SessionRecord) => string | undefined)
    | undefined;
}

/** The sessions of an express-session store. */
export type ExpressSessions = ConnectSessions<"express-session">;

/**
 * The sessions in `store`, the object that the application hands to express-session as its `store`: the library's
 * MemoryStore, memorystore, or any store with `get`, `set` and `destroy`. Searching by user and listing need `all` as well,
 * and read all that it tells; the stores connect-redis, connect-pg-simple and session-file-store have adapters of their own.
 *
 * express-session keeps no creation time. It is noted when a new session is first saved, by wrapping the `set`, `touch`,
 * `destroy`, `clear` and `createSession` of this one object, so call it before the first request. Of a session that is
 * older than that the creation time stays unknown, and `firstSeenTime` says since when it was seen. Nothing is added to
 * a session, and none is saved that would not have been saved.
 *
 * `lastAccessedTime` is the cookie's expiry less its maximum age or, where it has none, the last save or touch seen;
 * `maxInactiveInterval` is the cookie's maximum age, or -1; memorystore also has a time of its own. Lists come newest access first. A session that is deleted is
 * not saved again by a request that was under way then.
 *
 * @throws ActuatorError INVALID_ARGUMENT for what is no store.
 */
export function expressSessions(store: Store, options: ExpressSessionsOptions = {}): ExpressSessions {
  requireStore(store, "express-session");
  requireVersion({ subpath: "express-session", library: "express-session", versions: "1.17 to 1.x" });
  checkOptions("expressSessions", options, CONNECT_SESSIONS_OPTIONS);
  const { timeoutMs: timeout = 5_000, principal } = options;
  const reading = { ...memorystoreReading(store), entries: listedSessions(store, timeout), limit: NO_LISTING };
  return connectSessions("express-session", store, reading, {
    ...options,
    principal: principal as Principal | undefined,
  });
}
