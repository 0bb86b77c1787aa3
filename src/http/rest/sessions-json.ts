import type { Session } from "../../sessions/session.ts";

/** A session as section 2.5 of the specification shows it. */
export function sessionJson(session: Session): string {
  return JSON.stringify(fields(session));
}

/** The sessions of a user, as section 2.6 shows them. */
export function sessionsJson(sessions: readonly Session[]): string {
  return JSON.stringify({ sessions: sessions.map(fields) });
}

/** What is not known and cannot honestly stand for something else is left out. */
function fields(session: Session) {
  const { id, attributeNames, firstSeenTime, creationTime = firstSeenTime, maxInactiveInterval, expired } = session;
  return {
    id,
    attributeNames,
    creationTime: timestamp(creationTime),
    lastAccessedTime: timestamp(session.lastAccessedTime ?? creationTime),
    maxInactiveInterval: maxInactiveInterval === undefined ? undefined : Math.floor(maxInactiveInterval),
    expired,
  };
}

/** Always with three digits of a fraction, unlike the JSON of protobuf. */
function timestamp(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}
