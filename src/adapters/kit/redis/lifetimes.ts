import { createHash } from "node:crypto";
import { ActuatorError } from "../../../common/error.ts";
import type { RedisCommands } from "./client.ts";

const SCRIPT = "local t = {} for i, k in ipairs(KEYS) do t[i] = redis.call('PTTL', k) end return t";
const SCRIPT_ID = createHash("sha1").update(SCRIPT).digest("hex");
/** With fewer keys a script gains nothing; with more it would keep other clients waiting. */
const [LEAST, MOST] = [8, 250];

/** Connections that must not run a script. */
const withoutScripts = new WeakSet<RedisCommands>();

/**
 * For how many milliseconds each key will live on: -1: for ever; -2: there is none. One script asks for many keys at once,
 * as no command does; where scripts are forbidden, or in a cluster, it is a command for each.
 */
export async function lifetimesOf(redis: RedisCommands, keys: readonly string[]): Promise<number[]> {
  const batches: Promise<readonly unknown[]>[] = [];
  for (let at = 0; at < keys.length; at += MOST) batches.push(batchOf(redis, keys.slice(at, at + MOST)));
  return (await Promise.all(batches)).flat().map(Number);
}

async function batchOf(redis: RedisCommands, keys: readonly string[]): Promise<readonly unknown[]> {
  if (keys.length < LEAST || redis.nodes !== undefined || withoutScripts.has(redis)) return oneByOne(redis, keys);
  try {
    return await byScript(redis, keys);
  } catch (error) {
    if (!(error instanceof ActuatorError) || error.code !== "FAILED_PRECONDITION") throw error;
    withoutScripts.add(redis);
    return oneByOne(redis, keys);
  }
}

function oneByOne(redis: RedisCommands, keys: readonly string[]): Promise<unknown[]> {
  return Promise.all(keys.map((key) => redis.command(["PTTL", key])));
}

async function byScript(redis: RedisCommands, keys: readonly string[]): Promise<readonly unknown[]> {
  const run = (...script: string[]) => redis.command([...script, `${keys.length}`, ...keys]) as Promise<unknown[]>;
  try {
    return await run("EVALSHA", SCRIPT_ID);
  } catch (error) {
    if (!String((error as Error).cause).includes("NOSCRIPT")) throw error;
    return run("EVAL", SCRIPT);
  }
}
