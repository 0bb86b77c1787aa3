import { ActuatorError } from "../../../common/error.ts";
import { readSession, type SpringRedis, type StoredSession } from "./redis-session.ts";
import { textOf, writingsOf, zeroLike } from "./serialized.ts";
import { expiryTime } from "./session-times.ts";

/** How long the indexed repositories keep the hash after its session, for their listeners. */
const KEPT_MS = 300_000;

/**
 * Ends a session as Spring's own `deleteById` does. Resolves to whether it existed.
 *
 * @param username its user, if known
 * @throws ActuatorError UNIMPLEMENTED if the session was written by a serializer that cannot be imitated.
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

/** Detects an indexed repository: it keeps the hash longer than the session, and a shadow key exactly as long. */
async function isIndexed({ commands, keys, clock }: SpringRedis, { session, times }: StoredSession): Promise<boolean> {
  const [shadow, ttl] = await Promise.all([
    commands.command(["EXISTS", keys.shadow(session.id)]),
    commands.command(["PTTL", keys.session(session.id)]) as Promise<number>,
  ]);
  const expiry = expiryTime(times);
  if (shadow === 1 || expiry === Number.POSITIVE_INFINITY) return true;
  if (expiry === undefined) throw new ActuatorError("UNIMPLEMENTED", "DELETE_UNSUPPORTED", WHICH_REPOSITORY);
  return clock() + ttl - expiry > KEPT_MS / 2;
}

/**
 * Does what `RedisIndexedSessionRepository.deleteById` does, in an order that ends the session first: the interval becomes
 * 0, so that no request can use the session or bring it back. When the shadow key is deleted, Redis notifies Spring, which
 * reads the hash for its listeners and removes the session from its indexes. WebFlux's repository then removes the hash.
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
    commands.command(["PEXPIRE", hash, `${KEPT_MS}`]),
    commands.command(["HEXISTS", hash, "creationTime"]),
    ...removals.map(([command, key, members]) => commands.command([command, key, ...members])),
    commands.command(["DEL", keys.shadow(id)]),
    commands.command(["DEL", keys.indexesOf(id)]),
  ]);
  // The session was removed meanwhile: Spring would fail on the rest of a hash.
  if (whole !== 1) await commands.command(["DEL", hash]);
  return true;
}

type Removal = readonly [command: "SREM" | "ZREM", key: string, members: readonly Buffer[]];

/** Returns where the bookkeeping has the session, for each serializer. */
async function memberships({ commands, keys }: SpringRedis, { session, times }: StoredSession): Promise<Removal[]> {
  const { id, username } = session;
  const members = writingsOf(id);
  const indexes = (await commands.commandForBuffers(["SMEMBERS", keys.indexesOf(id)])) as Buffer[];
  const sets = [...(username === undefined ? [] : keys.sessionsOf(username)), ...indexes.map(textOf)];
  const removals = sets.flatMap((key): Removal[] => (key && keys.isIndex(key) ? [["SREM", key, members]] : []));
  removals.push(["ZREM", keys.allExpirations, members]);
  const { lastAccessedTime, maxInactiveInterval } = times;
  if (lastAccessedTime !== undefined && maxInactiveInterval !== undefined) {
    // Also a session that never expires, which Spring files under its negative interval.
    const end = lastAccessedTime + maxInactiveInterval * 1000;
    removals.push(["SREM", keys.expirations(end), writingsOf(`expires:${id}`)]);
  }
  return removals;
}

const UNKNOWN_SERIALIZER =
  "Spring Session uses another serializer than Java's or Jackson's here, so its index and expiry keys cannot be updated. End the " +
  "session in the application.";
const WHICH_REPOSITORY =
  "It is unclear whether Spring's plain or its indexed repository keeps this session. Set the option indexed of " +
  "springSessions.";
