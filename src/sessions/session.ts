/** One HTTP session as its store knows it. Times are milliseconds since the epoch; what is unknown is left out. */
export interface Session {
  readonly id: string;
  /** Names of what the application stores in the session; never values. */
  readonly attributeNames: readonly string[];
  /** When the session was created, if the store or the adapter saw it. */
  readonly creationTime?: number | undefined;
  /** When this process first saw the session; used if a creation time is required and none is known. */
  readonly firstSeenTime: number;
  /** When a request last used the session. */
  readonly lastAccessedTime?: number | undefined;
  /** Whole seconds of inactivity until the session expires; negative: never. */
  readonly maxInactiveInterval?: number | undefined;
  /** True if the session has expired and its store still keeps it. */
  readonly expired: boolean;
  /** The user who is logged in. */
  readonly username?: string | undefined;
}

/** Returns the last known use of the session, by which sessions are ordered, in milliseconds since the epoch. */
export function accessTime(session: Session): number {
  return session.lastAccessedTime ?? session.firstSeenTime;
}

/** Compares sessions: newest access first, then by id. */
export function byNewestAccess(a: Session, b: Session): number {
  return accessTime(b) - accessTime(a) || (a.id < b.id ? -1 : 1);
}
