import { ActuatorError } from "../../../common/error.ts";
import type { Session } from "../../../sessions/session.ts";
import type { SessionPage, SessionQuery, SessionSearch } from "../../../sessions/store.ts";
import { type ScanBounds, ScanLimit } from "../../kit/connect-session/scan.ts";
import { FIRST_KEYS, type KeysPage, type KeysPosition, type KeysStep, type SessionKeys } from "../../kit/redis/keys.ts";
import type { SessionIndex } from "../../kit/redis/session-index.ts";
import type { Corrections } from "./corrections.ts";
import type { SessionReader, SessionView } from "./session-view.ts";
import type { StoredSessions } from "./stored-sessions.ts";

/** What a position of a list begins with: whether it goes by last access or by Redis' keys. */
const BY_ACCESS = "a";
const BY_KEY = "k";

/** Milliseconds for a page; one that is cut off is shorter. */
const MAX_PAGE_MS = 500;

/** What a scan works with. */
export interface Scanning {
  readonly stored: StoredSessions;
  readonly keys: SessionKeys;
  readonly view: SessionView;
}

/** Searches and lists by walking over Redis' keys, within bounds. */
export class ScannedSessions {
  readonly #scanning: Scanning;
  readonly #reader: SessionReader;
  readonly #bounds: ScanBounds;

  constructor(scanning: Scanning, reader: SessionReader, bounds: ScanBounds) {
    this.#scanning = scanning;
    this.#reader = reader;
    this.#bounds = bounds;
  }

  async findByUsername(username: string): Promise<SessionSearch> {
    const { ids, partial } = await this.#scan(username);
    const sessions = await this.#reader.read(ids);
    return { sessions: sessions.filter((session) => session?.username === username) as Session[], partial };
  }

  /**
   * Returns a page in the order of Redis' own table. A list that is read to its end is not partial: it has every session that
   * was there throughout.
   */
  async list({ limit, after }: SessionQuery): Promise<SessionPage> {
    const { keys } = this.#scanning;
    const bound = new ScanLimit({ maxSessions: limit, maxMs: MAX_PAGE_MS });
    const sessions: Session[] = [];
    let next = after?.slice(BY_KEY.length);
    do {
      const page: KeysPage = await keys.page(bound.left, next);
      const read = (await this.#reader.read(page.ids)).filter(isSession);
      sessions.push(...read);
      bound.left -= read.length;
      next = page.next;
      // Some have ended meanwhile.
    } while (next !== undefined && !bound.reached());
    return { sessions, partial: false, next: next && BY_KEY + next };
  }

  /** Counts the sessions; undefined if the bounds do not suffice. */
  async count(): Promise<number | undefined> {
    const { keys, stored } = this.#scanning;
    const limit = new ScanLimit(this.#bounds);
    const ids = new Set<string>();
    let at: KeysPosition | undefined = FIRST_KEYS;
    while (at !== undefined) {
      if (limit.reached()) return undefined;
      const step: KeysStep = await keys.step(at, stored.settings.scanCount);
      for (const id of step.ids) ids.add(id);
      limit.left -= step.ids.length;
      at = step.next;
    }
    return ids.size;
  }

  async #scan(username: string): Promise<{ ids: readonly string[]; partial: boolean }> {
    const { keys, stored, view } = this.#scanning;
    const { scanCount } = stored.settings;
    const limit = new ScanLimit(this.#bounds);
    const mayBe = mayBeOf(username, view);
    const found = new Set<string>();
    let step = keys.step(FIRST_KEYS, scanCount);
    while (true) {
      const { ids, next }: KeysStep = await step;
      limit.left -= ids.length;
      const goesOn = next !== undefined && !limit.reached();
      const texts = stored.texts(ids);
      if (goesOn) {
        // Sent while the texts of this step are on their way.
        step = keys.step(next, scanCount);
        step.catch(() => {});
      }
      for (const [at, text] of (await texts).entries()) {
        if (!text || !mayBe(text)) continue;
        const record = await stored.parse(text);
        if (record !== undefined && view.principal(record) === username) found.add(ids[at]!);
      }
      if (!goesOn) return { ids: [...found], partial: next !== undefined };
    }
  }
}

/** Returns a test whether a string may be a session of this user, without parsing it, which is most of the work. */
function mayBeOf(username: string, { settings, namesInRecords }: SessionView): (text: string) => boolean {
  if (settings.serializer !== JSON || !namesInRecords) return () => true;
  const inJson = JSON.stringify(username).slice(1, -1);
  return (text) => text.includes(inJson);
}

const NOTHING_SEARCHED: SessionSearch = { sessions: [], partial: true };

/** Resolves to undefined if Redis refuses the search, as for a user without the permission for SCAN. */
async function unlessRefused<T>(search: Promise<T>): Promise<T | undefined> {
  try {
    return await search;
  } catch (error) {
    if (error instanceof ActuatorError && error.code === "FAILED_PRECONDITION") return undefined;
    throw error;
  }
}

/** Searches and lists by the index and, until it holds every session, by what a bounded scan finds in addition. */
export class IndexedSessions {
  readonly #index: SessionIndex;
  readonly #reader: SessionReader;
  readonly #corrections: Corrections;
  readonly #scanned: ScannedSessions;
  readonly #incomplete: () => void;
  readonly #maxSessions: number;

  /** @param incomplete called whenever the index turns out not to hold every session */
  constructor(
    index: SessionIndex,
    reader: SessionReader,
    corrections: Corrections,
    scanned: ScannedSessions,
    maxSessions: number,
    incomplete: () => void,
  ) {
    this.#index = index;
    this.#reader = reader;
    this.#corrections = corrections;
    this.#scanned = scanned;
    this.#incomplete = incomplete;
    this.#maxSessions = maxSessions;
  }

  async findByUsername(username: string): Promise<SessionSearch> {
    const [ids, complete] = await Promise.all([
      this.#index.idsOfUser(username, this.#maxSessions + 1),
      this.#complete("users"),
    ]);
    const found = await this.#sessionsOf(username, ids.slice(0, this.#maxSessions));
    if (complete) return { sessions: found, partial: ids.length > this.#maxSessions };
    const { sessions, partial } = (await unlessRefused(this.#scanned.findByUsername(username))) ?? NOTHING_SEARCHED;
    const known = new Set(found.map(({ id }) => id));
    return { sessions: [...found, ...sessions.filter(({ id }) => !known.has(id))], partial };
  }

  /** Returns a page. A list that began by last access continues so, even if the index has since become incomplete. */
  async list(query: SessionQuery): Promise<SessionPage> {
    const { limit, after } = query;
    if (after?.startsWith(BY_KEY)) return this.#scanned.list(query);
    const [accesses, complete] = await Promise.all([
      this.#index.newest(limit, after?.slice(BY_ACCESS.length)),
      this.#complete("accessed"),
    ]);
    if (after === undefined && !complete) {
      const page = await unlessRefused(this.#scanned.list(query));
      if (page !== undefined) return page;
    }
    const sessions = await this.#reader.read(
      accesses.map(({ id }) => id),
      accesses.map(({ accessedTime }) => accessedTime),
    );
    for (const [at, session] of sessions.entries()) {
      if (session === undefined) this.#corrections.doubt(accesses[at]!.id);
    }
    const last = accesses.length < limit ? undefined : accesses.at(-1);
    return { sessions: sessions.filter(isSession), partial: !complete, next: last && BY_ACCESS + last.position };
  }

  async count(): Promise<number | undefined> {
    const [count, complete] = await Promise.all([this.#index.count(), this.#complete("expires")]);
    return complete ? count : unlessRefused(this.#scanned.count());
  }

  async findIdByDigest(digest: string): Promise<string | null | undefined> {
    const [id, complete] = await Promise.all([this.#index.idOf(digest), this.#complete("records")]);
    return id ?? (complete ? null : undefined);
  }

  async #sessionsOf(username: string, ids: readonly string[]): Promise<Session[]> {
    const sessions = await this.#reader.read(ids);
    return sessions.filter((session, at): session is Session => {
      if (session?.username === username) return true;
      this.#corrections.doubt(ids[at]!, username);
      return false;
    });
  }

  async #complete(part: Parameters<SessionIndex["isComplete"]>[0]): Promise<boolean> {
    const complete = (await this.#index.isComplete(part)) && !this.#corrections.outstanding;
    if (!complete) this.#incomplete();
    return complete;
  }
}

function isSession(session: Session | undefined): session is Session {
  return session !== undefined;
}
