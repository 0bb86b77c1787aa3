import {
  type Check,
  type Checks,
  callable,
  checkOptions,
  flag,
  having,
  positiveMs,
  text,
  timeLimitMs,
  unknown,
} from "../../../common/options.ts";
import { type Principal, principalFault } from "../../../sessions/principal.ts";
import { type RedisClient, redisCommands } from "../../kit/redis/index.ts";
import { SessionIndex } from "../../kit/redis/session-index.ts";
import { type FillResult, type FillRunOptions, runFilling } from "./filling.ts";
import { indexSettingsOf, sessionKeys, sessionView } from "./session-view.ts";
import { type SessionSerializer, settingsOf } from "./settings.ts";
import { StoredSessions } from "./stored-sessions.ts";

/** Which sessions are indexed, and how. */
export interface PrepareConnectRedisOptions extends FillRunOptions {
  /** A client, which stays open, or a URL. */
  readonly redis: RedisClient | string;
  /** The prefix of the store's keys. Default: `"sess:"`, as in connect-redis. */
  readonly prefix?: string | undefined;
  /** The store's `ttl` in milliseconds, for sessions whose cookie has no expiry. Default: 86,400,000, as in connect-redis. */
  readonly ttlMs?: number | undefined;
  /** The store's serializer. Default: JSON. */
  readonly serializer?: SessionSerializer | undefined;
  /** The same as for `connectRedisSessions`, which does not take an index made with another one as complete. */
  readonly principal?: Principal | undefined;
  /** The prefix of the index's keys. Default: `"actuator:sessions:"`. */
  readonly indexPrefix?: string | undefined;
  /** Milliseconds to wait for each answer. Default: 5,000. */
  readonly timeoutMs?: number | undefined;
}

/** A prefix may be empty. */
const anyString: Check = (value) => (typeof value === "string" ? undefined : "must be a string");

const OPTIONS: Checks<PrepareConnectRedisOptions> = {
  redis: unknown,
  prefix: anyString,
  ttlMs: positiveMs,
  serializer: having(["parse"], "an object with parse, such as the store's serializer"),
  principal: principalFault,
  indexPrefix: text,
  timeoutMs: timeLimitMs,
  dryRun: flag,
  restart: flag,
  signal: unknown,
  onProgress: callable,
};

/**
 * Fills the index with the sessions that exist already, so that searches find them all. Run it once, when all processes that
 * write sessions keep the index; the sessions of a process that does not are never complete.
 *
 * It takes memory for some hundred sessions, and at most half of the server's time. Interrupted, by `signal` or with its
 * process, it continues where it was, unless Redis was restarted meanwhile or a write of the index was lost.
 *
 * @throws ActuatorError UNAVAILABLE if Redis cannot be reached, FAILED_PRECONDITION if it refuses a command.
 * @example
 * const { sessions, complete } = await prepareConnectRedisSessions({ redis: "redis://localhost:6379" });
 */
export async function prepareConnectRedisSessions(options: PrepareConnectRedisOptions): Promise<FillResult> {
  checkOptions("prepareConnectRedisSessions", options, OPTIONS);
  const { redis: clientOrUrl, principal, indexPrefix, timeoutMs, prefix, ttlMs, serializer, ...run } = options;
  const redis = redisCommands(clientOrUrl, { timeoutMs });
  try {
    const settings = settingsOf({ prefix, ttlMs, serializer });
    const view = sessionView(settings, principal);
    const indexSettings = indexSettingsOf(view, { prefix: indexPrefix });
    const filling = {
      stored: new StoredSessions(redis, settings),
      keys: sessionKeys(redis, settings.prefix, indexSettings.prefix),
      view,
      index: new SessionIndex(redis, indexSettings),
    };
    return await runFilling(filling, run);
  } finally {
    await redis.close();
  }
}
