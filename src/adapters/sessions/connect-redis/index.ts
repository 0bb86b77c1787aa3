import {
  type Checks,
  checkOptions,
  flag,
  objectOf,
  text,
  timeLimitMs,
  timerMs,
  unknown,
} from "../../../common/options.ts";
import { type Principal, principalFault } from "../../../sessions/principal.ts";
import type { SessionStore } from "../../../sessions/store.ts";
import { SCAN_BOUNDS, type ScanBounds } from "../../kit/connect-session/scan.ts";
import { Sightings } from "../../kit/connect-session/sightings.ts";
import { watchStore } from "../../kit/connect-session/watch.ts";
import { requireVersion } from "../../kit/library-version.ts";
import { EndedMarks } from "../../kit/redis/ended-marks.ts";
import { evictionWarnings } from "../../kit/redis/eviction.ts";
import { type RedisClient, redisCommands } from "../../kit/redis/index.ts";
import { IndexPruning } from "../../kit/redis/index-pruning.ts";
import { SessionIndex } from "../../kit/redis/session-index.ts";
import { Corrections } from "./corrections.ts";
import { BackgroundFilling, type FillResult, type FillRunOptions, runFilling } from "./filling.ts";
import { IndexWriter } from "./index-writer.ts";
import { IndexedSessions, ScannedSessions } from "./searches.ts";
import { indexedOf, indexSettingsOf, SessionReader, sessionKeys, sessionView } from "./session-view.ts";
import { type ConnectRedisIndexOptions, type ConnectRedisStore, storeSettings } from "./settings.ts";
import { StoredSessions } from "./stored-sessions.ts";

export type { ScanBounds } from "../../kit/connect-session/scan.ts";
export type { FillProgress, FillResult, FillRunOptions } from "./filling.ts";
export { type PrepareConnectRedisOptions, prepareConnectRedisSessions } from "./prepare.ts";
export type { ConnectRedisIndexOptions, ConnectRedisStore } from "./settings.ts";

/** How sessions of connect-redis are read. */
export interface ConnectRedisOptions {
  /**
   * Where commands are sent: another client than the store's, such as one of ioredis or one whose user has fewer
   * permissions, or a URL, which needs the package `redis`. Default: the store's client.
   */
  readonly redis?: RedisClient | string | undefined;
  /** How to find a session's user. Default: `DEFAULT_PRINCIPAL`. */
  readonly principal?: Principal | undefined;
  /** Whether an index is kept beside the sessions, and how. Default: true. */
  readonly index?: boolean | ConnectRedisIndexOptions | undefined;
  /**
   * Whether only what operators ask for sends commands: no index is kept, and a save does not look whether an operator has
   * ended its session through another process. Default: false.
   */
  readonly passive?: boolean | undefined;
  /** Milliseconds to wait for an answer of Redis. Default: 5,000. */
  readonly timeoutMs?: number | undefined;
  /** Bounds of a search while there is no index, or it does not hold all sessions. */
  readonly scan?: ScanBounds | undefined;
}

const INDEX_OPTIONS = objectOf<ConnectRedisIndexOptions>({ prefix: text, intervalMs: timerMs });

const OPTIONS: Checks<ConnectRedisOptions> = {
  redis: unknown,
  principal: principalFault,
  index: (value) => (typeof value === "boolean" ? undefined : INDEX_OPTIONS(value)),
  passive: flag,
  timeoutMs: timeLimitMs,
  scan: SCAN_BOUNDS,
};

/** The sessions of a store of connect-redis. */
export interface ConnectRedisSessions extends SessionStore {
  readonly kind: "connect-redis";
  /**
   * Fills the index with the existing sessions, as `prepareConnectRedisSessions` does; for applications whose `principal` is
   * a function. Left out without an index.
   */
  readonly prepare?: (options?: FillRunOptions) => Promise<FillResult>;
}

const MAX_REMEMBERED = 100_000;

/**
 * Shows and ends the sessions in `store`, the RedisStore of connect-redis 9 or 10 that the application passes to
 * express-session or @fastify/session. Client, prefix, lifetime and serializer are read from it.
 *
 * An index is kept beside the sessions, in the same Redis, by commands that travel with the store's own: by user, by last
 * access and by id. It is a hint: each session found is read again, and its user compared, before it is shown. Call this
 * before the first request, and in every process that writes sessions: the index does not know what is written elsewhere.
 * Sessions that existed before are found by a bounded scan, and the answer says if it is partial, until
 * `prepareConnectRedisSessions` or, if they are few, a search has added them to the index.
 *
 * `lastAccessedTime` is worked out from the session's remaining life, to the second; if its use was seen, to the
 * millisecond. It is unknown if the store has `disableTouch` and no index saw the use. `creationTime` is known for sessions
 * that were created while this adapter watched. No session is shown as expired, since Redis drops those. Reading does not
 * count as access.
 *
 * A deleted session is not saved again by a request that was under way, in any process that has called this, for a minute.
 *
 * @throws ActuatorError INVALID_ARGUMENT if `store` is not a store of connect-redis or an option is invalid.
 * @example
 * const store = new RedisStore({ client });
 * createActuator({ sessions: connectRedisSessions(store) });
 * app.use(session({ store, secret, resave: false, saveUninitialized: false }));
 */
export function connectRedisSessions(
  store: ConnectRedisStore,
  options: ConnectRedisOptions = {},
): ConnectRedisSessions {
  requireVersion({ subpath: "connect-redis", library: "connect-redis", versions: "9 to 10" });
  checkOptions("connectRedisSessions", options, OPTIONS);
  const { principal, scan = {}, timeoutMs, passive = false } = options;
  const indexing = passive ? false : (options.index ?? true);
  const settings = storeSettings(store);
  const redis = redisCommands(options.redis ?? settings.client, { timeoutMs });
  const view = sessionView(settings, principal);
  const { intervalMs, ...indexSettings } = indexSettingsOf(view, indexing === true ? {} : indexing || {});
  const index = indexing === false ? undefined : new SessionIndex(redis, indexSettings);

  const stored = new StoredSessions(redis, settings);
  const scanning = { stored, keys: sessionKeys(redis, settings.prefix, indexSettings.prefix), view };
  const sightings = new Sightings(MAX_REMEMBERED);
  const reader = new SessionReader(stored, index, view, sightings);
  const scanned = new ScannedSessions(scanning, reader, scan);
  const marks = index?.ended ?? new EndedMarks(redis, indexSettings.prefix);
  const kept = index && keepIndex(index);

  function keepIndex(index: SessionIndex) {
    const filling = { ...scanning, index };
    const { maxSessions = 50_000 } = scan;
    const byStore = options.redis === undefined ? undefined : redisCommands(settings.client, { timeoutMs });
    const corrections = new Corrections(stored, index, view, byStore && new SessionIndex(byStore, indexSettings).claim);
    const background = new BackgroundFilling(filling, maxSessions);
    const pruning = new IndexPruning(index, async (ids) =>
      (await stored.read(ids)).map((session) => session && indexedOf(view, session)),
    );
    return {
      writer: new IndexWriter(index, view, corrections, pruning, intervalMs),
      sessions: new IndexedSessions(index, reader, corrections, scanned, maxSessions, () => background.start()),
      prepare: (run?: FillRunOptions) => runFilling(filling, run),
      stop() {
        corrections.stop();
        background.stop();
        pruning.stop();
      },
    };
  }

  async function remove(id: string): Promise<boolean> {
    const { existed, record } = await stored.delete(id);
    kept?.writer.ended(id, record);
    return existed;
  }

  /** A request of this process may have saved a session that an operator has ended through another process. */
  async function endAgain(id: string, made: boolean): Promise<void> {
    if (!made && (await marks.has(id))) await endedElsewhere?.end(id, () => remove(id));
  }

  const sessions = kept?.sessions ?? scanned;
  const watch = watchStore(store, kept?.writer ?? sightings);
  const endedElsewhere = passive ? undefined : watchStore(store, { written: endAgain });
  return {
    kind: "connect-redis",
    findById: async (id) => (await reader.read([id]))[0],
    findByUsername: (username) => sessions.findByUsername(username),
    list: async (query) => (query.active === false ? { sessions: [], partial: false } : sessions.list(query)),
    count: async ({ active }) => (active === false ? 0 : sessions.count()),
    ...(kept && {
      findIdByDigest: (digest: string) => kept.sessions.findIdByDigest(digest),
      warnings: () => evictionWarnings(redis),
      prepare: kept.prepare,
    }),
    delete: (id) =>
      watch.end(id, async () => {
        // Before the session is removed: processes that save it again look for the mark.
        await marks.mark(id);
        return remove(id);
      }),
    async detach() {
      endedElsewhere?.detach();
      watch.detach();
      kept?.stop();
      await redis.close();
    },
  };
}
