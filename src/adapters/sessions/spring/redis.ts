import { ActuatorError } from "../../../common/error.ts";
import { anything, type Checks, callable, checkOptions, flag, timeLimit } from "../../../common/options.ts";
import type { Session } from "../../../sessions/session.ts";
import type { SessionPage, SessionQuery, SessionSearch, SessionStore } from "../../../sessions/store.ts";
import { type RedisClient, redisCommands } from "../../kit/redis/index.ts";
import { FirstSeen } from "./first-seen.ts";
import { LatestMap } from "./latest-map.ts";
import { endSession } from "./redis-delete.ts";
import { springKeys } from "./redis-keys.ts";
import { listSessions } from "./redis-list.ts";
import { findSessions, NOT_INDEXED } from "./redis-search.ts";
import { readSession, type SpringRedis } from "./redis-session.ts";

/** Where Spring Session's sessions are in Redis. */
export interface SpringSessionRedisOptions {
  /** As `spring.session.data.redis.namespace`. Default: "spring:session". */
  readonly namespace?: string | undefined;
  /**
   * Whether the JVMs use the indexed repository (`spring.session.data.redis.repository-type=indexed`, or WebFlux's). Default:
   * seen from the keys, for each session that is ended and each search that finds nobody.
   */
  readonly indexed?: boolean | undefined;
  /** Milliseconds to wait for an answer of Redis. Default: 5,000. */
  readonly timeoutMs?: number | undefined;
  /** Milliseconds since the epoch. Default: `Date.now`. */
  readonly clock?: (() => number) | undefined;
}

const OPTIONS: Checks<SpringSessionRedisOptions> = {
  namespace: anything,
  indexed: flag,
  timeoutMs: timeLimit,
  clock: callable,
};

/** The sessions of Spring Session in Redis. */
export interface SpringSessionRedis extends SessionStore {
  readonly kind: "spring-session-redis";
  findById(id: string): Promise<Session | undefined>;
  list(query: SessionQuery): Promise<SessionPage>;
  delete(id: string): Promise<boolean>;
  detach(): Promise<void>;
}

/**
 * The sessions that JVMs keep in Redis (6 or later) by Spring Session, read and ended from outside. `redis` is a client of
 * node-redis or ioredis, an object with `command(args)` and `commandForBuffers(args)`, or a URL, for which the package
 * `redis` has to be installed. Its user needs SCAN, SSCAN, HMGET, HKEYS and EXISTS and, to end sessions, PTTL, SMEMBERS,
 * HSET, PEXPIRE, HEXISTS, SREM, ZREM and DEL.
 *
 * Values written by Java's serialization (Spring's default) or as JSON by Jackson are read. Of others the times stay
 * unknown. Values of attributes are never asked for, but for the one that is the name of the user.
 *
 * - Whose a session is, is known where it is found by its user, or where the application keeps that name as
 *   `PRINCIPAL_NAME_INDEX_NAME`. Spring Security keeps it inside Java objects, which are not read.
 * - Searching by user needs the indexed repository. Otherwise it is UNIMPLEMENTED.
 * - Lists are in the order of Redis's own table: no index is by time.
 * - Deleting does what Spring's `deleteById` does. With the indexed repositories the applications see their
 *   SessionDeletedEvent, as long as Redis's keyspace notifications are on, which Spring sees to. What they keep of a
 *   deleted session for five minutes is not shown. A request that is under way cannot bring the session back; with
 *   WebFlux's repository it may leave a rest of it, which is shown without a creation time and can be deleted again.
 *
 * @throws ActuatorError INVALID_ARGUMENT where `redis` is none of these or an option is unfit.
 */
export function springSessionRedis(
  redis: RedisClient | string,
  options: SpringSessionRedisOptions = {},
): SpringSessionRedis {
  checkOptions("springSessionRedis", options, OPTIONS);
  const { namespace = "spring:session", indexed, timeoutMs: timeout, clock = Date.now } = options;
  if (typeof namespace !== "string" || namespace.trim() === "") {
    const message = 'springSessionRedis\'s namespace must be a text like "spring:session".';
    throw new ActuatorError("INVALID_ARGUMENT", "INVALID_OPTION", message, { field: "namespace" });
  }
  const commands = redisCommands(redis, { timeoutMs: timeout });
  const spring: SpringRedis = { commands, keys: springKeys(namespace.trim()), clock, firstSeen: new FirstSeen() };
  const userFound = new LatestMap<string, string>();

  async function findByUsername(username: string): Promise<SessionSearch> {
    if (!username.isWellFormed()) return { sessions: [], partial: false };
    const search = await findSessions(spring, username, indexed);
    for (const { id } of search.sessions) userFound.set(id, username);
    return search;
  }

  return {
    kind: "spring-session-redis",
    findById: async (id) => (await readSession(spring, id))?.session,
    ...(indexed === false ? { limits: { findByUsername: NOT_INDEXED } } : { findByUsername }),
    list: (query) => listSessions(spring, query),
    delete: (id) => endSession(spring, id, indexed, userFound.get(id)),
    detach: () => commands.close(),
  };
}
