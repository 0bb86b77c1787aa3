import { ActuatorError } from "../../../common/error.ts";
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

/** Connections to a Redis before 6.2. */
const withoutManyScores = new WeakSet<RedisCommands>();

/** The score of each member of a sorted set; undefined where it is none. */
export async function scoresOf(
  redis: RedisCommands,
  key: string,
  members: readonly string[],
): Promise<(number | undefined)[]> {
  if (members.length === 0) return [];
  const scores = (await manyScores(redis, key, members)) ?? (await eachScore(redis, key, members));
  return scores.map((score) => (score === null ? undefined : Number(score)));
}

async function manyScores(redis: RedisCommands, key: string, members: readonly string[]) {
  if (withoutManyScores.has(redis)) return undefined;
  try {
    return (await redis.command(["ZMSCORE", key, ...members])) as unknown[];
  } catch (error) {
    if (!(error instanceof ActuatorError) || error.code !== "FAILED_PRECONDITION") throw error;
    withoutManyScores.add(redis);
    return undefined;
  }
}

function eachScore(redis: RedisCommands, key: string, members: readonly string[]): Promise<unknown[]> {
  return Promise.all(members.map((member) => redis.command(["ZSCORE", key, member])));
}

/** Members with their scores, from a reply that lists them flat (RESP2) or in pairs (RESP3). */
export function scoredMembers(reply: unknown): (readonly [member: string, score: number])[] {
  const flat = (reply as readonly unknown[]).flat();
  const members: (readonly [string, number])[] = [];
  for (let at = 0; at < flat.length; at += 2) members.push([String(flat[at]), Number(flat[at + 1])]);
  return members;
}
