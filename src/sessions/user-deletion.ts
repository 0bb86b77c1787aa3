/** The result of ending all sessions of a user. */
export interface UserDeletion {
  /** How many were ended. */
  readonly deleted: number;
  /** True if the user may still have sessions: the store was not searched to its end, or new ones kept appearing. */
  readonly partial: boolean;
}

/** Finds and ends the sessions of one user, by the store's ids. */
export interface UserSessions {
  /** Returns the sessions that exist now and are to be ended. */
  find(): Promise<{ readonly ids: readonly string[]; readonly partial: boolean }>;
  /** Ends one session. Resolves to whether it existed. */
  end(id: string): Promise<boolean>;
}

const MAX_ROUNDS = 5;
const CONCURRENCY = 16;
const MAX_MS = 60_000;

/**
 * Ends the sessions that exist, then those that began meanwhile, until none is new. It gives up after five rounds, if the
 * user logs in faster than that, or after a minute, if the store is slow; then the result is partial.
 */
export async function endSessions({ find, end }: UserSessions): Promise<UserDeletion> {
  const deadline = performance.now() + MAX_MS;
  const tried = new Set<string>();
  let deleted = 0;
  let cutOff = false;
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const { ids, partial } = await find();
    cutOff ||= partial;
    const fresh = ids.filter((id) => !tried.has(id));
    if (fresh.length === 0) return { deleted, partial: cutOff };
    for (let start = 0; start < fresh.length; start += CONCURRENCY) {
      if (performance.now() >= deadline) return { deleted, partial: true };
      const batch = fresh.slice(start, start + CONCURRENCY);
      const ended = await Promise.all(batch.map(end));
      deleted += ended.filter((existed) => existed).length;
      for (const id of batch) tried.add(id);
    }
  }
  return { deleted, partial: true };
}
