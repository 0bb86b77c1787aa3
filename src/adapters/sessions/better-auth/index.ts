import { ActuatorError } from "../../../common/error.ts";
import type { SessionStore } from "../../../sessions/store.ts";
import { requireVersion } from "../../kit/library-version.ts";
import { databaseSessions } from "./database-sessions.ts";
import type { BetterAuthInstance, BetterAuthSessionOptions } from "./instance.ts";
import { type BetterAuthSessionsOptions, settingsOf } from "./options.ts";
import { storageSessions } from "./storage-sessions.ts";

export type { BetterAuthInstance } from "./instance.ts";
export type { BetterAuthSessionsOptions } from "./options.ts";
export type { BetterAuthUsername } from "./users.ts";

/**
 * The sessions of better-auth, through the application's own instance: its database, its names of tables and columns, its
 * secondary storage and its hooks.
 *
 * A session's id is the `id` of its row. The `token`, which lets its holder in, is read only to end a session, and shows
 * nowhere. `creationTime` is `createdAt`. `lastAccessedTime` is `updatedAt`, which better-auth writes once in
 * `session.updateAge` (a day, unless configured) and when a plugin changes the session: requests in between leave no
 * trace. `maxInactiveInterval` is what was left until `expiresAt` then. `attributeNames` are the columns that plugins and
 * the application added, where they hold something.
 *
 * A list is ordered by `updatedAt`, newest first; better-auth makes no index on it, and a table of very many sessions
 * wants one. Ending a session goes through `internalAdapter.deleteSession`. Where `session.cookieCache` is on, better-auth
 * itself accepts the cookie of a session that has ended until that cache is over, 5 minutes unless configured.
 *
 * Sessions kept in a secondary storage alone cannot be listed, and their id is `<id of the user>:<id of the session>`, or with a
 * digest of the token for sessions that better-auth before 1.6 made without an id.
 *
 * @throws ActuatorError INVALID_ARGUMENT where better-auth has neither a database nor a secondary storage, so that its
 * sessions live in cookies: `cookieOnlySessions("better-auth")` says so to operators.
 */
export function betterAuthSessions(auth: BetterAuthInstance, options: BetterAuthSessionsOptions = {}): SessionStore {
  requireVersion({ subpath: "better-auth", library: "better-auth", versions: "1.3 to 1.x" });
  const { database, secondaryStorage } = auth.options;
  const session: BetterAuthSessionOptions | undefined = auth.options.session;
  const settings = settingsOf(options);
  if (database !== undefined && (secondaryStorage === undefined || session?.storeSessionInDatabase)) {
    return databaseSessions(auth, settings);
  }
  if (secondaryStorage !== undefined) return storageSessions(auth, settings);
  const message =
    "better-auth has neither a database nor a secondary storage: its sessions live in cookies. " +
    'Use cookieOnlySessions("better-auth").';
  throw new ActuatorError("INVALID_ARGUMENT", "NO_SESSION_STORE", message);
}
