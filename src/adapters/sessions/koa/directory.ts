/** What is known of a session besides what its store says. Times are milliseconds since the epoch. */
export interface DirectoryEntry {
  readonly id: string;
  readonly username: string | undefined;
  readonly accessedTime: number;
  /** Infinity: never. */
  readonly expiryTime: number;
  readonly creationTime: number | undefined;
  readonly firstSeenTime: number;
}

/** When a session began. */
export type Beginning = Pick<DirectoryEntry, "creationTime" | "firstSeenTime">;

/**
 * Where the sessions of a store are found that cannot list them: kept by what passes through the store. It is a hint:
 * whoever finds a session here reads the session itself before he believes it.
 */
export interface SessionDirectory {
  /**
   * The application saves the session; what is known of its beginning stays, unless it is `made` just now. Never fails.
   */
  saved(entry: DirectoryEntry, made: boolean): Promise<void>;
  /** A session was come across. Never fails. */
  seen(entry: DirectoryEntry): void;
  /** The session has ended. Never fails. */
  ended(id: string): void;
  /** An operator is about to end the session. */
  revoked(id: string): Promise<void>;
  /** Whether an operator has ended, by another process, a session that was just saved. */
  isRevoked(id: string): Promise<boolean>;
  /** When the session began; undefined: not known here. */
  beginning(id: string): Promise<Beginning | undefined>;
  idsOfUser(username: string, limit: number): Promise<readonly string[]>;
  /** Ids by last access, the newest first, after a position. */
  newest(limit: number, after?: string): Promise<readonly { readonly id: string; readonly position: string }[]>;
  idOf(digest: string): Promise<string | undefined>;
  /** Whether it holds every session there is. */
  complete(): Promise<boolean>;
  /** Ends a connection of its own. */
  close(): Promise<void>;
}
