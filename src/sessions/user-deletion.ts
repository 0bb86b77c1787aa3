/** What became of the sessions of a user. */
export interface UserDeletion {
  /** How many were ended. */
  readonly deleted: number;
  /** True where the user may still have sessions: the store could not be searched to its end, or there was no end to them. */
  readonly partial: boolean;
}

/** How the sessions of one user are found and ended, by the store's ids. */
export interface UserSessions {
  /** Those to be ended that there are now. */
  find(): Promise<{ readonly ids: readonly string[]; readonly partial: boolean }>;
  /** Ends one. Resolves to whether it existed. */
  end(id: string): Promise<boolean>;
}

const MAX_ROUNDS = 5;
const AT_ONCE = 16;
const MAX_MS = 60_000;

/**
 * Ends what there is, and then what has begun meanwhile, until nothing new is found. A user who logs in faster than that
 * is given up after a few rounds, a store that takes its time after a minute, and the answer says so.
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
    for (let start = 0; start < fresh.length; start += AT_ONCE) {
      if (performance.now() >= deadline) return { deleted, partial: true };
      const batch = fresh.slice(start, start + AT_ONCE);
      const ended = await Promise.all(batch.map(end));
      deleted += ended.filter((existed) => existed).length;
      for (const id of batch) tried.add(id);
    }
  }
  return { deleted, partial: true };
}
