/** One HTTP session as its store knows it. Times are milliseconds since the epoch. What is not known is left out. */
export interface Session {
  readonly id: string;
  /** Names of what is stored in the session; never values. */
  readonly attributeNames: readonly string[];
  /** When the session was created, where the store or the adapter saw it. */
  readonly creationTime?: number | undefined;
  /** When this process first saw the session: stands in where a creation time is required and none is known. */
  readonly firstSeenTime: number;
  /** When a request last used the session. */
  readonly lastAccessedTime?: number | undefined;
  /** Whole seconds of inactivity until it expires; negative: never. */
  readonly maxInactiveInterval?: number | undefined;
  /** True where the session has expired and its store still keeps it. */
  readonly expired: boolean;
  /** Whose session it is, where somebody is logged in. */
  readonly username?: string | undefined;
}
