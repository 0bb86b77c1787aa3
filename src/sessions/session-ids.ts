import { ActuatorError } from "../common/error.ts";
import { sessionDigest } from "./session-digest.ts";
import { SessionHandles } from "./session-handle.ts";
import { isSessionId } from "./session-id.ts";
import { ShownIds } from "./shown-ids.ts";
import type { SessionStore } from "./store.ts";

/** What callers see in the place of a store's ids, and the way back. */
export interface SessionIds {
  /** What stands for this id. */
  shown(id: string): string;
  /**
   * The store's id of the session for which this stands; undefined where there is none.
   *
   * @throws ActuatorError NOT_FOUND (SESSION_NOT_RESOLVED) where the store could not be searched for it to the end.
   */
  resolve(shown: string): Promise<string | undefined>;
  /** The session is gone. */
  forget(shown: string): void;
}

/** The ids as the store has them. */
export const RAW_IDS: SessionIds = {
  shown: (id) => id,
  resolve: async (shown) => (isSessionId(shown) ? shown : undefined),
  forget: () => {},
};

/** The most that a search through a whole store for one id may take: sessions, milliseconds, and sessions at once. */
const SCAN = { sessions: 50_000, ms: 500, page: 500 };
/** So many at a time: whoever asks for ids that nobody has must not keep the store from its application. */
const MAX_SEARCHES = 4;

/**
 * Handles in the place of ids. An id is found again among the last that were shown, through the store's index, or by a
 * bounded search through all sessions.
 */
export class HashedIds implements SessionIds {
  readonly #store: SessionStore;
  readonly #handles: SessionHandles;
  readonly #shown: ShownIds;
  #searches = 0;

  /** @param key 16 bytes */
  constructor(store: SessionStore, key: Buffer, maxShown = 10_000) {
    this.#store = store;
    this.#handles = new SessionHandles(key);
    this.#shown = new ShownIds(maxShown);
  }

  shown(id: string): string {
    const handle = this.#handles.handleOf(id);
    this.#shown.remember(handle, id);
    return handle;
  }

  async resolve(handle: string): Promise<string | undefined> {
    const digest = this.#handles.digestOf(handle);
    if (digest === undefined) return undefined;
    const indexed = this.#shown.find(handle) ?? (await this.#store.findIdByDigest?.(digest));
    if (indexed === null) return undefined;
    // An index is a hint: what it says has to be the session that was asked for.
    if (indexed !== undefined && sessionDigest(indexed) === digest) return indexed;
    if (this.#searches >= MAX_SEARCHES) throw unresolved(`is being searched for others. Try again. ${INDEX}`);
    this.#searches++;
    return this.#search(digest).finally(() => this.#searches--);
  }

  forget(handle: string): void {
    this.#shown.forget(handle);
  }

  async #search(digest: string): Promise<string | undefined> {
    const store = this.#store;
    if (store.list === undefined) {
      throw unresolved(`cannot list its sessions, to search for it. ${store.findByUsername ? BY_USER : RAW_ONLY}`);
    }
    const deadline = performance.now() + SCAN.ms;
    let after: string | undefined;
    for (let pages = 0; pages < SCAN.sessions / SCAN.page && performance.now() < deadline; pages++) {
      const { sessions, partial, next } = await store.list({ limit: SCAN.page, after });
      const found = sessions.find(({ id }) => sessionDigest(id) === digest);
      if (found !== undefined) return found.id;
      if (partial) break;
      if (next === undefined) return undefined;
      after = next;
    }
    throw unresolved(`is too large to be searched for it. ${BY_USER} ${INDEX}`);
  }
}

const BY_USER = "List the sessions of its user first.";
const INDEX = "Or give the store an index of ids: connect-actuator sessions prepare.";
const RAW_ONLY = 'Only ids of its own can be looked up in it (createActuator.sessions.ids: "raw").';

function unresolved(why: string): ActuatorError {
  const message = `This instance has not shown a session of this id, and the store ${why}`;
  return new ActuatorError("NOT_FOUND", "SESSION_NOT_RESOLVED", message, { field: "id" });
}
