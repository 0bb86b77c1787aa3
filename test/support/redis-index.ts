import type { RedisServer } from "./redis-server.ts";

/** Reads the ids in a sorted set of an index, in its order: without the mark that every set has, and without users. */
export async function indexedIds(server: RedisServer, key: string): Promise<string[]> {
  const members = (await server.command("ZRANGE", key, "0", "-1")) as string[];
  return members.filter((member) => member !== "\0").map((member) => member.slice(member.indexOf(":") + 1));
}
