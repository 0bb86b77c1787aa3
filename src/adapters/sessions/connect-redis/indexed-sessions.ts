import type { Session } from "../../../sessions/session.ts";
import type { SessionPage, SessionQuery, SessionSearch } from "../../../sessions/store.ts";
import type { ScanBounds } from "../../kit/connect-session/session-scan.ts";
import type { SessionIndex } from "../../kit/redis/session-index.ts";
import type { Corrections } from "./corrections.ts";
import { goesByAccess, pageByAccess } from "./listing.ts";
import type { ScannedSessions } from "./scanned-sessions.ts";
import type { SessionReader } from "./session-reader.ts";

/** Searches and lists by the index and, as long as it does not hold every session, by what a bounded scan finds besides. */
export class IndexedSessions {
  readonly #index: SessionIndex;
  readonly #reader: SessionReader;
  readonly #corrections: Corrections;
  readonly #scanned: ScannedSessions;
  readonly #incomplete: () => void;
  readonly #maxSessions: number;

  /** @param incomplete called whenever the index turned out not to hold every session */
  constructor(
    index: SessionIndex,
    reader: SessionReader,
    corrections: Corrections,
    scanned: ScannedSessions,
    { maxSessions = 50_000 }: ScanBounds,
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
      this.#complete(),
    ]);
    const found = await this.#sessionsOf(username, ids.slice(0, this.#maxSessions));
    if (complete) return { sessions: found, partial: ids.length > this.#maxSessions };
    const { sessions, partial } = await this.#scanned.findByUsername(username);
    const known = new Set(found.map(({ id }) => id));
    return { sessions: [...found, ...sessions.filter(({ id }) => !known.has(id))], partial };
  }

  /** A list that began by last access goes on so, even where the index has turned out since not to hold every session. */
  async list(query: SessionQuery): Promise<SessionPage> {
    const { limit, after } = query;
    const complete = await this.#complete();
    if (!(after === undefined ? complete : goesByAccess(after))) return this.#scanned.list(query);
    const page = await pageByAccess(this.#index, this.#reader, this.#corrections, limit, after);
    return { ...page, partial: !complete };
  }

  async count(): Promise<number | undefined> {
    const [count, complete] = await Promise.all([this.#index.count(), this.#complete()]);
    return complete ? count : this.#scanned.count();
  }

  async findIdByDigest(digest: string): Promise<string | null | undefined> {
    const [id, complete] = await Promise.all([this.#index.idOf(digest), this.#complete()]);
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

  async #complete(): Promise<boolean> {
    const complete = (await this.#index.claim.holds()) && !this.#corrections.outstanding;
    if (!complete) this.#incomplete();
    return complete;
  }
}
