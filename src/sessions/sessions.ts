import { ActuatorError } from "../common/error.ts";
import { withTimeout } from "../common/timeout.ts";
import { PageSeal } from "./page-seal.ts";
import { byNewestAccess, type Session } from "./session.ts";
import { sessionKeys, warnAboutRandomKey } from "./session-handle.ts";
import { HashedIds, rawIds, type SessionIds } from "./session-ids.ts";
import { limitsOf, requireAbility, requireReach, type SessionSearch, type SessionStore } from "./store.ts";
import { endSessions, type UserDeletion } from "./user-deletion.ts";

/** How sessions are shown. */
export interface SessionsOptions {
  /**
   * What is shown as a session's `id`. `"hashed"`: a keyed hash in the shape of a UUID, which grants no access to the
   * session. `"raw"`: the store's own id, which is a credential. Default: `"hashed"`.
   */
  readonly ids?: "hashed" | "raw" | undefined;
  /**
   * The key of the hashes and of page tokens: a random string of at least 16 characters, or at least 16 bytes. Instances
   * with the same key show the same ids. Default: a random key for this process, with a process warning.
   */
  readonly idKey?: string | Uint8Array | undefined;
  /** Which attribute names are shown. Values never are. Default: all. */
  readonly attributes?: AttributeNamesOptions | undefined;
  /**
   * How many of the sessions shown last can be found again by their hash without a search in the store. Default: 10,000.
   */
  readonly maxShown?: number | undefined;
}

/** Which attribute names are shown, compared exactly. */
export interface AttributeNamesOptions {
  /** The names that may be shown. Default: all. */
  readonly allow?: readonly string[] | undefined;
  /** Names that are not shown, even if `allow` has them. Default: none. */
  readonly deny?: readonly string[] | undefined;
}

/** Selects sessions of the list of all. */
export interface SessionListQuery {
  /** The greatest number of sessions in the page, 1 to 1,000. Default: 100. */
  readonly pageSize?: number | undefined;
  /** The `nextPageToken` of the page before. Default: the first page. */
  readonly pageToken?: string | undefined;
  /** true: only sessions that have not expired; false: only expired ones that are still kept. Default: both. */
  readonly active?: boolean | undefined;
  /** Whether to count the sessions of the whole list. Default: false. */
  readonly includeTotal?: boolean | undefined;
}

/** One page of all sessions. */
export interface SessionList extends SessionSearch {
  /** undefined: this was the last page. */
  readonly nextPageToken: string | undefined;
  /** The number of sessions in the whole list; undefined: not requested, or the store cannot tell. */
  readonly totalSize: number | undefined;
}

const MAX_USERNAME_LENGTH = 1024;
const MAX_PAGE_SIZE = 1000;

/**
 * Shows and ends the sessions of an application for operators, whatever store keeps them. Every `id` here, passed or
 * returned, is the one that callers see.
 *
 * If the store is out of reach, each method rejects with an `ActuatorError` of code UNAVAILABLE. What the store cannot do is
 * UNIMPLEMENTED with the reason; if sessions live in cookies, everything is.
 */
export class Sessions {
  readonly #store: SessionStore;
  /** Whether ids are the application's own, which are credentials. */
  readonly showsRawIds: boolean;
  readonly #ids: SessionIds;
  readonly #seal: PageSeal;
  readonly #visibleNames: (names: readonly string[]) => readonly string[];
  #detached: Promise<void> | undefined;

  /** @throws ActuatorError INVALID_ARGUMENT if `ids` is "raw" and the store's ids are bearer tokens. */
  constructor(store: SessionStore, options: SessionsOptions = {}) {
    const { ids = "hashed", idKey, attributes, maxShown } = options;
    const keys = sessionKeys(idKey);
    if (ids === "hashed" && idKey === undefined) warnAboutRandomKey();
    this.#store = store;
    this.showsRawIds = ids === "raw";
    this.#ids = this.showsRawIds ? rawIds(store) : new HashedIds(store, keys.handles, maxShown);
    this.#seal = new PageSeal(keys.pages);
    this.#visibleNames = attributeFilter(attributes);
  }

  /** What keeps the sessions, such as "memory" or "connect-redis". */
  get kind(): string {
    return this.#store.kind;
  }

  /** For each method that the store lacks, such as `list`, a sentence that tells why, and what would change it. */
  get limits(): Readonly<Record<string, string>> {
    return limitsOf(this.#store);
  }

  /** Counts the sessions that have not expired; undefined if the store cannot, or not within its bounds. */
  async count(): Promise<number | undefined> {
    return this.#store.count?.({ active: true });
  }

  /**
   * Finds the session with this id; undefined if there is none. As in Spring Boot, an expired session is not found by its
   * id, though lists show it while the store keeps it.
   *
   * @throws ActuatorError NOT_FOUND (SESSION_NOT_RESOLVED) if the store could not be searched to its end.
   */
  async find(id: string): Promise<Session | undefined> {
    requireReach(this.#store);
    const storeId = await this.#ids.resolve(id);
    const session = storeId === undefined ? undefined : await this.#store.findById(storeId);
    return session === undefined || session.expired ? undefined : this.#shown([session])[0];
  }

  /**
   * Finds the sessions of the user, newest access first, then by id. An empty name finds none.
   *
   * @throws ActuatorError UNIMPLEMENTED if the store cannot search by user, INVALID_ARGUMENT for a name over 1,024 UTF-16
   * code units.
   */
  async findByUsername(username: string, query: Pick<SessionListQuery, "active"> = {}): Promise<SessionSearch> {
    const { sessions, partial } = await this.#search(username);
    return { sessions: this.#selected(sessions, query.active).sort(byNewestAccess), partial };
  }

  /**
   * Returns one page of all sessions, newest access first if the store can. A session that is used between two pages moves
   * to the front and is not in the second.
   *
   * @throws ActuatorError UNIMPLEMENTED if the store cannot list, INVALID_ARGUMENT for an invalid page size or a page token
   * of another list or another key.
   */
  async list(query: SessionListQuery = {}): Promise<SessionList> {
    const store: SessionStore = this.#store;
    requireAbility(store, "list");
    const { pageSize = 100, pageToken = "", active, includeTotal = false } = query;
    if (!Number.isInteger(pageSize) || pageSize < 1 || pageSize > MAX_PAGE_SIZE) {
      throw invalid("INVALID_PAGE_SIZE", "page_size", `A page has 1 to ${MAX_PAGE_SIZE} sessions.`);
    }
    const filters = JSON.stringify([store.kind, active ?? null]);
    const after = pageToken === "" ? undefined : this.#seal.open(pageToken, filters);
    const [page, totalSize] = await Promise.all([
      store.list({ limit: pageSize, after, active }),
      includeTotal ? store.count?.({ active }) : undefined,
    ]);
    return {
      sessions: this.#selected(page.sessions, active),
      partial: page.partial,
      nextPageToken: page.next === undefined ? undefined : this.#seal.seal(page.next, filters),
      totalSize,
    };
  }

  /**
   * Ends the session, expired or not. Resolves to whether the store had it.
   *
   * @throws ActuatorError UNIMPLEMENTED if the store must not be changed from outside, NOT_FOUND (SESSION_NOT_RESOLVED) if
   * it could not be searched to its end.
   */
  async delete(id: string): Promise<boolean> {
    const store: SessionStore = this.#store;
    requireAbility(store, "delete");
    const storeId = await this.#ids.resolve(id);
    if (storeId === undefined) return false;
    const existed = await store.delete(storeId);
    this.#ids.forget(id);
    return existed;
  }

  /**
   * Ends all sessions of the user except that of `exceptId`, including those that begin meanwhile. `deleted` counts those
   * that the store still had. If the store fails halfway, some have ended; calling it again is safe.
   *
   * @throws ActuatorError UNIMPLEMENTED if the store cannot search by user or must not be changed from outside, NOT_FOUND,
   * with nothing ended, if `exceptId` is not a session of this user, INVALID_ARGUMENT for a name that is empty or over 1,024
   * UTF-16 code units.
   */
  async deleteByUsername(username: string, exceptId?: string): Promise<UserDeletion> {
    const store: SessionStore = this.#store;
    requireAbility(store, "findByUsername");
    requireAbility(store, "delete");
    if (username === "") throw invalid("INVALID_USERNAME", "username", "The username must be a non-empty string.");
    const spared = exceptId === undefined ? undefined : await this.#spared(username, exceptId);
    return endSessions({
      find: async () => {
        const { sessions, partial } = await this.#search(username);
        return { ids: sessions.map(({ id }) => id).filter((id) => id !== spared), partial };
      },
      end: async (id) => {
        const existed = await store.delete(id);
        this.#ids.forget(this.#ids.shown([id])[0]!);
        return existed;
      },
    });
  }

  /**
   * Detaches from the store, once.
   *
   * @throws ActuatorError UNAVAILABLE if that takes longer than `timeoutMs`.
   */
  close(timeoutMs = 5_000): Promise<void> {
    this.#detached ??= detach(this.#store, timeoutMs);
    return this.#detached;
  }

  async #search(username: string): Promise<SessionSearch> {
    const store: SessionStore = this.#store;
    requireAbility(store, "findByUsername");
    if (username === "") return { sessions: [], partial: false };
    if (username.length > MAX_USERNAME_LENGTH) {
      const message = `The username is longer than ${MAX_USERNAME_LENGTH} UTF-16 code units.`;
      throw invalid("INVALID_USERNAME", "username", message);
    }
    return store.findByUsername(username);
  }

  async #spared(username: string, exceptId: string): Promise<string> {
    const { sessions, partial } = await this.#search(username);
    const shown = this.#ids.shown(sessions.map(({ id }) => id));
    const found = sessions[shown.indexOf(exceptId)];
    if (found?.expired === false) return found.id;
    // A partial search may have missed it.
    const id = found === undefined && partial ? await this.#ids.resolve(exceptId) : undefined;
    const session = id === undefined ? undefined : await this.#store.findById(id);
    if (session?.expired === false && session.username === username) return session.id;
    const message = "The session of except_id is not one of this user's. No session was ended.";
    throw new ActuatorError("NOT_FOUND", "SESSION_NOT_FOUND", message, { field: "except_id" });
  }

  #selected(sessions: readonly Session[], active: boolean | undefined): Session[] {
    const fit = active === undefined ? sessions : sessions.filter(({ expired }) => expired !== active);
    return this.#shown(fit);
  }

  #shown(sessions: readonly Session[]): Session[] {
    const shown = this.#ids.shown(sessions.map(({ id }) => id));
    return sessions.map((session, index) => ({
      ...session,
      id: shown[index]!,
      attributeNames: this.#visibleNames(session.attributeNames),
    }));
  }
}

function attributeFilter({ allow, deny = [] }: AttributeNamesOptions = {}) {
  if (allow === undefined && deny.length === 0) return (names: readonly string[]) => names;
  const allowed = allow && new Set(allow);
  const denied = new Set(deny);
  return (names: readonly string[]) => names.filter((name) => allowed?.has(name) !== false && !denied.has(name));
}

function detach(store: SessionStore, timeoutMs: number): Promise<void> {
  return withTimeout(
    async () => store.detach?.(),
    timeoutMs,
    () => {
      const message = `The session store did not detach within ${timeoutMs} ms.`;
      return new ActuatorError("UNAVAILABLE", "SESSION_STORE_UNAVAILABLE", message);
    },
  );
}

function invalid(reason: string, field: string, message: string): ActuatorError {
  return new ActuatorError("INVALID_ARGUMENT", reason, message, { field });
}
