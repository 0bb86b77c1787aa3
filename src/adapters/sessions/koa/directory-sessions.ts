import type { PrincipalResolver, SessionRecord } from "../../../sessions/principal.ts";
import type { Session } from "../../../sessions/session.ts";
import type { SessionPage, SessionQuery, SessionSearch } from "../../../sessions/store.ts";
import { attributeNames, maxInactiveInterval } from "../../kit/connect-session/record.ts";
import { type ScanBounds, ScanLimit } from "../../kit/connect-session/scan.ts";
import type { DirectoryEntry, SessionDirectory } from "./directory.ts";

const BATCH = 32;
/** After how long a missing session is looked for again, and how many sessions may wait for that. */
const LOOK_AGAIN_AFTER_MS = 1000;
const MAX_MISSING = 1000;

type Read = (id: string) => Promise<SessionRecord | undefined>;
type Found = readonly [id: string, record: SessionRecord];

/** Reads the sessions that a directory finds from their store. */
export class DirectorySessions {
  readonly #read: Read;
  readonly #directory: SessionDirectory;
  readonly #principal: PrincipalResolver;
  readonly #bounds: ScanBounds;
  readonly #missing = new Set<string>();

  constructor(read: Read, directory: SessionDirectory, principal: PrincipalResolver, bounds: ScanBounds = {}) {
    this.#read = read;
    this.#directory = directory;
    this.#principal = principal;
    this.#bounds = bounds;
  }

  /** Notes a save. */
  saved(id: string, record: SessionRecord, made: boolean): Promise<void> {
    return this.#directory.saved(this.#entry(id, record, made), made);
  }

  /** Notes that the session exists. */
  seen(id: string, record: SessionRecord): void {
    this.#directory.seen(this.#entry(id, record, false));
  }

  async findById(id: string): Promise<Session | undefined> {
    const [found] = await this.#readAll([id]);
    return found && this.#session(found);
  }

  async findByUsername(username: string): Promise<SessionSearch> {
    const limit = new ScanLimit(this.#bounds);
    // Asked before the search, so that a write lost meanwhile makes it partial.
    const complete = await this.#directory.complete();
    const ids = await this.#directory.idsOfUser(username, limit.left + 1);
    const sessions: Session[] = [];
    let read = 0;
    while (read < ids.length && limit.left > 0 && !(read > 0 && limit.reached())) {
      const batch = ids.slice(read, read + Math.min(BATCH, limit.left));
      read += batch.length;
      limit.left -= batch.length;
      const found = await this.#readAll(batch);
      const theirs = found.filter(([, record]) => this.#principal(record) === username);
      sessions.push(...(await Promise.all(theirs.map((one) => this.#session(one)))));
    }
    return { sessions, partial: !complete || read < ids.length };
  }

  async list({ limit, after, active }: SessionQuery): Promise<SessionPage> {
    const complete = await this.#directory.complete();
    const positions = await this.#directory.newest(limit, after);
    const found: Found[] = [];
    for (let first = 0; first < positions.length; first += BATCH) {
      found.push(...(await this.#readAll(positions.slice(first, first + BATCH).map(({ id }) => id))));
    }
    const sessions = await Promise.all(found.map((one) => this.#session(one)));
    return {
      sessions: active === undefined ? sessions : sessions.filter(({ expired }) => expired !== active),
      partial: !complete,
      next: positions.length < limit ? undefined : positions.at(-1)?.position,
    };
  }

  /** Reads what the store has of these sessions. The directory forgets those it lacks, once that is certain. */
  async #readAll(ids: readonly string[]): Promise<Found[]> {
    const records = await Promise.all(ids.map(this.#read));
    return ids.flatMap((id, at): Found[] => {
      const record = records[at];
      if (record === undefined) this.#doubt(id);
      return record === undefined ? [] : [[id, record]];
    });
  }

  /** Looks again later: a session that is being saved is in the directory a moment before it is in the store. */
  #doubt(id: string): void {
    if (this.#missing.has(id) || this.#missing.size >= MAX_MISSING) return;
    this.#missing.add(id);
    const lookAgain = async (): Promise<void> => {
      this.#missing.delete(id);
      if ((await this.#read(id)) === undefined) this.#directory.ended(id);
    };
    setTimeout(() => lookAgain().catch(() => {}), LOOK_AGAIN_AFTER_MS).unref();
  }

  async #session([id, record]: Found): Promise<Session> {
    const entry = this.#entry(id, record, false);
    const known = await this.#directory.beginning(id);
    this.#directory.seen(entry);
    return {
      id,
      ...koaFields(record),
      creationTime: known?.creationTime,
      firstSeenTime: known?.firstSeenTime ?? entry.firstSeenTime,
      lastAccessedTime: koaSavedTime(record),
      username: entry.username,
    };
  }

  #entry(id: string, record: SessionRecord, made: boolean): DirectoryEntry {
    const now = Date.now();
    return {
      id,
      username: this.#principal(record),
      accessedTime: koaSavedTime(record) ?? now,
      expiryTime: koaExpiryTime(record),
      creationTime: made ? now : undefined,
      firstSeenTime: now,
    };
  }
}

const HIDDEN = ["_expire", "_maxAge", "_session"];

/** Returns the milliseconds of inactivity until the session expires; undefined: its cookie lives as long as the browser. */
function koaMaxAge({ _maxAge }: SessionRecord): number | undefined {
  return finite(_maxAge);
}

/** Returns when the session expires, in milliseconds since the epoch; Infinity: never. */
function koaExpiryTime({ _expire }: SessionRecord): number {
  return finite(_expire) ?? Number.POSITIVE_INFINITY;
}

/** Returns when the session was last saved; undefined if the record does not say. */
function koaSavedTime(record: SessionRecord): number | undefined {
  const age = koaMaxAge(record);
  const expires = finite(record._expire);
  return age === undefined || expires === undefined ? undefined : expires - age;
}

/** Reads what a record of koa-session says itself. */
function koaFields(record: SessionRecord) {
  return {
    attributeNames: attributeNames(record, HIDDEN),
    maxInactiveInterval: maxInactiveInterval(koaMaxAge(record)),
    expired: koaExpiryTime(record) < Date.now(),
  };
}

function finite(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) ? value : undefined;
}
