import { ActuatorError } from "../../../common/error.ts";
import { checkOptions } from "../../../common/options.ts";
import { jdbcSessions, SPRING_JDBC_OPTIONS, type SpringJdbcOptions, type SpringJdbcSessions } from "./jdbc.ts";
import { redisSessions, SPRING_REDIS_OPTIONS, type SpringRedisOptions, type SpringRedisSessions } from "./redis.ts";

export type { SpringJdbcOptions, SpringJdbcSessions } from "./jdbc.ts";
export type { SpringRedisOptions, SpringRedisSessions } from "./redis.ts";

/**
 * Shows and ends the sessions that JVMs keep with Spring Session, in Redis or in PostgreSQL, from outside those JVMs.
 *
 * In Redis (6 or later), the connection's user needs SCAN, SSCAN, HMGET, HKEYS and EXISTS and, to end sessions, PTTL,
 * SMEMBERS, HSET, PEXPIRE, HEXISTS, SREM, ZREM and DEL. Values that Java's serialization (Spring's default) or Jackson's
 * JSON wrote are read; of others the times stay unknown. Values of attributes are never read, except the user's name.
 *
 * - A session's user is known if the session was found by that user, or if the application keeps the name as
 *   `PRINCIPAL_NAME_INDEX_NAME`. Spring Security keeps it inside Java objects, which are not read.
 * - Searching by user needs the indexed repository. Otherwise it is UNIMPLEMENTED.
 * - Lists are in the order of Redis's own table: no index is by time.
 * - Deleting does what Spring's `deleteById` does. With the indexed repositories the applications see their
 *   SessionDeletedEvent, as long as Redis's keyspace notifications are on, which Spring enables. What they keep of a deleted
 *   session for five minutes is not shown. A request under way cannot restore the session; with WebFlux's repository it may
 *   leave a remainder, which is shown without a creation time and can be deleted again.
 *
 * In PostgreSQL, the tables are those of `JdbcIndexedSessionRepository`. The connection's user needs SELECT and, to end
 * sessions, DELETE on both.
 *
 * - Lists are ordered by `EXPIRY_TIME`, the latest first, since Spring has an index of it and none of the last access:
 *   newest access first among sessions of the same interval, and sessions that never expire before all others.
 * - Deleting removes the session's row and its attributes, also of sessions that never expire, unlike Spring's own
 *   `deleteById`. Spring has no event for a deleted session here.
 *
 * @throws ActuatorError INVALID_ARGUMENT without a connection to either, or if an option is invalid.
 * @example
 * createActuator({ sessions: springSessions({ redis: "redis://localhost:6379", indexed: true }) });
 * createActuator({ sessions: springSessions({ postgres: pool, schema: "app" }) });
 */
export function springSessions(options: SpringRedisOptions): SpringRedisSessions;
export function springSessions(options: SpringJdbcOptions): SpringJdbcSessions;
export function springSessions(
  options: SpringRedisOptions | SpringJdbcOptions,
): SpringRedisSessions | SpringJdbcSessions {
  const { redis, postgres } = (options ?? {}) as { readonly redis?: unknown; readonly postgres?: unknown };
  if ((redis === undefined) === (postgres === undefined)) {
    const message = 'springSessions needs either redis or postgres, such as { redis: "redis://localhost:6379" }.';
    throw new ActuatorError("INVALID_ARGUMENT", "INVALID_OPTION", message, { field: "redis" });
  }
  if (redis !== undefined) {
    checkOptions("springSessions", options, SPRING_REDIS_OPTIONS);
    return redisSessions(options as SpringRedisOptions);
  }
  checkOptions("springSessions", options, SPRING_JDBC_OPTIONS);
  return jdbcSessions(options as SpringJdbcOptions);
}
