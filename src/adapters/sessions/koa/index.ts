import { checkOptions, flag, objectOf, text, unknown } from "../../../common/options.ts";
import { principalResolver, type SessionRecord } from "../../../sessions/principal.ts";
import type { SessionStore } from "../../../sessions/store.ts";
import { CONNECT_SESSIONS_OPTIONS, type ConnectSessionsOptions } from "../../kit/connect-session/connect-sessions.ts";
import { parseRecord } from "../../kit/connect-session/record.ts";
import { awaitStore, requireStore } from "../../kit/connect-session/store.ts";
import { requireVersion } from "../../kit/library-version.ts";
import { MemoryDirectory, type SessionDirectory } from "./directory.ts";
import { DirectorySessions } from "./directory-sessions.ts";
import { type KoaIndexOptions, redisDirectory } from "./redis-directory.ts";
import { type KoaStore, koaWatches } from "./store-watch.ts";

export type { ScanBounds } from "../../kit/connect-session/scan.ts";
export type { KoaIndexOptions } from "./redis-directory.ts";
export type { KoaStore } from "./store-watch.ts";

/** How sessions of koa-session are read. `maxRemembered` is the most sessions remembered without an index. */
export interface KoaSessionsOptions extends ConnectSessionsOptions {
  /** Keeps an index in Redis, so that every instance finds all sessions. Default: each process remembers its own. */
  readonly index?: KoaIndexOptions | undefined;
}

/** The sessions of koa-session in a store of the application. */
export interface KoaSessions extends SessionStore {
  readonly kind: "koa-session";
  /** Restores the application's store, and closes the index's connection if it is our own. */
  detach(): Promise<void>;
}

const ONE_DAY_MS = 86_400_000;

const OPTIONS = {
  ...CONNECT_SESSIONS_OPTIONS,
  index: objectOf<KoaIndexOptions>({ redis: unknown, prefix: text, complete: flag }),
};

/**
 * Shows and ends the sessions in `store`, the object that the application passes to koa-session as its `store`. Sessions in
 * the client's cookie, without a store, cannot be managed; neither can those of a `ContextStore`, which is made anew for
 * each request.
 *
 * Such a store cannot list its sessions, so they are found by what passes through its `get`, `set` and `destroy`, which are
 * wrapped on this object: call this before the first request. Without an `index`, a search finds the sessions that this
 * process has seen and says that it is partial; so does an index until it is complete.
 *
 * `lastAccessedTime` is when the session was last saved, because nothing else is kept: koa-session saves what has changed,
 * and on each request with its options `rolling` or `renew`. Its sessions expire `maxInactiveInterval` seconds after that.
 * The store is read with `get(key, 86400000, { rolling: false })`, without a `ctx`. A deleted session is not saved again by
 * a request that was under way.
 *
 * @throws ActuatorError INVALID_ARGUMENT if `store` is not a store or an option is invalid.
 * @example
 * createActuator({ sessions: koaSessions(store, { index: { redis: "redis://localhost:6379" } }) });
 * app.use(session({ store }, app));
 */
export function koaSessions(store: KoaStore, options: KoaSessionsOptions = {}): KoaSessions {
  requireStore(store, "koa-session");
  requireVersion({ subpath: "koa-session", library: "koa-session", versions: "7" });
  checkOptions("koaSessions", options, OPTIONS);
  const { timeoutMs = 5_000, maxRemembered = 100_000, principal, index } = options;
  const directory: SessionDirectory =
    index === undefined
      ? new MemoryDirectory(maxRemembered)
      : redisDirectory(index, principal, timeoutMs, maxRemembered);
  const read = async (id: string): Promise<SessionRecord | undefined> =>
    parseRecord(await awaitStore(timeoutMs, () => store.get(id, ONE_DAY_MS, { rolling: false })));
  const sessions = new DirectorySessions(read, directory, principalResolver(principal), options.scan);
  const destroy = (id: string) => awaitStore(timeoutMs, () => store.destroy(id, {}));
  const watch = koaWatches.watch(store, {
    saved: (id, record, made) => sessions.saved(id, record, made),
    // A request of this process may have saved a session that an operator has ended through another process.
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
    warnings: async () => (await directory.warnings?.()) ?? [],
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
