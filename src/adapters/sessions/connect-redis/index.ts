import { checkOptions } from "../../../common/options.ts";
import type { SessionStore } from "../../../sessions/store.ts";
import { Sightings } from "../../kit/connect-session/sightings.ts";
import { watchStore } from "../../kit/connect-session/watch.ts";
import { requireVersion } from "../../kit/library-version.ts";
import { redisCommands } from "../../kit/redis/commands.ts";
import { EndedMarks } from "../../kit/redis/ended-marks.ts";
import { SessionIndex } from "../../kit/redis/session-index.ts";
import { Corrections } from "./corrections.ts";
import { keepEndedElsewhere } from "./ended-elsewhere.ts";
import { type FillResult, type FillRunOptions, runFilling } from "./fill-run.ts";
import { IndexWriter } from "./index-writer.ts";
import { IndexedSessions } from "./indexed-sessions.ts";
import { CONNECT_REDIS_OPTIONS, type ConnectRedisOptions, indexOptions, indexPrefix } from "./options.ts";
import { ScannedSessions } from "./scanned-sessions.ts";
import { SessionKeys } from "./session-keys.ts";
import { SessionReader } from "./session-reader.ts";
import { sessionView } from "./session-view.ts";
import { type ConnectRedisStore, storeSettings } from "./settings.ts";
import { StoredSessions } from "./stored-sessions.ts";
import { Survey } from "./survey.ts";

export type { ScanBounds } from "../../kit/connect-session/session-scan.ts";
export type { FillResult, FillRunOptions } from "./fill-run.ts";
export type { FillProgress } from "./filling.ts";
export type { ConnectRedisIndexOptions, ConnectRedisOptions } from "./options.ts";
export { type PrepareRedisOptions, prepareRedisSessions } from "./prepare.ts";
export type { ConnectRedisStore } from "./settings.ts";

/** The sessions of a store of connect-redis. */
export interface ConnectRedisSessions extends SessionStore {
  readonly kind: "connect-redis";
  /**
   * Fills the index with the sessions that are there already, as `prepareRedisSessions` does; for applications whose
   * `principal` is a function. Without an index there is nothing to fill.
   */
  readonly prepare?: (options?: FillRunOptions) => Promise<FillResult>;
}

const MAX_REMEMBERED = 100_000;

/**
 * The sessions in `store`, the RedisStore of connect-redis 9 or 10 that the application hands to express-session or
 * @fastify/session. Client, prefix, lifetime and serializer are read off it, and it stays the object that it is.
 *
 * An index is kept beside the sessions, in the same Redis, by commands that travel with the store's own: by user, by last
 * access and by id. It is a hint: each session found is read again, and its user compared, before it is shown. Call this
 * before the first request, and in every process that writes sessions: what is written elsewhere the index does not know.
 * Sessions that were there before are found by a bounded scan, and the answer says where it is partial, until
 * `prepareRedisSessions` or, where they are few, a search has put them into the index.
 *
 * `lastAccessedTime` is what the time left to a session says, to the second; where its use was seen, to the millisecond. It is
 * unknown where the store has `disableTouch` and no index saw the use. `creationTime` is known of sessions that were made
 * while somebody watched. Nothing is ever shown as expired: Redis drops what has. Reading counts as no access.
 *
 * A session that is deleted is not saved again by a request that was under way then, in whatever process that has called
 * this and for a minute.
 */
export function connectRedisSessions(
  store: ConnectRedisStore,
  options: ConnectRedisOptions = {},
): ConnectRedisSessions {
  requireVersion({ subpath: "connect-redis", library: "connect-redis", versions: "9 to 10" });
  checkOptions("connectRedisSessions", options, CONNECT_REDIS_OPTIONS);
  const { principal, scan = {}, timeoutMs: timeout } = options;
  const settings = storeSettings(store);
  const redis = redisCommands(options.redis ?? settings.client, { timeoutMs: timeout });
  const view = sessionView(settings, principal);
  const indexing = indexOptions(options.index, settings.prefix);
  const index = indexing && new SessionIndex(redis, { ...indexing, principal: view.principalDigest });

  const stored = new StoredSessions(redis, settings);
  const prefix = indexing?.prefix ?? indexPrefix(settings.prefix);
  const keys = new SessionKeys(redis, settings.prefix, prefix);
  const sightings = new Sightings(MAX_REMEMBERED);
  const reader = new SessionReader(stored, index, view, sightings);
  const scanned = new ScannedSessions(stored, keys, reader, view, scan);

  const findById = async (id: string) => (await reader.read([id]))[0];
  const none = { sessions: [], partial: false };

  if (index === undefined) {
    const marks = new EndedMarks(redis, prefix);
    const watch = watchStore(store, sightings);
    const leaveEnded = keepEndedElsewhere(store, marks, (id) => stored.delete(id));
    const end = async (id: string) => {
      await marks.mark(id);
      return stored.delete(id);
    };
    return {
      kind: "connect-redis",
      findById,
      findByUsername: (username) => scanned.findByUsername(username),
      list: async (query) => (query.active === false ? none : scanned.list(query)),
      count: async ({ active }) => (active === false ? 0 : scanned.count()),
      delete: async (id) => (await watch.end(id, () => end(id))).existed,
      async detach() {
        leaveEnded();
        watch.detach();
        await redis.close();
      },
    };
  }

  const filling = { stored, keys, view, index };
  const byStore = options.redis === undefined ? undefined : redisCommands(settings.client, { timeoutMs: timeout });
  const claimByStore = byStore && new SessionIndex(byStore, { ...indexing!, principal: view.principalDigest }).claim;
  const corrections = new Corrections(stored, index, view, claimByStore);
  const survey = new Survey(filling, scan.maxSessions ?? 50_000);
  const writer = new IndexWriter(index, view, corrections, indexing!.interval);
  const watch = watchStore(store, writer);
  const leaveEnded = keepEndedElsewhere(store, index.ended, async (id) => {
    await stored.delete(id);
    writer.ended(id);
  });
  const indexed = new IndexedSessions(index, reader, corrections, scanned, scan, () => survey.begin());
  return {
    kind: "connect-redis",
    findById,
    findByUsername: (username) => indexed.findByUsername(username),
    list: async (query) => (query.active === false ? none : indexed.list(query)),
    count: async ({ active }) => (active === false ? 0 : indexed.count()),
    findIdByDigest: (digest) => indexed.findIdByDigest(digest),
    prepare: (run) => runFilling(filling, run),
    delete: async (id) => (await watch.end(id, () => writer.end(id, () => stored.delete(id)))).existed,
    async detach() {
      leaveEnded();
      watch.detach();
      corrections.stop();
      survey.stop();
      await redis.close();
    },
  };
}
