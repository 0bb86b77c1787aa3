import { ActuatorError } from "../common/error.ts";
import { SessionHandles } from "./session-handle.ts";
import { isSessionId, sessionDigest } from "./session-id.ts";
import type { SessionStore } from "./store.ts";

/** Translates between a store's ids and what callers see instead. */
export interface SessionIds {
  /** Returns what callers see for each of these ids. */
  shown(ids: readonly string[]): readonly string[];
  /**
   * Returns the store's id for what a caller passed; undefined if no session has it.
   *
   * @throws ActuatorError NOT_FOUND (SESSION_NOT_RESOLVED) if the store could not be searched to its end.
   */
  resolve(shown: string): Promise<string | undefined>;
  /** Forgets a session that has ended. */
  forget(shown: string): void;
}

/**
 * Shows the store's own ids.
 *
 * @throws ActuatorError INVALID_ARGUMENT if they are bearer tokens; so does each method that shows one, because stores may come later.
 */
export function rawIds(store: SessionStore): SessionIds {
  const refuseTokens = () => {
    if (!store.bearerIds) return;
    const message = `The ids of the ${store.kind} store are bearer tokens and cannot be shown: leave out ids: "raw".`;
    throw new ActuatorError("INVALID_ARGUMENT", "RAW_IDS_REFUSED", message, { field: "ids" });
  };
  refuseTokens();
  return {
    shown(ids) {
      refuseTokens();
      return ids;
    },
    resolve: async (shown) => (isSessionId(shown) ? shown : undefined),
    forget: () => {},
  };
}

/** Bounds of a search through a whole store for one id. */
const SCAN = { maxSessions: 50_000, maxMs: 500, pageSize: 500 };
/** Searches at a time, so that requests for invented ids cannot keep the store from its application. */
const MAX_SEARCHES = 4;

/**
 * Shows handles instead of ids. It finds an id again among the last ones shown, through the store's index, or by a bounded
 * search through all sessions.
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

  shown(ids: readonly string[]): readonly string[] {
    const handles = this.#handles.handlesOf(ids);
    for (const [index, handle] of handles.entries()) this.#shown.remember(handle, ids[index]!);
    return handles;
  }

  async resolve(handle: string): Promise<string | undefined> {
    const digest = this.#handles.digestOf(handle);
    if (digest === undefined) return undefined;
    const indexed = this.#shown.find(handle) ?? (await this.#store.findIdByDigest?.(digest));
    if (indexed === null) return undefined;
    // An index is a hint: verify that it returned the session asked for.
    if (indexed !== undefined && sessionDigest(indexed) === digest) return indexed;
    if (this.#searches >= MAX_SEARCHES) throw unresolved(`is already searching for other ids. Try again. ${INDEX}`);
    this.#searches++;
    return this.#search(digest).finally(() => this.#searches--);
  }

  forget(handle: string): void {
    this.#shown.forget(handle);
  }

  async #search(digest: string): Promise<string | undefined> {
    const store = this.#store;
    if (store.list === undefined) {
      throw unresolved(`cannot list its sessions to search for it. ${store.findByUsername ? BY_USER : RAW_ONLY}`);
    }
    const deadline = performance.now() + SCAN.maxMs;
    let after: string | undefined;
    for (let pages = 0; pages < SCAN.maxSessions / SCAN.pageSize && performance.now() < deadline; pages++) {
      const { sessions, partial, next } = await store.list({ limit: SCAN.pageSize, after });
      const found = sessions.find(({ id }) => sessionDigest(id) === digest);
      if (found !== undefined) return found.id;
      if (partial) break;
      if (next === undefined) return undefined;
      after = next;
    }
    throw unresolved(`is too large to search for it. ${BY_USER} ${INDEX}`);
  }
}

const BY_USER = "List the sessions of its user first.";
const INDEX = "Or give the store an index of ids: connect-actuator sessions prepare.";
const RAW_ONLY = 'Only its own ids can be looked up (createActuator.sessions.ids: "raw").';

function unresolved(why: string): ActuatorError {
  const message = `This instance has not shown a session with this id, and the store ${why}`;
  return new ActuatorError("NOT_FOUND", "SESSION_NOT_RESOLVED", message, { field: "id" });
}

/**
 * Remembers the ids that were shown last, by their handles: at least the last `limit`, at most twice as many.
 *
 * Two generations instead of one list: deleting single entries from the front of a large Map costs more than everything
 * else that is done for a session of a page.
 */
export class ShownIds {
  readonly #limit: number;
  #recent = new Map<string, string>();
  #older = new Map<string, string>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  remember(handle: string, id: string): void {
    if (this.#limit === 0) return;
    if (this.#recent.size >= this.#limit && !this.#recent.has(handle)) {
      this.#older = this.#recent;
      this.#recent = new Map();
    }
    this.#recent.set(handle, id);
  }

  find(handle: string): string | undefined {
    return this.#recent.get(handle) ?? this.#older.get(handle);
  }

  forget(handle: string): void {
    this.#recent.delete(handle);
    this.#older.delete(handle);
  }
}
