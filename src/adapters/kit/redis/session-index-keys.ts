/** The keys of an index, all under its prefix. Each holds one thing, so that no command needs two of them. */
export interface SessionIndexKeys {
  /** Sorted set: the user's ids by the time at which they expire. Expires with the last of them. */
  user(username: string): string;
  /** Text: what is known of the session of this digest beyond its store. Expires some time after the session. */
  record(digest: string): string;
  /** Sorted set: all ids by their last access. */
  readonly accessed: string;
  /** Sorted set: all ids by the time at which they expire. */
  readonly expires: string;
  /** Hash: what is known of the index itself. */
  readonly state: string;
}

export function sessionIndexKeys(prefix: string): SessionIndexKeys {
  return {
    user: (username) => `${prefix}user:${username}`,
    record: (digest) => `${prefix}id:${digest}`,
    accessed: `${prefix}accessed`,
    expires: `${prefix}expires`,
    state: `${prefix}state`,
  };
}

/** What is kept of a session at the key of its digest. Times are milliseconds since the epoch. */
export interface IndexRecord {
  readonly id: string;
  readonly creationTime: number | undefined;
  readonly firstSeenTime: number;
}

export function recordText({ id, creationTime, firstSeenTime }: IndexRecord): string {
  return `${creationTime ?? ""} ${firstSeenTime} ${id}`;
}

/** undefined where the text is none of ours. */
export function recordOf(text: string | null): IndexRecord | undefined {
  const [, created, seen, id] = /^(\d*) (\d+) (.+)$/s.exec(text ?? "") ?? [];
  if (seen === undefined || id === undefined) return undefined;
  return { id, creationTime: created ? Number(created) : undefined, firstSeenTime: Number(seen) };
}
