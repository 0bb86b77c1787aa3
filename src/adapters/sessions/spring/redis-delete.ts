import { ActuatorError } from "../../../common/error.ts";
import { readSession, type SpringRedis, type StoredSession } from "./redis-session.ts";
import { textOf, writingsOf, zeroLike } from "./serialized.ts";
import { expiryTime } from "./session-times.ts";

/** For how long the indexed repositories keep the hash when its session is over, for those who are told of it. */
const KEPT = 300_000;

/**
 * Ends a session as Spring's own `deleteById` does. Resolves to whether there was one.
 *
 * @param username whose it is, where that is known
 * @throws ActuatorError UNIMPLEMENTED where a serializer wrote the session that cannot be imitated.
 */
export async function endSession(
  redis: SpringRedis,
  id: string,
  indexed: boolean | undefined,
  username?: string,
): Promise<boolean> {
  const stored = await readSession(redis, id, username);
  if (stored === undefined) return false;
  if (indexed ?? (await isIndexed(redis, stored))) return endIndexed(redis, stored);
  return (await redis.commands.command(["DEL", redis.keys.session(id)])) === 1;
}

/** The indexed repositories keep the hash for longer than the session lasts, and a shadow key for as long as it lasts. */
async function isIndexed({ commands, keys, clock }: SpringRedis, { session, times }: StoredSession): Promise<boolean> {
  const [shadow, ttl] = await Promise.all([
    commands.command(["EXISTS", keys.shadow(session.id)]),
    commands.command(["PTTL", keys.session(session.id)]) as Promise<number>,
  ]);
  const expiry = expiryTime(times);
  if (shadow === 1 || expiry === Number.POSITIVE_INFINITY) return true;
  if (expiry === undefined) throw new ActuatorError("UNIMPLEMENTED", "DELETE_UNSUPPORTED", WHICH_REPOSITORY);
  return clock() + ttl - expiry > KEPT / 2;
}

/**
 * What `RedisIndexedSessionRepository.deleteById` does, in an order that ends the session first: the interval becomes 0,
 * so that no request can use it, nor one under way bring it back. When the shadow key goes, Redis tells Spring, which
 * reads the hash for its listeners and takes the session out of its indexes. WebFlux's repository then removes the hash.
 */
async function endIndexed(redis: SpringRedis, stored: StoredSession): Promise<boolean> {
  const { commands, keys } = redis;
  const { id } = stored.session;
  const zero = stored.writtenInterval === undefined ? Buffer.from("0") : zeroLike(stored.writtenInterval);
  if (zero === undefined) throw new ActuatorError("UNIMPLEMENTED", "DELETE_UNSUPPORTED", UNKNOWN_SERIALIZER);
  const hash = keys.session(id);
  const removals = await memberships(redis, stored);
  const [, , whole] = await Promise.all([
    commands.command(["HSET", hash, "maxInactiveInterval", zero]),
    commands.command(["PEXPIRE", hash, `${KEPT}`]),
    commands.command(["HEXISTS", hash, "creationTime"]),
    ...removals.map(([command, key, members]) => commands.command([command, key, ...members])),
    commands.command(["DEL", keys.shadow(id)]),
    commands.command(["DEL", keys.indexesOf(id)]),
  ]);
  // Removed by somebody else meanwhile. Spring would stumble over the rest of a hash.
  if (whole !== 1) await commands.command(["DEL", hash]);
  return true;
}

type Removal = readonly [command: "SREM" | "ZREM", key: string, members: readonly Buffer[]];

/** Where the bookkeeping has the session, by whichever serializer. */
async function memberships({ commands, keys }: SpringRedis, { session, times }: StoredSession): Promise<Removal[]> {
  const { id, username } = session;
  const members = writingsOf(id);
  const indexes = (await commands.commandForBuffers(["SMEMBERS", keys.indexesOf(id)])) as Buffer[];
  const sets = [...(username === undefined ? [] : keys.sessionsOf(username)), ...indexes.map(textOf)];
  const removals = sets.flatMap((key): Removal[] => (key && keys.isIndex(key) ? [["SREM", key, members]] : []));
  removals.push(["ZREM", keys.allExpirations, members]);
  const { lastAccessedTime, maxInactiveInterval } = times;
  if (lastAccessedTime !== undefined && maxInactiveInterval !== undefined) {
    // Also one that never expires, which Spring files under its interval of less than nothing.
    const end = lastAccessedTime + maxInactiveInterval * 1000;
    removals.push(["SREM", keys.expirations(end), writingsOf(`expires:${id}`)]);
  }
  return removals;
}

const UNKNOWN_SERIALIZER =
  "Spring Session's values are written here by another serializer than Java's or Jackson's, so that its bookkeeping " +
  "cannot be followed. End the session in the application.";
const WHICH_REPOSITORY =
  "It cannot be told whether Spring's plain or its indexed repository keeps this session. Say so: springSessionRedis's " +
  "option indexed.";
