import { randomUUID } from "node:crypto";
import { setImmediate } from "node:timers/promises";
import { ActuatorError } from "../common/error.ts";
import { type Checks, callable, checkOptions, count, nonNegativeMs } from "../common/options.ts";
import { AccessOrder, type AccessPosition, EntriesByUser, MemoryEntry } from "./memory-entries.ts";
import type { Session } from "./session.ts";
import { isSessionId, sessionDigest } from "./session-id.ts";
import type { SessionPage, SessionQuery, SessionSearch, SessionStore } from "./store.ts";

/** How an in-memory store behaves. */
export interface MemorySessionsOptions {
  /** The most sessions kept at once, expired ones included. Default: 100,000. */
  readonly maxSessions?: number | undefined;
  /**
   * Milliseconds of inactivity after which a session without its own interval expires, rounded up to seconds; negative: never.
   * Default: 1,800,000.
   */
  readonly maxInactiveIntervalMs?: number | undefined;
  /** Milliseconds for which lists still show an expired session. Default: 300,000. */
  readonly expiredRetentionMs?: number | undefined;
  /** Milliseconds since the epoch. Default: `Date.now`. */
  readonly clock?: (() => number) | undefined;
}

const OPTIONS: Checks<MemorySessionsOptions> = {
  maxSessions: count,
  maxInactiveIntervalMs: (value) =>
    Number.isSafeInteger(value) ? undefined : "must be a whole number of milliseconds",
  expiredRetentionMs: nonNegativeMs,
  clock: callable,
};

/** What an application says of a session that it puts into an in-memory store. */
export interface SessionDetails {
  /** At most 512 UTF-16 code units without control characters. Default: a random UUID. */
  readonly id?: string | undefined;
  /** The user who is logged in, if any. */
  readonly username?: string | undefined;
  /** Names of what the application keeps in the session. Default: none. */
  readonly attributeNames?: readonly string[] | undefined;
  /** Whole seconds of inactivity until it expires; negative: never. Default: the store's. */
  readonly maxInactiveInterval?: number | undefined;
  /** Milliseconds since the epoch. Default: that of the session it replaces, or now. */
  readonly creationTime?: number | undefined;
  /** Milliseconds since the epoch. Default: now. */
  readonly lastAccessedTime?: number | undefined;
}

const SWEEP_INTERVAL_MS = 60_000;
/** How many ids are compared, or sessions counted, before the application gets a turn. */
const DIGESTS_PER_TURN = 1_000;
const COUNTED_PER_TURN = 50_000;

/**
 * Keeps sessions in the memory of this process, for applications without a session library. It holds what an operator may
 * see; the values of attributes stay with the application.
 *
 * A session expires when it was not used for its `maxInactiveInterval`. `touch` no longer finds it then, but lists show it
 * as expired until `expiredRetentionMs` has passed, or earlier if the store is full. Sessions are listed newest access
 * first, then by id.
 */
export class MemorySessionStore implements SessionStore {
  readonly kind = "memory";
  readonly #maxSessions: number;
  readonly #maxInactiveInterval: number;
  readonly #expiredRetentionMs: number;
  readonly #clock: () => number;
  readonly #entries = new Map<string, MemoryEntry>();
  readonly #byUser = new EntriesByUser();
  readonly #byAccess = new AccessOrder();
  readonly #nameLists = new NameLists();
  #nextSweep: number;

  /** @throws ActuatorError INVALID_ARGUMENT for an unknown or invalid option. */
  constructor(options: MemorySessionsOptions = {}) {
    checkOptions("memorySessions", options, OPTIONS);
    this.#maxSessions = options.maxSessions ?? 100_000;
    const { maxInactiveIntervalMs = 1_800_000 } = options;
    this.#maxInactiveInterval = maxInactiveIntervalMs < 0 ? -1 : Math.ceil(maxInactiveIntervalMs / 1_000);
    this.#expiredRetentionMs = options.expiredRetentionMs ?? 300_000;
    this.#clock = options.clock ?? Date.now;
    this.#nextSweep = this.#clock() + SWEEP_INTERVAL_MS;
  }

  /** The number of sessions kept, expired ones included. */
  get size(): number {
    this.#sweepWhenDue();
    return this.#entries.size;
  }

  /**
   * Stores a session and returns it. It replaces a live session with the same id, whose creation time it keeps unless
   * `details` has one: a login is `put({ id, username, … })`.
   *
   * @throws ActuatorError INVALID_ARGUMENT for an invalid id, interval or time, RESOURCE_EXHAUSTED if the store is full of
   * live sessions.
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

  /** Records an access to the session now. Returns false if there is none or it has expired. */
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
      // A session put meanwhile moves to the end, though it may have been counted already.
      if (++looked > size) break;
      if (this.#selects(entry, active)) count++;
      if (looked % COUNTED_PER_TURN === 0) await setImmediate();
    }
    return count;
  }

  // An index would take as much memory as the sessions themselves, for something an operator does now and then.
  async findIdByDigest(digest: string): Promise<string | null> {
    let compared = 0;
    for (const id of this.#entries.keys()) {
      if (sessionDigest(id) === digest) return id;
      if (++compared % DIGESTS_PER_TURN === 0) await setImmediate();
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
    return entry.expiryTime + this.#expiredRetentionMs <= this.#clock();
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

  // Swept on use instead of by a timer: an unused store does not grow, and there is nothing to close.
  #sweepWhenDue(): void {
    const now = this.#clock();
    if (now < this.#nextSweep) return;
    this.#nextSweep = now + SWEEP_INTERVAL_MS;
    this.#removeWhere((entry) => this.#forgotten(entry));
  }

  #removeWhere(condition: (entry: MemoryEntry) => boolean): void {
    for (const entry of this.#entries.values()) {
      if (condition(entry)) this.#remove(entry);
    }
  }
}

/**
 * Creates an in-memory store; see {@link MemorySessionStore}.
 *
 * @throws ActuatorError INVALID_ARGUMENT for an unknown or invalid option.
 * @example
 * const sessions = memorySessions({ maxInactiveInterval: 3600 });
 * createActuator({ sessions });
 * const { id } = sessions.put({ username: "alice", attributeNames: ["cart"] });
 * sessions.touch(id);
 */
export function memorySessions(options?: MemorySessionsOptions): MemorySessionStore {
  return new MemorySessionStore(options);
}

// Node concatenates a UUID from twenty pieces, which V8 keeps: 480 bytes instead of 56. A copy is in one piece.
function newId(): string {
  return Buffer.from(randomUUID(), "latin1").toString("latin1");
}

/** Returns the position after the last session of a page. */
function positionOf({ id, lastAccessedTime: time }: Session): string {
  return JSON.stringify({ time, id });
}

/** @throws ActuatorError INVALID_ARGUMENT for an invalid id, interval or time. */
function checkDetails({ id, maxInactiveInterval, creationTime, lastAccessedTime }: SessionDetails): void {
  if (id !== undefined && !isSessionId(id)) throw invalid("id", "1 to 512 characters without control characters");
  if (maxInactiveInterval !== undefined && !Number.isSafeInteger(maxInactiveInterval)) {
    throw invalid("maxInactiveInterval", "whole seconds");
  }
  for (const [field, time] of Object.entries({ creationTime, lastAccessedTime })) {
    if (time !== undefined && Number.isNaN(new Date(time).getTime())) {
      throw invalid(field, "milliseconds since the epoch");
    }
  }
}

function invalid(field: string, shape: string): ActuatorError {
  return new ActuatorError("INVALID_ARGUMENT", "SESSION_UNFIT", `A session's ${field} must be ${shape}.`, { field });
}

const NO_NAMES: readonly string[] = Object.freeze([]);
const MAX_LISTS = 1_000;

/** Keeps each list of attribute names once: most sessions of an application have the same. Remembers up to 1,000 lists. */
class NameLists {
  readonly #lists = new Map<string, readonly string[]>();

  /** Returns these names without repetitions, in their order. */
  listOf(names: readonly string[] = NO_NAMES): readonly string[] {
    if (names.length === 0) return NO_NAMES;
    const key = JSON.stringify(names);
    const known = this.#lists.get(key);
    if (known !== undefined) return known;
    const list = Object.freeze([...new Set(names)]);
    if (this.#lists.size < MAX_LISTS) this.#lists.set(key, list);
    return list;
  }
}
