import { ActuatorError } from "../common/error.ts";
import { type AttributeFilter, type AttributeNamesOptions, attributeFilter } from "./attribute-filter.ts";
import { leaveStore } from "./leave-store.ts";
import { PageSeal } from "./page-seal.ts";
import type { Session } from "./session.ts";
import { HashedIds, RAW_IDS, type SessionIds } from "./session-ids.ts";
import { sessionKeys, tellOfRandomKey } from "./session-keys.ts";
import { byNewestAccess } from "./session-order.ts";
import type { SessionSearch, SessionStore } from "./store.ts";
import { requireAbility, requireReach } from "./store-ability.ts";
import { endSessions, type UserDeletion } from "./user-deletion.ts";

/** How sessions are shown. */
export interface SessionsOptions {
  /**
   * What is shown as a session's `id`. `"hashed"`: a keyed hash in the shape of a UUID, which lets nobody into the session.
   * `"raw"`: the store's own id, which is a credential. Default `"hashed"`.
   */
  readonly ids?: "hashed" | "raw" | undefined;
  /**
   * The key of the hashes and of page tokens: a random text of 16 characters or more, or 16 bytes or more. Instances that have
   * the same key show the same ids. Default: made at start, which a warning of the process tells once.
   */
  readonly idKey?: string | Uint8Array | undefined;
  /** Which names of attributes are shown. Default: all. Values never are. */
  readonly attributes?: AttributeNamesOptions | undefined;
  /** How many of the sessions shown last are found again by their hash without asking the store. Default 10,000. */
  readonly maxShown?: number | undefined;
}

/** Selects sessions of the list of all. */
export interface SessionListQuery {
  /** The greatest number of sessions in the page, 1 to 1,000. Default 100. */
  readonly pageSize?: number | undefined;
  /** The `nextPageToken` of the page before. Default: the first page. */
  readonly pageToken?: string | undefined;
  /** true: only sessions that have not expired; false: only those that have and are still kept. Default: both. */
  readonly active?: boolean | undefined;
  /** Whether to count the sessions of the whole list. Default false. */
  readonly includeTotal?: boolean | undefined;
}

/** One page of all sessions. */
export interface SessionList extends SessionSearch {
  /** undefined: this was the last page. */
  readonly nextPageToken: string | undefined;
  /** How many sessions the whole list has; undefined: not asked for, or the store cannot tell. */
  readonly totalSize: number | undefined;
}

const MAX_USERNAME_LENGTH = 1024;
const MAX_PAGE_SIZE = 1000;

/**
 * The sessions of an application: what an operator can do with them, whatever store keeps them. Every `id` here, given or
 * shown, is the one that callers see.
 *
 * A store out of reach makes each method reject with an `ActuatorError` of code UNAVAILABLE. What the store cannot do is
 * UNIMPLEMENTED with the reason; where sessions live in cookies, so is everything.
 */
export class Sessions {
  readonly #store: SessionStore;
  readonly #ids: SessionIds;
  readonly #seal: PageSeal;
  readonly #visibleNames: AttributeFilter;
  #left: Promise<void> | undefined;

  /** @throws ActuatorError INVALID_ARGUMENT where raw ids are asked for of a store whose ids are bearer tokens. */
  constructor(store: SessionStore, options: SessionsOptions = {}) {
    const { ids = "hashed", idKey, attributes, maxShown } = options;
    const keys = sessionKeys(idKey);
    if (ids === "raw" && store.bearerIds) {
      throw unfit(
        "RAW_IDS_REFUSED",
        "ids",
        `The ids of the ${store.kind} store let their holder in and cannot be shown: leave out ids: "raw".`,
      );
    }
    if (ids === "hashed" && idKey === undefined) tellOfRandomKey();
    this.#store = store;
    this.#ids = ids === "raw" ? RAW_IDS : new HashedIds(store, keys.handles, maxShown);
    this.#seal = new PageSeal(keys.pages);
    this.#visibleNames = attributeFilter(attributes);
  }

  /**
   * The session of this id; undefined where the store has none. As in the original, a session that has expired is not
   * found by its id, though the lists show it while its store still keeps it.
   *
   * @throws ActuatorError NOT_FOUND (SESSION_NOT_RESOLVED) where the store could not be searched for the id to the end.
   */
  async find(id: string): Promise<Session | undefined> {
    requireReach(this.#store);
    const storeId = await this.#ids.resolve(id);
    const session = storeId === undefined ? undefined : await this.#store.findById(storeId);
    return session === undefined || session.expired ? undefined : this.#shown(session);
  }

  /**
   * The sessions of the user, newest access first, then by id. Nobody's sessions are no user's: an empty name finds none,
   * and neither does one over 1,024 UTF-16 code units.
   *
   * @throws ActuatorError UNIMPLEMENTED where the store cannot search by user.
   */
  async findByUsername(username: string, query: Pick<SessionListQuery, "active"> = {}): Promise<SessionSearch> {
    const { sessions, partial } = await this.#search(username);
    return { sessions: this.#selected(sessions, query.active).sort(byNewestAccess), partial };
  }

  /**
   * One page of all sessions, newest access first where the store can. A session that is used between two pages moves to
   * the front and is not in the second.
   *
   * @throws ActuatorError UNIMPLEMENTED where the store cannot list, INVALID_ARGUMENT for an unfit page size or a page token
   * of another list, another start or another key.
   */
  async list(query: SessionListQuery = {}): Promise<SessionList> {
    const store: SessionStore = this.#store;
    requireAbility(store, "list");
    const { pageSize = 100, pageToken = "", active, includeTotal = false } = query;
    if (!Number.isInteger(pageSize) || pageSize < 1 || pageSize > MAX_PAGE_SIZE) {
      throw unfit("INVALID_PAGE_SIZE", "page_size", `A page has 1 to ${MAX_PAGE_SIZE} sessions.`);
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
   * Ends the session, also one that has expired. Resolves to whether the store had it.
   *
   * @throws ActuatorError UNIMPLEMENTED where the store must not be changed from outside, NOT_FOUND (SESSION_NOT_RESOLVED)
   * where the store could not be searched for the id to the end.
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
   * Ends all sessions of the user, or all but the one of `exceptId`, also those that begin meanwhile. `deleted` counts those
   * that the store still had. Where the store fails half-way, some have ended; doing it again is fine.
   *
   * @throws ActuatorError UNIMPLEMENTED where the store cannot search by user or must not be changed from outside,
   * NOT_FOUND, with nothing ended, where the session to be spared is not the user's, INVALID_ARGUMENT for an empty name.
   */
  async deleteByUsername(username: string, exceptId?: string): Promise<UserDeletion> {
    const store: SessionStore = this.#store;
    requireAbility(store, "findByUsername");
    requireAbility(store, "delete");
    if (username === "")
      throw unfit("INVALID_USERNAME", "username", "Whose sessions to end is not said: give a username.");
    const spared = exceptId === undefined ? undefined : await this.#spared(username, exceptId);
    return endSessions({
      find: async () => {
        const { sessions, partial } = await this.#search(username);
        return { ids: sessions.map(({ id }) => id).filter((id) => id !== spared), partial };
      },
      end: async (id) => {
        const existed = await store.delete(id);
        this.#ids.forget(this.#ids.shown(id));
        return existed;
      },
    });
  }

  /** Leaves the store as it was, within `timeout` milliseconds. Happens once. */
  close(timeout = 5_000): Promise<void> {
    this.#left ??= leaveStore(this.#store, timeout);
    return this.#left;
  }

  async #search(username: string): Promise<SessionSearch> {
    const store: SessionStore = this.#store;
    requireAbility(store, "findByUsername");
    if (username === "" || username.length > MAX_USERNAME_LENGTH) return { sessions: [], partial: false };
    return store.findByUsername(username);
  }

  async #spared(username: string, exceptId: string): Promise<string> {
    const { sessions, partial } = await this.#search(username);
    const found = sessions.find(({ id }) => this.#ids.shown(id) === exceptId);
    if (found?.expired === false) return found.id;
    // A search that was cut off may have missed it.
    const id = found === undefined && partial ? await this.#ids.resolve(exceptId) : undefined;
    const session = id === undefined ? undefined : await this.#store.findById(id);
    if (session?.expired === false && session.username === username) return session.id;
    const message = "The session to be spared is not one of this user's. None was ended.";
    throw new ActuatorError("NOT_FOUND", "SESSION_NOT_FOUND", message, { field: "except_id" });
  }

  #selected(sessions: readonly Session[], active: boolean | undefined): Session[] {
    const fit = active === undefined ? sessions : sessions.filter(({ expired }) => expired !== active);
    return fit.map((session) => this.#shown(session));
  }

  #shown(session: Session): Session {
    return { ...session, id: this.#ids.shown(session.id), attributeNames: this.#visibleNames(session.attributeNames) };
  }
}

function unfit(reason: string, field: string, message: string): ActuatorError {
  return new ActuatorError("INVALID_ARGUMENT", reason, message, { field });
}
