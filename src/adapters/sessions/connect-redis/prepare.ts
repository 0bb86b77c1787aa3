import {
  anything,
  type Check,
  type Checks,
  callable,
  checkOptions,
  duration,
  flag,
  having,
  text,
  timeLimit,
} from "../../../common/options.ts";
import { type Principal, principalFault } from "../../../sessions/principal.ts";
import { redisCommands } from "../../kit/redis/commands.ts";
import type { RedisClient } from "../../kit/redis/sender.ts";
import { SessionIndex } from "../../kit/redis/session-index.ts";
import { type FillResult, type FillRunOptions, runFilling } from "./fill-run.ts";
import { indexOptions } from "./options.ts";
import { SessionKeys } from "./session-keys.ts";
import { sessionView } from "./session-view.ts";
import { type SessionSerializer, settingsOf } from "./settings.ts";
import { StoredSessions } from "./stored-sessions.ts";

/** Whose sessions are indexed, and how. */
export interface PrepareRedisOptions extends FillRunOptions {
  /** A client, which stays open, or a URL. */
  readonly redis: RedisClient | string;
  /** What the store's keys begin with. Default: `"sess:"`, as in connect-redis. */
  readonly prefix?: string | undefined;
  /** The store's `ttl` in milliseconds, for sessions whose cookie does not say. Default: 24 hours, as in connect-redis. */
  readonly ttlMs?: number | undefined;
  /** The store's serializer. Default: JSON. */
  readonly serializer?: SessionSerializer | undefined;
  /** As the application gives it to `connectRedisSessions`: an index made by another is not complete to it. */
  readonly principal?: Principal | undefined;
  /** What the index's keys begin with. Default: `"actuator:sessions:"`. */
  readonly indexPrefix?: string | undefined;
  /** Milliseconds to wait for each answer. Default: 5,000. */
  readonly timeoutMs?: number | undefined;
}

/** A prefix may be empty. */
const anyText: Check = (value) => (typeof value === "string" ? undefined : "must be a text");

const OPTIONS: Checks<PrepareRedisOptions> = {
  redis: anything,
  prefix: anyText,
  ttlMs: duration,
  serializer: having(["parse"], "an object with parse, as the store has it"),
  principal: principalFault,
  indexPrefix: text,
  timeoutMs: timeLimit,
  dryRun: flag,
  restart: flag,
  signal: anything,
  onProgress: callable,
};

/**
 * Fills the index with the sessions that are there already, so that searches find them all. To be run once, when all
 * processes that write sessions keep the index; those of which one does not are never complete.
 *
 * It takes memory for some hundred sessions, and half of the server's time at most. Broken off, by `signal` or with its
 * process, it goes on where it was, unless Redis was restarted meanwhile or a write of the index failed.
 *
 * @throws ActuatorError UNAVAILABLE where Redis cannot be reached, FAILED_PRECONDITION where it refuses a command.
 */
export async function prepareRedisSessions(options: PrepareRedisOptions): Promise<FillResult> {
  checkOptions("prepareRedisSessions", options, OPTIONS);
  const { redis: clientOrUrl, principal, indexPrefix, timeoutMs: timeout, prefix, ttlMs, serializer, ...run } = options;
  const redis = redisCommands(clientOrUrl, { timeoutMs: timeout });
  try {
    const settings = settingsOf({ prefix, ttl: ttlMs === undefined ? undefined : ttlMs / 1_000, serializer });
    const view = sessionView(settings, principal);
    const index = indexOptions({ prefix: indexPrefix }, settings.prefix)!;
    return await runFilling(
      {
        stored: new StoredSessions(redis, settings),
        keys: new SessionKeys(redis, settings.prefix, index.prefix),
        view,
        index: new SessionIndex(redis, { ...index, principal: view.principalDigest }),
      },
      run,
    );
  } finally {
    await redis.close();
  }
}
