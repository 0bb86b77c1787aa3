import type { SessionStore } from "./store.ts";

/**
 * Returns a store for applications whose sessions live in the clients' cookies, sealed or signed, as with iron-session and
 * cookie-session. The server has no sessions to show or end; every call is answered with that reason, so that an empty list
 * is never mistaken for an application without sessions.
 *
 * @param library the library's name, for the reason: "iron-session"
 * @example
 * createActuator({ sessions: cookieOnlySessions("iron-session") });
 */
export function cookieOnlySessions(library: string): SessionStore {
  const reason =
    `The sessions of ${library} live in the clients' cookies, so the server has none to show or end. ` +
    `A new secret for ${library} ends all of them at once; anything finer needs a store on the server.`;
  return {
    kind: library,
    findById: async () => undefined,
    limits: { findById: reason, findByUsername: reason, list: reason, delete: reason },
  };
}
