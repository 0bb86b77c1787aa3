import { randomUUID } from "node:crypto";
import { setImmediate } from "node:timers/promises";
import { ActuatorError } from "../common/error.ts";
import { checkOptions } from "../common/options.ts";
import { AccessOrder, type AccessPosition } from "./access-order.ts";
import { EntriesByUser } from "./entries-by-user.ts";
import { MemoryEntry } from "./memory-entry.ts";
import { MEMORY_SESSIONS, type MemorySessionsOptions } from "./memory-sessions-options.ts";
import { NameLists } from "./name-lists.ts";
import type { Session } from "./session.ts";
import { checkDetails, type SessionDetails } from "./session-details.ts";
import { sessionDigest } from "./session-digest.ts";
import type { SessionPage, SessionQuery, SessionSearch, SessionStore } from "./store.ts";

const SWEEP_INTERVAL = 60_000;
/** How many ids are compared, or sessions counted, before the application has its turn. */
const DIGESTS_AT_ONCE = 1_000;
const COUNTED_AT_ONCE = 50_000;

/**
 * Sessions in the memory of this process, for applications without a session library. It holds what an operator may see;
 * the values of attributes stay with the application.
 *
 * A session expires when it was not used for its `maxInactiveInterval`. `touch` no longer finds it then, but lists
 * show it as expired until `expiredRetention` has passed, or earlier where the store is full. All sessions are listed newest
 * access first, then by id.
 */
export class MemorySessionStore implements SessionStore {
  readonly kind = "memory";
  readonly #maxSessions: number;
  readonly #maxInactiveInterval: number;
  readonly #expiredRetention: number;
  readonly #clock: () => number;
  readonly #entries = new Map<string, MemoryEntry>();
  readonly #byUser = new EntriesByUser();
  readonly #byAccess = new AccessOrder();
  readonly #nameLists = new NameLists();
  #nextSweep: number;

  /** @throws ActuatorError INVALID_ARGUMENT for an option that does not exist or does not fit. */
  constructor(options: MemorySessionsOptions = {}) {
    checkOptions("memorySessions", options, MEMORY_SESSIONS);
    this.#maxSessions = options.maxSessions ?? 100_000;
    this.#maxInactiveInterval = options.maxInactiveInterval ?? 1800;
    this.#expiredRetention = options.expiredRetention ?? 300_000;
    this.#clock = options.clock ?? Date.now;
    this.#nextSweep = this.#clock() + SWEEP_INTERVAL;
  }

  /** How many sessions are kept, expired ones included. */
  get size(): number {
    this.#sweepWhenDue();
    return this.#entries.size;
  }

  /**
   * Stores a session and returns it as it now is. A live session of the same id is replaced, except that it keeps the
   * creation time that `details` leave out: so a login is `put({ id, username, … })`.
   *
   * @throws ActuatorError INVALID_ARGUMENT for an unfit id, interval or time, RESOURCE_EXHAUSTED where the store is full
   * of live sessions.
   */
  put(details: SessionDetails): Session {
    checkDetails(details);
    this.#sweepWhenDue();
    const id = details.id ?? newId();
    const kept = this.#entries.get(id);
    if (kept === undefined) this.#makeRoom();
    const known = kept !== undefined && !this.#expired(kept) ? kept : undefined;
    const now = this.#clock();
    const entry = new MemoryEntry({
      id,
      attributeNames: this.#nameLists.listOf(details.attributeNames),
      creationTime: details.creationTime ?? known?.creationTime ?? now,
      firstSeenTime: known?.firstSeenTime ?? now,
      lastAccessedTime: details.lastAccessedTime ?? now,
      maxInactiveInterval: details.maxInactiveInterval ?? this.#maxInactiveInterval,
      username: details.username || undefined,
    });
    if (kept !== undefined) this.#remove(kept);
    this.#add(entry);
    return this.#session(entry);
  }

  /** Counts as an access to the session now. Returns false where there is none or it has expired. */
  touch(id: string): boolean {
    this.#sweepWhenDue();
    const entry = this.#entries.get(id);
    if (entry === undefined || this.#expired(entry)) return false;
    this.#byAccess.remove(entry);
    entry.lastAccessedTime = this.#clock();
    this.#byAccess.add(entry);
    return true;
  }

  async findById(id: string): Promise<Session | undefined> {
    this.#sweepWhenDue();
    const entry = this.#entries.get(id);
    return entry === undefined || this.#forgotten(entry) ? undefined : this.#session(entry);
  }

  async findByUsername(username: string): Promise<SessionSearch> {
    this.#sweepWhenDue();
    const sessions: Session[] = [];
    for (const entry of this.#byUser.of(username)) {
      if (!this.#forgotten(entry)) sessions.push(this.#session(entry));
    }
    return { sessions, partial: false };
  }

  async list({ limit, after, active }: SessionQuery): Promise<SessionPage> {
    this.#sweepWhenDue();
    const position = after === undefined ? undefined : (JSON.parse(after) as AccessPosition);
    const sessions: Session[] = [];
    for (const entry of this.#byAccess.after(position, position && this.#entries.get(position.id))) {
      if (!this.#selects(entry, active)) continue;
      if (sessions.length === limit) return { sessions, partial: false, next: positionOf(sessions.at(-1)!) };
      sessions.push(this.#session(entry));
    }
    return { sessions, partial: false };
  }

  async count({ active }: Pick<SessionQuery, "active">): Promise<number> {
    this.#sweepWhenDue();
    const size = this.#entries.size;
    let looked = 0;
    let count = 0;
    for (const entry of this.#entries.values()) {
      // What is put meanwhile stands at the end, though it may have been counted already.
      if (++looked > size) break;
      if (this.#selects(entry, active)) count++;
      if (looked % COUNTED_AT_ONCE === 0) await setImmediate();
    }
    return count;
  }

  // An index would take as much room as the sessions themselves, for something that an operator does now and then.
  async findIdByDigest(digest: string): Promise<string | null> {
    let compared = 0;
    for (const id of this.#entries.keys()) {
      if (sessionDigest(id) === digest) return id;
      if (++compared % DIGESTS_AT_ONCE === 0) await setImmediate();
    }
    return null;
  }

  async delete(id: string): Promise<boolean> {
    const entry = this.#entries.get(id);
    if (entry === undefined) return false;
    this.#remove(entry);
    return !this.#forgotten(entry);
  }

  #session(entry: MemoryEntry): Session {
    const { id, attributeNames, creationTime, firstSeenTime, lastAccessedTime, maxInactiveInterval, username } = entry;
    const expired = this.#expired(entry);
    const times = { creationTime, firstSeenTime, lastAccessedTime, maxInactiveInterval };
    return { id, attributeNames, ...times, expired, username };
  }

  #expired(entry: MemoryEntry): boolean {
    return entry.expiryTime <= this.#clock();
  }

  #forgotten(entry: MemoryEntry): boolean {
    return entry.expiryTime + this.#expiredRetention <= this.#clock();
  }

  #selects(entry: MemoryEntry, active: boolean | undefined): boolean {
    return !this.#forgotten(entry) && this.#expired(entry) !== active;
  }

  #add(entry: MemoryEntry): void {
    this.#entries.set(entry.id, entry);
    this.#byUser.add(entry);
    this.#byAccess.add(entry);
  }

  #remove(entry: MemoryEntry): void {
    this.#entries.delete(entry.id);
    this.#byUser.remove(entry);
    this.#byAccess.remove(entry);
  }

  #makeRoom(): void {
    if (this.#entries.size < this.#maxSessions) return;
    this.#removeWhere((entry) => this.#expired(entry));
    if (this.#entries.size < this.#maxSessions) return;
    const message = `The in-memory store is full: it keeps at most ${this.#maxSessions} sessions (option maxSessions).`;
    throw new ActuatorError("RESOURCE_EXHAUSTED", "SESSION_STORE_FULL", message);
  }

  // Swept by use instead of by a timer: a store that nobody uses does not grow, and nothing has to be closed.
  #sweepWhenDue(): void {
    const now = this.#clock();
    if (now < this.#nextSweep) return;
    this.#nextSweep = now + SWEEP_INTERVAL;
    this.#removeWhere((entry) => this.#forgotten(entry));
  }

  #removeWhere(condition: (entry: MemoryEntry) => boolean): void {
    for (const entry of this.#entries.values()) {
      if (condition(entry)) this.#remove(entry);
    }
  }
}

/**
 * An in-memory store of its own; see `MemorySessionStore`.
 *
 * @throws ActuatorError INVALID_ARGUMENT for an option that does not exist or does not fit.
 */
export function memorySessions(options?: MemorySessionsOptions): MemorySessionStore {
  return new MemorySessionStore(options);
}

// Node puts a UUID together of twenty pieces, which V8 keeps: 480 bytes instead of 56. A copy is in one piece.
function newId(): string {
  return Buffer.from(randomUUID(), "latin1").toString("latin1");
}

/** Where a page ended that this session is the last of. */
function positionOf({ id, lastAccessedTime: time }: Session): string {
  return JSON.stringify({ time, id });
}
