import { type Outcome, type Remote, reasonOf } from "./remote.ts";
import type { Ended, Wanted } from "./wanted.ts";

/** For how long a held level is set, and one that the instance lets nobody set for long. */
const LEASE_MS = { held: 60_000, refused: 300_000 } as const;

/** What became of a level that was set at an instance. */
export interface Brought extends Outcome {
  /** It lasts so many milliseconds there and is to be set again before; undefined: it lasts as long as it is wanted. */
  readonly lease: number | undefined;
}

/**
 * Sets a level at an instance for as long as it is wanted here, or for a while where only that is possible. `isLease`: it was so
 * before. Undefined: its time is over.
 */
export async function bringLevel(remote: Remote, wanted: Wanted, isLease: boolean): Promise<Brought | undefined> {
  const { name, level, override, reason } = wanted;
  const left = override.expireTime === undefined ? undefined : override.expireTime - Date.now();
  if (left !== undefined && left <= 0) return undefined;
  const forAWhile = async (most: number): Promise<Brought> => {
    const lease = Math.min(most, left ?? most);
    return { ...(await remote.set(name, level, lease, reason)), lease };
  };
  // Whoever holds a level through here lets go of it with this process.
  if (override.held) return forAWhile(LEASE_MS.held);
  if (isLease) return forAWhile(LEASE_MS.refused);
  try {
    return { ...(await remote.set(name, level, left ?? 0, reason)), lease: undefined };
  } catch (error) {
    if (reasonOf(error) !== "INVALID_TTL") throw error;
    return forAWhile(LEASE_MS.refused);
  }
}

/** Ends a level at an instance as it ended here. `before`: what was brought there for a while. */
export function endLevel(remote: Remote, { name, kind, reason }: Ended, before: Wanted | undefined): Promise<Outcome> {
  if (kind === "CLEARED") return remote.clear(name, reason);
  if (kind === "RESTORED" || before === undefined) return remote.restore(name, reason);
  // A level for a moment takes the place of the temporary one, and what is beneath comes back.
  return remote.set(name, before.level, 1, before.reason);
}
