import { setImmediate } from "node:timers/promises";
import { count, nonNegativeMs, objectOf } from "../../../common/options.ts";
import type { PrincipalResolver, SessionRecord } from "../../../sessions/principal.ts";
import type { Session } from "../../../sessions/session.ts";
import type { SessionSearch, SessionStore } from "../../../sessions/store.ts";
import { attributeNames, maxInactiveInterval, type RecordTimes, type SessionEntry } from "./record.ts";
import type { Sightings } from "./sightings.ts";

/** Bounds of a search through a store without an index. A search that reaches one returns a partial result. */
export interface ScanBounds {
  /** Sessions to read. Default: 50,000. */
  readonly maxSessions?: number | undefined;
  /** Milliseconds to spend. Default: 500. */
  readonly maxMs?: number | undefined;
}

export const SCAN_BOUNDS = objectOf<ScanBounds>({ maxSessions: count, maxMs: nonNegativeMs });

/** Measures one search against its bounds. */
export class ScanLimit {
  readonly #end: number;
  /** How many more sessions may be read. */
  left: number;

  constructor({ maxSessions = 50_000, maxMs = 500 }: ScanBounds = {}) {
    this.left = maxSessions;
    this.#end = performance.now() + maxMs;
  }

  /** Whether the search has to stop here. */
  reached(now = performance.now()): boolean {
    return this.left <= 0 || now >= this.#end;
  }
}

/** The sessions of a store, as they arrive. */
export type SessionEntries = Iterable<SessionEntry> | AsyncIterable<SessionEntry>;

const MAX_TURN_MS = 10;

/** Visits the sessions within the bounds and yields to other work meanwhile. Resolves to whether a bound was reached. */
export async function scanSessions(
  entries: SessionEntries,
  bounds: ScanBounds,
  visit: (id: string, record: SessionRecord) => void,
): Promise<boolean> {
  const limit = new ScanLimit(bounds);
  let turn = performance.now() + MAX_TURN_MS;
  let visited = false;
  for await (const [id, record] of entries) {
    const now = performance.now();
    // A slow store still gets one session read.
    if (limit.left <= 0 || (visited && limit.reached(now))) return true;
    visit(id, record);
    visited = true;
    limit.left--;
    if (now < turn) continue;
    await setImmediate();
    turn = performance.now() + MAX_TURN_MS;
  }
  return false;
}

/** Turns records into sessions, with what this process remembers beside them. */
export class RecordReader {
  readonly #times: RecordTimes;
  readonly #sightings: Sightings;
  readonly username: PrincipalResolver;

  constructor(times: RecordTimes, sightings: Sightings, username: PrincipalResolver) {
    this.#times = times;
    this.#sightings = sightings;
    this.username = username;
  }

  /** Returns the session of a record, and remembers when it was first seen. */
  session(id: string, record: SessionRecord): Session {
    const times = this.#times;
    const { creationTime, firstSeenTime, lastUsedTime } = this.#sightings.see(id, record, false);
    return {
      id,
      attributeNames: attributeNames(record, times.hidden),
      creationTime,
      firstSeenTime,
      lastAccessedTime: times.lastAccessedTime(record) ?? lastUsedTime,
      maxInactiveInterval: maxInactiveInterval(times.maxAge(record)),
      expired: times.expired(record),
      username: this.username(record),
    };
  }

  /** Returns the last known use of the session, by which lists are ordered. */
  accessTime(id: string, record: SessionRecord): number {
    const time = this.#times.lastAccessedTime(record);
    if (time !== undefined) return time;
    const { firstSeenTime, lastUsedTime } = this.#sightings.see(id, record, false);
    return lastUsedTime ?? firstSeenTime;
  }

  expired(record: SessionRecord): boolean {
    return this.#times.expired(record);
  }
}

/** Reads sessions within the bounds and keeps those of the user. */
export async function sessionsOfUser(
  entries: SessionEntries,
  username: string,
  reader: RecordReader,
  bounds: ScanBounds = {},
): Promise<SessionSearch> {
  const found: SessionEntry[] = [];
  const partial = await scanSessions(entries, bounds, (id, record) => {
    if (reader.username(record) === username) found.push([id, record]);
  });
  return { sessions: found.map(([id, record]) => reader.session(id, record)), partial };
}

/** What a store without an index can do by reading all of its sessions. */
export type ScannedSessions = Required<Pick<SessionStore, "count" | "findByUsername" | "list">>;

/**
 * Searches and lists sessions by reading all of them within the bounds. A list is ordered by newest access, then by id; a
 * page begins after the last position of the page before, even if sessions have come or gone since. A count is never short:
 * if the bounds do not suffice, it is undefined.
 */
export function scannedSessions(
  entries: () => Promise<SessionEntries> | SessionEntries,
  reader: RecordReader,
  bounds: ScanBounds = {},
): ScannedSessions {
  return {
    findByUsername: async (username) => sessionsOfUser(await entries(), username, reader, bounds),
    async list({ limit, after, active }) {
      const newest = new NewestSessions(limit, after);
      const partial = await scanSessions(await entries(), bounds, (id, record) => {
        if (active !== undefined && reader.expired(record) === active) return;
        newest.offer({ id, record, time: reader.accessTime(id, record) });
      });
      const { sessions, next } = newest.first();
      return { sessions: sessions.map(({ id, record }) => reader.session(id, record)), partial, next };
    },
    async count({ active }) {
      let counted = 0;
      const partial = await scanSessions(await entries(), bounds, (_, record) => {
        if (active === undefined || reader.expired(record) !== active) counted++;
      });
      return partial ? undefined : counted;
    },
  };
}

/** A session with the time that orders it. */
export interface TimedSession {
  readonly id: string;
  readonly record: SessionRecord;
  readonly time: number;
}

/**
 * Collects the first sessions after a position in the order of newest access and then id. It keeps no more than it needs,
 * however many it is offered.
 */
export class NewestSessions {
  readonly #limit: number;
  readonly #after: Pick<TimedSession, "id" | "time"> | undefined;
  #kept: TimedSession[] = [];

  /** @param after the `next` of the page before */
  constructor(limit: number, after?: string) {
    this.#limit = limit;
    this.#after = after === undefined ? undefined : positionOf(after);
  }

  offer(session: TimedSession): void {
    if (this.#after !== undefined && byNewest(session, this.#after) <= 0) return;
    this.#kept.push(session);
    if (this.#kept.length > 2 * this.#limit + 1) this.#cut(this.#limit + 1);
  }

  /** Returns the first sessions in order, and the position of the last one if more follow. */
  first(): { sessions: readonly TimedSession[]; next: string | undefined } {
    this.#cut(this.#limit + 1);
    const sessions = this.#kept.slice(0, this.#limit);
    const last = sessions.at(-1);
    const next = last !== undefined && this.#kept.length > this.#limit ? positionText(last) : undefined;
    return { sessions, next };
  }

  #cut(length: number): void {
    this.#kept = this.#kept.sort(byNewest).slice(0, length);
  }
}

function byNewest(a: Pick<TimedSession, "id" | "time">, b: Pick<TimedSession, "id" | "time">): number {
  return b.time - a.time || (a.id === b.id ? 0 : a.id < b.id ? -1 : 1);
}

/** Writes the position of a session in the order, as `next` has it. */
export function positionText({ time, id }: Pick<TimedSession, "id" | "time">): string {
  return `${time} ${id}`;
}

function positionOf(next: string): Pick<TimedSession, "id" | "time"> {
  const space = next.indexOf(" ");
  return { time: Number(next.slice(0, space)), id: next.slice(space + 1) };
}
