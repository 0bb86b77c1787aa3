import { setImmediate } from "node:timers/promises";
import { sessionDigest } from "../../../sessions/session-id.ts";
import { NewestSessions, positionText } from "../../kit/connect-session/newest-sessions.ts";
import type { Beginning, DirectoryEntry, SessionDirectory } from "./directory.ts";

const DIGESTS_A_TURN = 5_000;
/** Stores keep a session a little longer than it can be used. */
const GRACE = 60_000;

/**
 * The sessions that passed through the store of this process, at most `limit`: beyond it, those are forgotten that were
 * saved the longest time ago.
 */
export class MemoryDirectory implements SessionDirectory {
  readonly #limit: number;
  /** In the order of their saves. */
  readonly #byId = new Map<string, DirectoryEntry>();
  readonly #idsByUser = new Map<string, Set<string>>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  get size(): number {
    return this.#byId.size;
  }

  async saved(entry: DirectoryEntry, made: boolean): Promise<void> {
    const known = made ? undefined : this.#byId.get(entry.id);
    this.ended(entry.id);
    this.#byId.set(entry.id, known === undefined ? entry : { ...entry, ...beginningOf(known) });
    if (entry.username !== undefined) {
      const ids = this.#idsByUser.get(entry.username) ?? new Set();
      this.#idsByUser.set(entry.username, ids.add(entry.id));
    }
    for (const [oldest, { expiryTime }] of this.#byId) {
      if (this.#byId.size <= this.#limit && expiryTime + GRACE > Date.now()) break;
      this.ended(oldest);
    }
  }

  seen(entry: DirectoryEntry): void {
    const known = this.#byId.get(entry.id);
    if (known === undefined || known.username !== entry.username) void this.saved(entry, false);
  }

  ended(id: string): void {
    const entry = this.#byId.get(id);
    if (entry === undefined) return;
    this.#byId.delete(id);
    const ids = entry.username === undefined ? undefined : this.#idsByUser.get(entry.username);
    ids?.delete(id);
    if (ids?.size === 0) this.#idsByUser.delete(entry.username!);
  }

  async revoked(id: string): Promise<void> {
    this.ended(id);
  }

  // Of other processes it knows nothing.
  async isRevoked(): Promise<boolean> {
    return false;
  }

  async beginning(id: string): Promise<Beginning | undefined> {
    const known = this.#byId.get(id);
    return known && beginningOf(known);
  }

  async idsOfUser(username: string, limit: number): Promise<readonly string[]> {
    return [...(this.#idsByUser.get(username) ?? [])].slice(-limit);
  }

  async newest(limit: number, after?: string): Promise<readonly { id: string; position: string }[]> {
    const newest = new NewestSessions(limit, after);
    for (const { id, accessedTime } of this.#byId.values()) newest.offer({ id, time: accessedTime, record: {} });
    return newest.first().sessions.map(({ id, time }) => ({ id, position: positionText({ id, time }) }));
  }

  async idOf(digest: string): Promise<string | undefined> {
    let tried = 0;
    for (const id of this.#byId.keys()) {
      if (sessionDigest(id) === digest) return id;
      if (++tried % DIGESTS_A_TURN === 0) await setImmediate();
    }
    return undefined;
  }

  async complete(): Promise<boolean> {
    return false;
  }

  async close(): Promise<void> {}
}

function beginningOf({ creationTime, firstSeenTime }: DirectoryEntry): Beginning {
  return { creationTime, firstSeenTime };
}
