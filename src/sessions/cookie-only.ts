import type { SessionStore } from "./store.ts";

/**
 * Stands where an application's sessions live in its clients' cookies, sealed or signed, as those of iron-session and
 * cookie-session do. The server keeps none that could be shown or ended, and every call is answered with that reason, so
 * that nobody takes an empty list for an application without sessions.
 *
 * @param library the name of the library, for the reason: "iron-session"
 */
export function cookieOnlySessions(library: string): SessionStore {
  const reason =
    `The sessions of ${library} live in the clients' cookies: the server keeps none that it could show or end. ` +
    `A new secret of ${library} ends all of them at once; for more, the application needs a store on the server.`;
  return {
    kind: library,
    findById: async () => undefined,
    limits: { findById: reason, findByUsername: reason, list: reason, delete: reason },
  };
}
