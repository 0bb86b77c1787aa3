import { ActuatorError } from "../../../common/error.ts";
import { type Checks, checkOptions, text, timeLimitMs } from "../../../common/options.ts";
import type { SessionStore } from "../../../sessions/store.ts";
import { SCAN_BOUNDS, type ScanBounds } from "../../kit/connect-session/scan.ts";
import { requireVersion } from "../../kit/library-version.ts";
import { databaseSessions } from "./database-sessions.ts";
import type { BetterAuthInstance, BetterAuthSessionOptions, BetterAuthUsername } from "./instance.ts";
import { storageSessions } from "./storage-sessions.ts";

export type { BetterAuthInstance, BetterAuthUsername } from "./instance.ts";

/** How sessions of better-auth are read. */
export interface BetterAuthSessionsOptions {
  /** A user's name: a column or a function. Default: "email". */
  readonly username?: BetterAuthUsername | undefined;
  /** Milliseconds that one operation may take. Default: 5,000. */
  readonly timeoutMs?: number | undefined;
  /** Bounds of a search without an index: if `username` is a function, or a user has very many sessions. */
  readonly scan?: ScanBounds | undefined;
}

const OPTIONS: Checks<BetterAuthSessionsOptions> = {
  username: (value) => (typeof value === "function" ? undefined : text(value) && "must be a column or a function"),
  timeoutMs: timeLimitMs,
  scan: SCAN_BOUNDS,
};

/**
 * Shows and ends the sessions of better-auth, through the application's own instance: its database, its names of tables and
 * columns, its secondary storage and its hooks.
 *
 * A session's id is the `id` of its row. The `token`, which is a credential, is read only to end a session, and never shown.
 * `creationTime` is `createdAt`. `lastAccessedTime` is `updatedAt`, which better-auth writes once in
 * `session.updateAge` (a day, unless configured) and when a plugin changes the session: requests in between are not
 * recorded. `maxInactiveInterval` is what was left until `expiresAt` then. `attributeNames` are the columns that plugins and
 * the application added, if they hold a value.
 *
 * A list is ordered by `updatedAt`, newest first; better-auth creates no index on it, and a large table needs one. Sessions
 * are ended through `internalAdapter.deleteSession`. With `session.cookieCache`, better-auth itself accepts the cookie of an
 * ended session until that cache expires, after 5 minutes unless configured.
 *
 * Sessions in a secondary storage only cannot be listed, and their id is `<id of the user>:<id of the session>`; sessions
 * that better-auth before 1.6 made without an id have a digest of the token instead.
 *
 * @throws ActuatorError INVALID_ARGUMENT if better-auth has neither a database nor a secondary storage, so that its sessions
 * live in cookies: use `cookieOnlySessions("better-auth")`.
 * @example
 * const auth = betterAuth({ database });
 * createActuator({ sessions: betterAuthSessions(auth, { username: "email" }) });
 */
export function betterAuthSessions(auth: BetterAuthInstance, options: BetterAuthSessionsOptions = {}): SessionStore {
  requireVersion({ subpath: "better-auth", library: "better-auth", versions: "1.3 to 1.x" });
  checkOptions("betterAuthSessions", options, OPTIONS);
  if (typeof auth?.options !== "object") {
    const message = "auth must be the object that betterAuth() returned.";
    throw new ActuatorError("INVALID_ARGUMENT", "INVALID_OPTION", message, { field: "auth" });
  }
  const { database, secondaryStorage } = auth.options;
  const session: BetterAuthSessionOptions | undefined = auth.options.session;
  const settings = { ...options, username: options.username ?? "email", timeoutMs: options.timeoutMs ?? 5_000 };
  if (database !== undefined && (secondaryStorage === undefined || session?.storeSessionInDatabase)) {
    return databaseSessions(auth, settings);
  }
  if (secondaryStorage !== undefined) return storageSessions(auth, settings);
  const message =
    "better-auth has neither a database nor a secondary storage: its sessions live in cookies. " +
    'Use cookieOnlySessions("better-auth").';
  throw new ActuatorError("INVALID_ARGUMENT", "NO_SESSION_STORE", message);
}
