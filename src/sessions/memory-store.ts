import { randomUUID } from "node:crypto";
import { ActuatorError } from "../error.ts";
import type { Session } from "./session.ts";
import { isSessionId } from "./session-id.ts";
import type { SessionSearch, SessionStore } from "./store.ts";

/** How an in-memory store behaves. */
export interface MemorySessionsOptions {
  /** The most sessions kept at once, expired ones included. Default: 100,000. */
  readonly maxSessions?: number | undefined;
  /** Whole seconds of inactivity until a session expires that says nothing else; negative: never. Default: 1800. */
  readonly maxInactiveInterval?: number | undefined;
  /** Milliseconds for which an expired session is still shown to a search by user. Default: 300,000. */
  readonly expiredRetention?: number | undefined;
  /** Milliseconds since the epoch. Default: `Date.now`. */
  readonly clock?: (() => number) | undefined;
}

/** What an application says of a session that it puts into an in-memory store. */
export interface SessionDetails {
  /** Default: a random UUID. At most 512 UTF-16 code units without control characters. */
  readonly id?: string | undefined;
  /** Whose session it is, where somebody is logged in. */
  readonly username?: string | undefined;
  /** Names of what the application keeps in the session. Default: none. */
  readonly attributeNames?: readonly string[] | undefined;
  /** Whole seconds of inactivity until it expires; negative: never. Default: the store's. */
  readonly maxInactiveInterval?: number | undefined;
  /** Milliseconds since the epoch. Default: what it was before, or now. */
  readonly creationTime?: number | undefined;
  /** Milliseconds since the epoch. Default: now. */
  readonly lastAccessedTime?: number | undefined;
}

type Entry = Omit<Session, "expired" | "lastAccessedTime" | "maxInactiveInterval"> & {
  readonly maxInactiveInterval: number;
  lastAccessedTime: number;
};

const SWEEP_INTERVAL = 60_000;

/**
 * Sessions in the memory of this process, for applications without a session library. It holds what an operator may see;
 * the values of attributes stay with the application.
 *
 * A session expires when it was not used for its `maxInactiveInterval`. `touch` no longer finds it then, but a search by
 * user shows it as expired until `expiredRetention` has passed, or earlier where the store is full.
 */
export class MemorySessionStore implements SessionStore {
  readonly kind = "memory";
  readonly #maxSessions: number;
  readonly #maxInactiveInterval: number;
  readonly #expiredRetention: number;
  readonly #clock: () => number;
  readonly #entries = new Map<string, Entry>();
  readonly #byUsername = new Map<string, Set<Entry>>();
  #nextSweep: number;

  constructor(options: MemorySessionsOptions = {}) {
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
    const id = details.id ?? randomUUID();
    const kept = this.#entries.get(id);
    if (kept === undefined) this.#makeRoom();
    const known = kept !== undefined && !this.#expired(kept) ? kept : undefined;
    const now = this.#clock();
    const entry: Entry = {
      id,
      attributeNames: [...new Set(details.attributeNames)],
      creationTime: details.creationTime ?? known?.creationTime ?? now,
      firstSeenTime: known?.firstSeenTime ?? now,
      lastAccessedTime: details.lastAccessedTime ?? now,
      maxInactiveInterval: details.maxInactiveInterval ?? this.#maxInactiveInterval,
      username: details.username || undefined,
    };
    if (kept !== undefined) this.#remove(kept);
    this.#add(entry);
    return this.#session(entry);
  }

  /** Counts as an access to the session now. Returns false where there is none or it has expired. */
  touch(id: string): boolean {
    this.#sweepWhenDue();
    const entry = this.#entries.get(id);
    if (entry === undefined || this.#expired(entry)) return false;
    entry.lastAccessedTime = this.#clock();
    return true;
  }

  async findById(id: string): Promise<Session | undefined> {
    this.#sweepWhenDue();
    const entry = this.#entries.get(id);
    return entry === undefined || this.#forgotten(entry) ? undefined : this.#session(entry);
  }

  async findByUsername(username: string): Promise<SessionSearch> {
    this.#sweepWhenDue();
    const entries = [...(this.#byUsername.get(username) ?? [])];
    const kept = entries.filter((entry) => !this.#forgotten(entry));
    return { sessions: kept.map((entry) => this.#session(entry)), partial: false };
  }

  async delete(id: string): Promise<boolean> {
    const entry = this.#entries.get(id);
    if (entry === undefined) return false;
    this.#remove(entry);
    return !this.#forgotten(entry);
  }

  #session(entry: Entry): Session {
    return { ...entry, expired: this.#expired(entry) };
  }

  #expired(entry: Entry): boolean {
    return expiryTime(entry) <= this.#clock();
  }

  #forgotten(entry: Entry): boolean {
    return expiryTime(entry) + this.#expiredRetention <= this.#clock();
  }

  #add(entry: Entry): void {
    this.#entries.set(entry.id, entry);
    if (entry.username === undefined) return;
    const sameUser = this.#byUsername.get(entry.username);
    if (sameUser === undefined) this.#byUsername.set(entry.username, new Set([entry]));
    else sameUser.add(entry);
  }

  #remove(entry: Entry): void {
    this.#entries.delete(entry.id);
    if (entry.username === undefined) return;
    const sameUser = this.#byUsername.get(entry.username);
    sameUser?.delete(entry);
    if (sameUser?.size === 0) this.#byUsername.delete(entry.username);
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

  #removeWhere(condition: (entry: Entry) => boolean): void {
    for (const entry of this.#entries.values()) {
      if (condition(entry)) this.#remove(entry);
    }
  }
}

/** An in-memory store of its own; see `MemorySessionStore`. */
export function memorySessions(options?: MemorySessionsOptions): MemorySessionStore {
  return new MemorySessionStore(options);
}

function checkDetails({ id, maxInactiveInterval, creationTime, lastAccessedTime }: SessionDetails): void {
  if (id !== undefined && !isSessionId(id)) {
    throw unfit("id", "1 to 512 characters without control characters");
  }
  if (maxInactiveInterval !== undefined && !Number.isSafeInteger(maxInactiveInterval)) {
    throw unfit("maxInactiveInterval", "whole seconds");
  }
  for (const [field, time] of Object.entries({ creationTime, lastAccessedTime })) {
    if (time !== undefined && Number.isNaN(new Date(time).getTime())) {
      throw unfit(field, "milliseconds since the epoch");
    }
  }
}

function unfit(field: string, shape: string): ActuatorError {
  return new ActuatorError("INVALID_ARGUMENT", "SESSION_UNFIT", `A session's ${field} must be ${shape}.`, { field });
}

function expiryTime(entry: Entry): number {
  if (entry.maxInactiveInterval < 0) return Number.POSITIVE_INFINITY;
  return entry.lastAccessedTime + entry.maxInactiveInterval * 1000;
}
