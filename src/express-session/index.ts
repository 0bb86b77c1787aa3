import type { SessionData, Store } from "express-session";
import { expiryTime, maxAge, maxInactiveInterval } from "../connect-session/record.ts";
import { Sightings } from "../connect-session/sightings.ts";
import { callStore } from "../connect-session/store-call.ts";
import { watchStore } from "../connect-session/watch.ts";
import { ActuatorError } from "../error.ts";
import { type Principal, type PrincipalPaths, principalResolver, type SessionRecord } from "../sessions/principal.ts";
import type { Session } from "../sessions/session.ts";
import type { SessionSearch, SessionStore } from "../sessions/store.ts";

/** How sessions of express-session are read. */
export interface ExpressSessionsOptions {
  /** Whose session it is. Default: `DEFAULT_PRINCIPAL`. */
  readonly principal?:
    | PrincipalPaths
    | ((session: Readonly<SessionData> & SessionRecord) => string | undefined)
    | undefined;
  /** Milliseconds to wait for an answer of the store. Default: 5,000. */
  readonly timeout?: number | undefined;
  /** For how many sessions at most the creation time is remembered. Default: 100,000. */
  readonly maxRemembered?: number | undefined;
}

/** The sessions of an express-session store. */
export interface ExpressSessions extends SessionStore {
  readonly kind: "express-session";
  /** How many sessions are remembered for their creation time. */
  readonly remembered: number;
  /** Gives the application's store back as it was. Reading and deleting still work; creation times are no longer noted. */
  detach(): void;
}

type Listing = { readonly [id: string]: SessionData } | readonly (SessionData & { readonly id?: string })[];
type ListingStore = Store & Required<Pick<Store, "all">>;

/**
 * The sessions in `store`, the object that the application hands to express-session as its `store`: the library's
 * MemoryStore or any store with `get`, `set` and `destroy`. Searching by user needs `all` as well.
 *
 * express-session keeps no creation time. It is noted when a new session is first saved, by wrapping the `set`, `touch`,
 * `destroy`, `clear` and `createSession` of this one object, so call it before the first request. Of a session that is
 * older than that the creation time stays unknown, and `firstSeenTime` says since when it was seen. Nothing is added to
 * a session, and none is saved that would not have been saved.
 *
 * `lastAccessedTime` is the cookie's expiry less its maximum age or, where it has none, the last save or touch seen;
 * `maxInactiveInterval` is the cookie's maximum age, or -1. A session that is deleted is not saved again by a request
 * that was under way then.
 */
export function expressSessions(store: Store, options: ExpressSessionsOptions = {}): ExpressSessions {
  const { timeout = 5_000, maxRemembered = 100_000 } = options;
  const principalOf = principalResolver(options.principal as Principal | undefined);
  const sightings = new Sightings(maxRemembered);
  const watch = watchStore(store, sightings);

  function sessionOf(id: string, data: SessionRecord, hidden: readonly string[] = ["cookie"]): Session {
    const sighting = sightings.see(id, data, false);
    const expires = expiryTime(data);
    const age = maxAge(data);
    return {
      id,
      attributeNames: Object.keys(data).filter((name) => !hidden.includes(name)),
      creationTime: sighting.creationTime,
      firstSeenTime: sighting.firstSeenTime,
      lastAccessedTime: expires !== undefined && age !== undefined ? expires - age : sighting.lastUsedTime,
      maxInactiveInterval: maxInactiveInterval(age),
      expired: expires !== undefined && expires <= Date.now(),
      username: principalOf(data),
    };
  }

  async function findData(id: string): Promise<SessionRecord | undefined> {
    const began = Date.now();
    const data = await callStore<SessionData>(timeout, (callback) =>
      // express-session takes this error as "there is none": stores of files report it.
      store.get(id, (error, data) => (error?.code === "ENOENT" ? callback() : callback(error, data))),
    );
    if (data === undefined) sightings.forget(id, began);
    return data as SessionRecord | undefined;
  }

  async function findById(id: string): Promise<Session | undefined> {
    const data = await findData(id);
    return data && sessionOf(id, data);
  }

  async function destroy(id: string): Promise<boolean> {
    if ((await findData(id)) === undefined) return false;
    await watch.end(id, () => callStore(timeout, (callback) => store.destroy(id, callback)));
    return true;
  }

  async function findByUsername(username: string): Promise<SessionSearch> {
    const began = Date.now();
    const listing = await callStore<Listing>(timeout, (callback) => (store as ListingStore).all(callback));
    const { entries, hidden } = listed(listing ?? {});
    const ids = new Set(entries.map(([id]) => id));
    sightings.keepOnly((id) => ids.has(id), began);
    const found = entries.filter(([, data]) => principalOf(data) === username);
    return { sessions: found.map(([id, data]) => sessionOf(id, data, hidden)), partial: false };
  }

  return {
    kind: "express-session",
    findById,
    delete: destroy,
    detach: watch.detach,
    get remembered() {
      return sightings.size;
    },
    ...(typeof store.all === "function" ? { findByUsername } : { limits: { findByUsername: NO_LISTING } }),
  };
}

const NO_LISTING =
  "The application's session store cannot list its sessions (it has no `all` method), so they cannot be searched by user.";

/** MemoryStore lists an object of sessions by id; connect-redis an array of sessions, to each of which it adds its `id`. */
function listed(listing: Listing): { entries: (readonly [string, SessionRecord])[]; hidden: readonly string[] } {
  if (!Array.isArray(listing)) {
    return { entries: Object.entries(listing as unknown as Record<string, SessionRecord>), hidden: ["cookie"] };
  }
  const entries = listing.map((data): readonly [string, SessionRecord] => {
    if (typeof data.id === "string") return [data.id, data];
    const message = "The application's session store lists its sessions without their ids.";
    throw new ActuatorError("UNIMPLEMENTED", "FIND_BY_USERNAME_UNSUPPORTED", message);
  });
  return { entries, hidden: ["cookie", "id"] };
}
