import { ActuatorError } from "../../../common/error.ts";
import type { Session } from "../../../sessions/session.ts";
import type { SessionSearch } from "../../../sessions/store.ts";
import { readSession, type SpringRedis } from "./redis-session.ts";
import { textOf } from "./serialized.ts";
import { expiryTime } from "./session-times.ts";

/** Why the plain repository cannot be searched by user, and what would change it. */
export const NOT_INDEXED =
  "Spring Session keeps no index of users in Redis here, and whose a session is stands in Java objects alone. Its indexed " +
  "repository keeps one: spring.session.data.redis.repository-type=indexed.";

const MOST_SESSIONS = 50_000;
const MOST_SCANS = 100;
const SCAN_COUNT = "1000";

/**
 * The sessions that Spring's index has of the user. The index is a hint: each session is read, and one that says itself
 * that it is somebody else's is left out. The index is not changed.
 *
 * @throws ActuatorError UNIMPLEMENTED where there are sessions but no index.
 */
export async function findSessions(
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
      const args: string[] = ["SSCAN", key, cursor, "COUNT", SCAN_COUNT];
      const [next, members] = (await commands.commandForBuffers(args)) as [Buffer, Buffer[]];
      for (const member of members) {
        const id = textOf(member);
        if (id !== undefined) ids.add(id);
      }
      cursor = String(next) === "0" ? undefined : String(next);
      partial ||= cursor !== undefined && ids.size >= MOST_SESSIONS;
    } while (cursor !== undefined && !partial);
  }
  return { ids: [...ids].slice(0, MOST_SESSIONS), partial };
}

/** Which repository writes here; "none": there is no living session. "unknown": none was found among all the keys. */
type Repository = "indexed" | "plain" | "none" | "unknown";

function noneOf(repository: Repository): SessionSearch {
  if (repository === "plain") throw new ActuatorError("UNIMPLEMENTED", "FIND_BY_USERNAME_UNSUPPORTED", NOT_INDEXED);
  return { sessions: [], partial: repository === "unknown" };
}

/** An indexed repository has a shadow key for each session that lives and will expire. */
async function repositoryOf(redis: SpringRedis): Promise<Repository> {
  const { commands, keys } = redis;
  for (const server of (await commands.nodes?.()) ?? [commands]) {
    let cursor = "0";
    for (let scans = 0; scans < MOST_SCANS; scans++) {
      const args = ["SCAN", cursor, "MATCH", keys.pattern, "COUNT", SCAN_COUNT];
      const [next, found] = (await server.command(args)) as [string, string[]];
      if (found.some((key) => keys.isBookkeeping(key))) return "indexed";
      const some = found.flatMap((key) => keys.idOf(key) ?? []).slice(0, 20);
      if ((await Promise.all(some.map((id) => lacksShadow(redis, id)))).includes(true)) return "plain";
      cursor = String(next);
      if (cursor === "0") break;
    }
    if (cursor !== "0") return "unknown";
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
