import { setImmediate } from "node:timers/promises";
import { sessionDigest } from "../../../sessions/session-id.ts";
import { NewestSessions, positionText } from "../../kit/connect-session/scan.ts";

/** What is known of a session beyond its store. Times are milliseconds since the epoch. */
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
 * Finds the sessions of a store that cannot list them, by what passes through the store. It is a hint: read a session found
 * here from the store before relying on it.
 */
export interface SessionDirectory {
  /** Notes a save; what is known of the session's beginning stays, unless it is `made` just now. Never fails. */
  saved(entry: DirectoryEntry, made: boolean): Promise<void>;
  /** Notes that a session exists. Never fails. */
  seen(entry: DirectoryEntry): void;
  /** Notes that the session has ended. Never fails. */
  ended(id: string): void;
  /** Notes that an operator is about to end the session. */
  revoked(id: string): Promise<void>;
  /** Checks whether an operator has ended, through another process, a session that was just saved. */
  isRevoked(id: string): Promise<boolean>;
  /** Returns when the session began; undefined if unknown. */
  beginning(id: string): Promise<Beginning | undefined>;
  idsOfUser(username: string, limit: number): Promise<readonly string[]>;
  /** Returns ids by last access, newest first, after a position. */
  newest(limit: number, after?: string): Promise<readonly { readonly id: string; readonly position: string }[]>;
  idOf(digest: string): Promise<string | undefined>;
  /** Checks whether it holds every session. */
  complete(): Promise<boolean>;
  /** Returns what an operator should change. */
  warnings?(): Promise<readonly string[]>;
  /** Closes its own connection. */
  close(): Promise<void>;
}

const DIGESTS_PER_TURN = 5_000;
/** Stores keep a session a little longer than it can be used. */
const GRACE_MS = 60_000;

/** Remembers the sessions that passed through the store of this process: the `limit` that were saved last. */
export class MemoryDirectory implements SessionDirectory {
  readonly #limit: number;
  /** In the order in which they were saved. */
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
      if (this.#byId.size <= this.#limit && expiryTime + GRACE_MS > Date.now()) break;
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

  // It knows nothing about other processes.
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
      if (++tried % DIGESTS_PER_TURN === 0) await setImmediate();
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
