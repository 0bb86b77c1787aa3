import type { Session } from "./session.ts";

/** When the session was last used, as far as anybody knows: what sessions are ordered by. Milliseconds since the epoch. */
export function accessTime(session: Session): number {
  return session.lastAccessedTime ?? session.firstSeenTime;
}

/** Newest access first, then by id. */
export function byNewestAccess(a: Session, b: Session): number {
  return accessTime(b) - accessTime(a) || (a.id < b.id ? -1 : 1);
}
