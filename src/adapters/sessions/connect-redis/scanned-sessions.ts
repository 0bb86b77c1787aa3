import type { Session } from "../../../sessions/session.ts";
import type { SessionPage, SessionQuery, SessionSearch } from "../../../sessions/store.ts";
import type { ScanBounds } from "../../kit/connect-session/session-scan.ts";
import { pageByKey } from "./listing.ts";
import { scanForUser } from "./scan.ts";
import { FIRST_KEYS, type KeysPosition, type SessionKeys } from "./session-keys.ts";
import type { SessionReader } from "./session-reader.ts";
import type { SessionView } from "./session-view.ts";
import type { StoredSessions } from "./stored-sessions.ts";

/** Searches and lists by walking over Redis' keys, within bounds. */
export class ScannedSessions {
  readonly #stored: StoredSessions;
  readonly #keys: SessionKeys;
  readonly #reader: SessionReader;
  readonly #view: SessionView;
  readonly #bounds: ScanBounds;

  constructor(stored: StoredSessions, keys: SessionKeys, reader: SessionReader, view: SessionView, bounds: ScanBounds) {
    this.#stored = stored;
    this.#keys = keys;
    this.#reader = reader;
    this.#view = view;
    this.#bounds = bounds;
  }

  async findByUsername(username: string): Promise<SessionSearch> {
    const { ids, complete } = await scanForUser(username, this.#stored, this.#keys, this.#view, this.#bounds);
    const sessions = await this.#reader.read(ids);
    const theirs = sessions.filter((session): session is Session => session?.username === username);
    return { sessions: theirs, partial: !complete };
  }

  /** A page in the order of Redis' own table. A list that is read to its end is not partial. */
  async list({ limit, after }: SessionQuery): Promise<SessionPage> {
    return { ...(await pageByKey(this.#keys, this.#reader, limit, after)), partial: false };
  }

  /** undefined where the bounds do not suffice. */
  async count(): Promise<number | undefined> {
    const { maxSessions = 50_000, maxMs = 500 } = this.#bounds;
    const began = performance.now();
    const ids = new Set<string>();
    let at: KeysPosition | undefined = FIRST_KEYS;
    while (at !== undefined) {
      if (ids.size >= maxSessions || performance.now() - began >= maxMs) return undefined;
      const step: { ids: readonly string[]; next: KeysPosition | undefined } = await this.#keys.step(
        at,
        this.#stored.settings.scanCount,
      );
      for (const id of step.ids) ids.add(id);
      at = step.next;
    }
    return ids.size;
  }
}
