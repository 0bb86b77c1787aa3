import type { RedisCommands } from "./index.ts";

/** What Redis does when its memory is full. */
export interface Eviction {
  /** Its `maxmemory-policy`, if that may evict keys that never expire, such as those of an index. */
  readonly policy: string;
  /** Whether it has evicted any key since it was started. */
  readonly evicted: boolean;
}

/** Returns whether Redis may evict keys that never expire; undefined: it does not, or does not say. */
export async function evictionOf(redis: RedisCommands): Promise<Eviction | undefined> {
  try {
    const servers = (await redis.nodes?.()) ?? [redis];
    const all = await Promise.all(servers.map(evictionOfServer));
    const found = all.filter((each) => each !== undefined);
    return found[0] && { policy: found[0].policy, evicted: found.some(({ evicted }) => evicted) };
  } catch {
    // The connection's user may not ask.
    return undefined;
  }
}

/** Returns a warning for operators, as a list, if Redis may evict the index of sessions. */
export async function evictionWarnings(redis: RedisCommands): Promise<readonly string[]> {
  const eviction = await evictionOf(redis);
  if (eviction === undefined) return [];
  return [
    `Redis may evict the index of sessions, since its maxmemory-policy is ${eviction.policy}. Searches are slower then, or partial. ` +
      "Use noeviction or volatile-lru.",
  ];
}

async function evictionOfServer(server: RedisCommands): Promise<Eviction | undefined> {
  const [memory, stats] = await Promise.all(["memory", "stats"].map((section) => server.command(["INFO", section])));
  const [, policy] = /^maxmemory_policy:(allkeys-\w+)/m.exec(String(memory)) ?? [];
  if (policy === undefined || /^maxmemory:0\b/m.test(String(memory))) return undefined;
  return { policy, evicted: !/^evicted_keys:0\b/m.test(String(stats)) };
}
