import { ActuatorError } from "../../../common/error.ts";
import { LatestMap } from "../../../common/latest-map.ts";
import { type Checks, callable, flag, timeLimitMs, unknown } from "../../../common/options.ts";
import type { Session } from "../../../sessions/session.ts";
import type { SessionPage, SessionQuery, SessionSearch, SessionStore } from "../../../sessions/store.ts";
import { evictionOf, evictionWarnings } from "../../kit/redis/eviction.ts";
import { type RedisClient, redisCommands } from "../../kit/redis/index.ts";
import { FIRST_KEYS, type KeysPosition, type KeysStep, SessionKeys } from "../../kit/redis/keys.ts";
import { endSession } from "./redis-delete.ts";
import { readSession, type SpringRedis, springKeys } from "./redis-session.ts";
import { textOf } from "./serialized.ts";
import { expiryTime, firstSeenBy } from "./session-times.ts";

/** Sessions of Spring Session in Redis. */
export interface SpringRedisOptions {
  /**
   * A client of node-redis or ioredis, an object with `command(args)` and `commandForBuffers(args)`, or a URL, which needs
   * the package `redis`.
   */
  readonly redis: RedisClient | string;
  readonly postgres?: undefined;
  /** As `spring.session.data.redis.namespace`. Default: "spring:session". */
  readonly namespace?: string | undefined;
  /**
   * Whether the JVMs use the indexed repository (`spring.session.data.redis.repository-type=indexed`, or WebFlux's).
   * Default: detected from the keys, for each session that is ended and each search that finds none.
   */
  readonly indexed?: boolean | undefined;
  /** Milliseconds to wait for an answer. Default: 5,000. */
  readonly timeoutMs?: number | undefined;
  /** Milliseconds since the epoch. Default: `Date.now`. */
  readonly clock?: (() => number) | undefined;
}

export const SPRING_REDIS_OPTIONS: Checks<SpringRedisOptions> = {
  redis: unknown,
  postgres: unknown,
  namespace: (value) =>
    typeof value === "string" && value.trim() !== "" ? undefined : 'must be a non-empty string like "spring:session"',
  indexed: flag,
  timeoutMs: timeLimitMs,
  clock: callable,
};

/** The sessions of Spring Session in Redis. */
export interface SpringRedisSessions extends SessionStore {
  readonly kind: "spring-session-redis";
  list(query: SessionQuery): Promise<SessionPage>;
  delete(id: string): Promise<boolean>;
  detach(): Promise<void>;
}

const MAX_REMEMBERED = 10_000;

export function redisSessions(options: SpringRedisOptions): SpringRedisSessions {
  const { namespace = "spring:session", indexed, timeoutMs, clock = Date.now } = options;
  const commands = redisCommands(options.redis, { timeoutMs });
  const keys = springKeys(namespace.trim());
  const spring: SpringRedis = { commands, keys, clock, firstSeen: firstSeenBy(clock) };
  const hashes = new SessionKeys(commands, { prefix: keys.prefix, idOf: keys.idOf, type: "hash" });
  const userFound = new LatestMap<string, string>(MAX_REMEMBERED);

  async function findByUsername(username: string): Promise<SessionSearch> {
    if (!username.isWellFormed()) return { sessions: [], partial: false };
    const { sessions, partial } = await findSessions(spring, username, indexed);
    for (const { id } of sessions) userFound.set(id, username);
    // Spring's own index may be among what was evicted, and nothing in Redis would tell.
    const evicted = (await evictionOf(commands))?.evicted ?? false;
    return { sessions, partial: partial || evicted };
  }

  return {
    kind: "spring-session-redis",
    findById: async (id) => (await readSession(spring, id))?.session,
    ...(indexed === false ? { limits: { findByUsername: NOT_INDEXED } } : { findByUsername }),
    async list({ limit, after, active }) {
      const { ids, next } = await hashes.page(limit, after);
      const stored = await Promise.all(ids.map((id) => readSession(spring, id)));
      const sessions = stored.flatMap((each) => (each === undefined ? [] : [each.session]));
      return {
        sessions: active === undefined ? sessions : sessions.filter(({ expired }) => expired !== active),
        partial: false,
        next,
      };
    },
    delete: (id) => endSession(spring, id, indexed, userFound.get(id)),
    ...(indexed !== false && { warnings: () => evictionWarnings(commands) }),
    detach: () => commands.close(),
  };
}

/** Why the plain repository cannot be searched by user, and what would change it. */
const NOT_INDEXED =
  "Spring Session keeps no index of users in Redis here, and only Java objects have the user of a session. Its indexed " +
  "repository keeps one: spring.session.data.redis.repository-type=indexed.";

const MAX_SESSIONS = 50_000;
const MAX_SCANS = 100;
const SCAN_COUNT = 1000;

/**
 * Finds the sessions that Spring's index has for the user. The index is a hint: each session is read, and one that states
 * another user is left out. The index is not changed.
 *
 * @throws ActuatorError UNIMPLEMENTED if there are sessions but no index.
 */
async function findSessions(
  redis: SpringRedis,
  username: string,
  indexed: boolean | undefined,
): Promise<SessionSearch> {
  const { ids, partial } = await idsOf(redis, username);
  if (ids.length === 0 && indexed === undefined) return noneOf(await repositoryOf(redis));
  const sessions: Session[] = [];
  for (let start = 0; start < ids.length; start += 100) {
    const batch = ids.slice(start, start + 100);
    const stored = await Promise.all(batch.map((id) => readSession(redis, id, username)));
    sessions.push(...stored.flatMap((each) => (each?.session.username === username ? [each.session] : [])));
  }
  return { sessions, partial };
}

async function idsOf({ commands, keys }: SpringRedis, username: string) {
  const ids = new Set<string>();
  let partial = false;
  for (const key of keys.sessionsOf(username)) {
    let cursor: string | undefined = "0";
    do {
      const args: string[] = ["SSCAN", key, cursor, "COUNT", `${SCAN_COUNT}`];
      const [next, members] = (await commands.commandForBuffers(args)) as [Buffer, Buffer[]];
      for (const member of members) {
        const id = textOf(member);
        if (id !== undefined) ids.add(id);
      }
      cursor = String(next) === "0" ? undefined : String(next);
      partial ||= cursor !== undefined && ids.size >= MAX_SESSIONS;
    } while (cursor !== undefined && !partial);
  }
  return { ids: [...ids].slice(0, MAX_SESSIONS), partial };
}

/** Which repository writes here; "none": there is no live session. "unknown": the search for one was cut off. */
type Repository = "indexed" | "plain" | "none" | "unknown";

function noneOf(repository: Repository): SessionSearch {
  if (repository === "plain") throw new ActuatorError("UNIMPLEMENTED", "FIND_BY_USERNAME_UNSUPPORTED", NOT_INDEXED);
  return { sessions: [], partial: repository === "unknown" };
}

/** Detects the repository: an indexed one has a shadow key for each live session that will expire. */
async function repositoryOf(redis: SpringRedis): Promise<Repository> {
  const { commands, keys } = redis;
  const all = new SessionKeys(commands, { prefix: keys.prefix, idOf: (key) => key });
  let position: KeysPosition | undefined = FIRST_KEYS;
  for (let scans = 0; position !== undefined; scans++) {
    if (scans === MAX_SCANS) return "unknown";
    const { ids: found, next }: KeysStep = await all.step(position, SCAN_COUNT);
    if (found.some((key) => keys.isBookkeeping(key))) return "indexed";
    const some = found.flatMap((key) => keys.idOf(key) ?? []).slice(0, 20);
    if ((await Promise.all(some.map((id) => lacksShadow(redis, id)))).includes(true)) return "plain";
    position = next;
  }
  return "none";
}

async function lacksShadow(redis: SpringRedis, id: string): Promise<boolean> {
  const { commands, keys, clock } = redis;
  const [shadow, stored] = await Promise.all([commands.command(["EXISTS", keys.shadow(id)]), readSession(redis, id)]);
  if (shadow !== 0 || stored === undefined) return false;
  const expiry = expiryTime(stored.times);
  return expiry !== undefined && Number.isFinite(expiry) && expiry > clock();
}
