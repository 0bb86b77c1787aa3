import type { RedisCommands } from "./client.ts";

/**
 * The texts at these keys, in one round trip; null where there is none, or something that is no text. In a cluster, where
 * a command has one key only, there is a command for each.
 */
export async function valuesAt(redis: RedisCommands, keys: readonly string[]): Promise<(string | null)[]> {
  if (keys.length === 0) return [];
  // MGET also with one key: unlike GET it makes no error of a key that holds something else.
  if (redis.nodes === undefined) return (await redis.command(["MGET", ...keys])) as (string | null)[];
  const replies = await Promise.all(keys.map((key) => redis.command(["MGET", key])));
  return replies.map((reply) => (reply as (string | null)[])[0] ?? null);
}

/** Members with their scores, from a reply that lists them flat (RESP2) or in pairs (RESP3). */
export function scoredMembers(reply: unknown): (readonly [member: string, score: number])[] {
  const flat = (reply as readonly unknown[]).flat();
  const members: (readonly [string, number])[] = [];
  for (let at = 0; at < flat.length; at += 2) members.push([String(flat[at]), Number(flat[at + 1])]);
  return members;
}
