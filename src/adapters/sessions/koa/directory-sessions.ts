import type { PrincipalResolver, SessionRecord } from "../../../sessions/principal.ts";
import type { Session } from "../../../sessions/session.ts";
import type { SessionPage, SessionQuery, SessionSearch } from "../../../sessions/store.ts";
import type { ScanBounds } from "../../kit/connect-session/session-scan.ts";
import type { DirectoryEntry, SessionDirectory } from "./directory.ts";
import { koaExpiryTime, koaFields, koaSavedTime } from "./koa-times.ts";

const BATCH = 32;
/** After how many milliseconds a session that its store has not is looked for again, and how many wait for that at most. */
const LOOK_AGAIN_AFTER = 1000;
const MAX_MISSING = 1000;

type Read = (id: string) => Promise<SessionRecord | undefined>;
type Found = readonly [id: string, record: SessionRecord];

/** The sessions of a store as a directory finds them and the store has them. */
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

  /** The application saves the session. */
  saved(id: string, record: SessionRecord, made: boolean): Promise<void> {
    return this.#directory.saved(this.#entry(id, record, made), made);
  }

  /** The session exists. */
  seen(id: string, record: SessionRecord): void {
    this.#directory.seen(this.#entry(id, record, false));
  }

  async findById(id: string): Promise<Session | undefined> {
    const [found] = await this.#readAll([id]);
    return found && this.#session(found);
  }

  async findByUsername(username: string): Promise<SessionSearch> {
    const { maxSessions = 50_000, maxMs = 500 } = this.#bounds;
    const end = performance.now() + maxMs;
    // Asked before the search, so that what is lost meanwhile makes it partial.
    const complete = await this.#directory.complete();
    const ids = await this.#directory.idsOfUser(username, maxSessions + 1);
    const sessions: Session[] = [];
    let read = 0;
    for (; read < Math.min(ids.length, maxSessions); read += BATCH) {
      if (read > 0 && performance.now() >= end) break;
      const found = await this.#readAll(ids.slice(read, Math.min(read + BATCH, maxSessions)));
      const theirs = found.filter(([, record]) => this.#principal(record) === username);
      sessions.push(...(await Promise.all(theirs.map((one) => this.#session(one)))));
    }
    return { sessions, partial: !complete || read < ids.length || ids.length > maxSessions };
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

  /** What the store has of these. The directory is told of what it has not, once that is sure. */
  async #readAll(ids: readonly string[]): Promise<Found[]> {
    const records = await Promise.all(ids.map(this.#read));
    return ids.flatMap((id, at): Found[] => {
      const record = records[at];
      if (record === undefined) this.#doubt(id);
      return record === undefined ? [] : [[id, record]];
    });
  }

  /** A session that is being saved stands in the directory a moment before it stands in the store. */
  #doubt(id: string): void {
    if (this.#missing.has(id) || this.#missing.size >= MAX_MISSING) return;
    this.#missing.add(id);
    const lookAgain = async (): Promise<void> => {
      this.#missing.delete(id);
      if ((await this.#read(id)) === undefined) this.#directory.ended(id);
    };
    setTimeout(() => lookAgain().catch(() => {}), LOOK_AGAIN_AFTER).unref();
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
