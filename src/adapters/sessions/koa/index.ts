import { anything, type Checks, checkOptions, flag, objectOf, text } from "../../../common/options.ts";
import { type Principal, principalResolver, type SessionRecord } from "../../../sessions/principal.ts";
import type { SessionStore } from "../../../sessions/store.ts";
import { CONNECT_SESSIONS_OPTIONS } from "../../kit/connect-session/options.ts";
import { parseRecord } from "../../kit/connect-session/record.ts";
import { requireStore } from "../../kit/connect-session/required-store.ts";
import type { ScanBounds } from "../../kit/connect-session/session-scan.ts";
import { awaitStore } from "../../kit/connect-session/store-call.ts";
import { requireVersion } from "../../kit/library-version.ts";
import { DirectorySessions } from "./directory-sessions.ts";
import type { KoaStore } from "./koa-store.ts";
import { MemoryDirectory } from "./memory-directory.ts";
import { type KoaIndexOptions, redisDirectory } from "./redis-directory.ts";
import { watchKoaStore } from "./watched-koa-store.ts";

export type { ScanBounds } from "../../kit/connect-session/session-scan.ts";
export type { KoaStore } from "./koa-store.ts";
export type { KoaIndexOptions } from "./redis-directory.ts";

/** How sessions of koa-session are read. */
export interface KoaSessionsOptions {
  /** Whose session it is: places in it, or a function. Default: `DEFAULT_PRINCIPAL`. */
  readonly principal?: Principal | undefined;
  /** Milliseconds to wait for an answer of the store. Default: 5,000. */
  readonly timeoutMs?: number | undefined;
  /** How many sessions at most are remembered where there is no index. Default: 100,000. */
  readonly maxRemembered?: number | undefined;
  /** How many sessions are read for a search by user, and for how long. */
  readonly scan?: ScanBounds | undefined;
  /** Keeps in Redis by what sessions are found, so that all instances find all of them. Default: this process remembers. */
  readonly index?: KoaIndexOptions | undefined;
}

/** The sessions of koa-session in a store of the application. */
export interface KoaSessions extends SessionStore {
  readonly kind: "koa-session";
  /** Gives the application's store back as it was, and ends the index's connection where it is our own. */
  detach(): Promise<void>;
}

const ONE_DAY = 86_400_000;

const OPTIONS: Checks<KoaSessionsOptions> = {
  ...CONNECT_SESSIONS_OPTIONS,
  index: objectOf<KoaIndexOptions>({ redis: anything, prefix: text, complete: flag }),
};

/**
 * The sessions in `store`, the object that the application hands to koa-session as its `store`. Sessions that live in the
 * client's cookie, without a store, cannot be managed; and neither can those of a `ContextStore`, which is made anew for
 * each request.
 *
 * Such a store cannot list its sessions. So they are found by what passes through its `get`, `set` and `destroy`, which
 * are wrapped on this one object: call it before the first request. Without an `index`, a search finds the sessions that
 * this process has seen and says that it is partial; the same holds for an index until it says that it is complete.
 *
 * `lastAccessedTime` is when the session was last saved, because nothing else is kept: koa-session saves what has changed,
 * and each time with its options `rolling` or `renew`. Its sessions expire `maxInactiveInterval` seconds after that, too.
 * The store is read with `get(key, 86400000, { rolling: false })`, without a `ctx`. A session that is deleted is not saved
 * again by a request that was under way then.
 *
 * @throws ActuatorError INVALID_ARGUMENT for what is no store, and for an index that is no way to Redis.
 */
export function koaSessions(store: KoaStore, options: KoaSessionsOptions = {}): KoaSessions {
  requireStore(store, "koa-session");
  requireVersion({ subpath: "koa-session", library: "koa-session", versions: "7" });
  checkOptions("koaSessions", options, OPTIONS);
  const { timeoutMs: timeout = 5_000, maxRemembered = 100_000, principal, index } = options;
  const directory =
    index === undefined ? new MemoryDirectory(maxRemembered) : redisDirectory(index, principal, timeout, maxRemembered);
  const read = async (id: string): Promise<SessionRecord | undefined> =>
    parseRecord(await awaitStore(timeout, () => store.get(id, ONE_DAY, { rolling: false })));
  const sessions = new DirectorySessions(read, directory, principalResolver(principal), options.scan);
  const destroy = (id: string) => awaitStore(timeout, () => store.destroy(id, {}));
  const watch = watchKoaStore(store, {
    saved: (id, record, made) => sessions.saved(id, record, made),
    // A request that was under way in this process may have saved what an operator ended by another.
    written: async (id, made) => {
      if (!made && (await directory.isRevoked(id))) await watch.end(id, () => destroy(id));
    },
    loaded: (id, record) => sessions.seen(id, record),
    ended: (id) => directory.ended(id),
  });
  return {
    kind: "koa-session",
    findById: (id) => sessions.findById(id),
    findByUsername: (username) => sessions.findByUsername(username),
    list: (query) => sessions.list(query),
    findIdByDigest: (digest) => directory.idOf(digest),
    async delete(id) {
      if ((await read(id)) === undefined) return false;
      const [revoked] = await Promise.allSettled([directory.revoked(id)]);
      await watch.end(id, () => destroy(id));
      if (revoked.status === "rejected") throw revoked.reason;
      return true;
    },
    detach() {
      watch.detach();
      return directory.close();
    },
  };
}
