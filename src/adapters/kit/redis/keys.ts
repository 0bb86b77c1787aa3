import { createHash } from "node:crypto";
import { ActuatorError } from "../../../common/error.ts";
import type { RedisCommands } from "./index.ts";

/** A position in a walk over all keys; a walk begins at `FIRST_KEYS`. */
export interface KeysPosition {
  /** The cluster's server; 0 without a cluster. */
  readonly node: number;
  readonly cursor: string;
}

export const FIRST_KEYS: KeysPosition = { node: 0, cursor: "0" };

/** A step of a walk. */
export interface KeysStep {
  /** An id may appear twice, and may be gone by now. */
  readonly ids: readonly string[];
  /** undefined: the walk is over. */
  readonly next: KeysPosition | undefined;
}

/** A page of a walk. */
export interface KeysPage {
  /** None twice in one page. */
  readonly ids: readonly string[];
  /** Where the next page begins; undefined: this is the last. It holds ids. */
  readonly next: string | undefined;
}

/** How the keys of sessions are recognised. */
export interface SessionKeysOptions {
  /** What all of them begin with. */
  readonly prefix: string;
  /** Returns the id in a key with this prefix; undefined for keys that are not of sessions. Default: what follows it. */
  readonly idOf?: ((key: string) => string | undefined) | undefined;
  /** The type of their values, to let the server filter. */
  readonly type?: "hash" | undefined;
}

const MAX_STEP = 1_000;
const MAX_PAGE_MS = 500;

/** Walks over the keys of sessions with SCAN: it meets what exists throughout the walk, in no order. */
export class SessionKeys {
  readonly #redis: RedisCommands;
  readonly #match: readonly string[];
  readonly #idOf: (key: string) => string | undefined;

  constructor(redis: RedisCommands, { prefix, idOf = (key) => key.slice(prefix.length), type }: SessionKeysOptions) {
    this.#redis = redis;
    this.#match = [
      "MATCH",
      `${prefix.replace(/[\\*?[\]^-]/g, "\\$&")}*`,
      ...(type === undefined ? [] : ["TYPE", type]),
    ];
    this.#idOf = (key) => (key.startsWith(prefix) ? idOf(key) : undefined);
  }

  /** Looks at about `count` keys. */
  async step({ node, cursor }: KeysPosition, count: number): Promise<KeysStep> {
    const nodes = (await this.#redis.nodes?.()) ?? [this.#redis];
    const server = nodes[node];
    if (server === undefined) return { ids: [], next: undefined };
    const reply = await server.command(["SCAN", cursor, ...this.#match, "COUNT", `${count}`]);
    const [following, keys] = reply as [unknown, string[]];
    return {
      ids: keys.flatMap((key) => this.#idOf(key) ?? []),
      next:
        String(following) !== "0"
          ? { node, cursor: String(following) }
          : node + 1 < nodes.length
            ? { node: node + 1, cursor: "0" }
            : undefined,
    };
  }

  /**
   * Collects the ids of one page. SCAN may return more than a page has room for, and what it has returned it need not return
   * again: so the position has the ids that are left as well. Then every session that exists from the first page to the last
   * is on one of them, whatever comes and goes. A page has `limit` ids, unless it is the last or keys of sessions are rare.
   */
  async page(limit: number, after?: string): Promise<KeysPage> {
    const end = performance.now() + MAX_PAGE_MS;
    const start: PagePosition = after === undefined ? { at: FIRST_KEYS, left: [] } : JSON.parse(after);
    const ids = new Set(start.left);
    let at = start.at;
    // How many keys SCAN looks at for one of a session.
    let rarity = 1;
    while (at !== undefined && ids.size < limit && performance.now() < end) {
      const count = Math.min(Math.ceil((limit - ids.size) * rarity), MAX_STEP);
      const step: KeysStep = await this.step(at, count);
      for (const id of step.ids) ids.add(id);
      at = step.next;
      rarity = count / Math.max(1, step.ids.length);
    }
    const found = [...ids];
    const left = found.slice(limit);
    const more = at !== undefined || left.length > 0;
    return { ids: found.slice(0, limit), next: more ? JSON.stringify({ at, left } satisfies PagePosition) : undefined };
  }
}

/** Where a page begins: with the ids that the page before had no room for. */
interface PagePosition {
  /** undefined: the walk is over. */
  readonly at: KeysPosition | undefined;
  readonly left: readonly string[];
}

/**
 * Reads the strings at these keys in one round trip; null if there is none, or another type. In a cluster, where a command
 * has a single key, it sends a command for each.
 */
export async function valuesAt(redis: RedisCommands, keys: readonly string[]): Promise<(string | null)[]> {
  if (keys.length === 0) return [];
  // MGET even for one key: unlike GET, it does not fail if the key holds another type.
  if (redis.nodes === undefined) return (await redis.command(["MGET", ...keys])) as (string | null)[];
  const replies = await Promise.all(keys.map((key) => redis.command(["MGET", key])));
  return replies.map((reply) => (reply as (string | null)[])[0] ?? null);
}

/** Reads the score of each member of a sorted set; undefined for what is not a member. */
export async function scoresOf(
  redis: RedisCommands,
  key: string,
  members: readonly string[],
): Promise<(number | undefined)[]> {
  if (members.length === 0) return [];
  const scores = await unlessRefused(withoutManyScores, redis, () => redis.command(["ZMSCORE", key, ...members])).then(
    (many) => many ?? Promise.all(members.map((member) => redis.command(["ZSCORE", key, member]))),
  );
  return (scores as unknown[]).map((score) => (score === null ? undefined : Number(score)));
}

const SCRIPT = "local t = {} for i, k in ipairs(KEYS) do t[i] = redis.call('PTTL', k) end return t";
const SCRIPT_ID = createHash("sha1").update(SCRIPT).digest("hex");
/** With fewer keys a script gains nothing; with more it would keep other clients waiting. */
const [MIN_SCRIPT_KEYS, MAX_SCRIPT_KEYS] = [8, 250];

/**
 * Reads how many milliseconds each key will live; -1: it never expires; -2: it does not exist. A script asks for many keys at once,
 * which no command does; in a cluster, or if scripts are forbidden, there is a command for each.
 */
export async function lifetimesOf(redis: RedisCommands, keys: readonly string[]): Promise<number[]> {
  const batches: Promise<readonly unknown[]>[] = [];
  for (let at = 0; at < keys.length; at += MAX_SCRIPT_KEYS) {
    batches.push(batchOf(redis, keys.slice(at, at + MAX_SCRIPT_KEYS)));
  }
  return (await Promise.all(batches)).flat().map(Number);
}

async function batchOf(redis: RedisCommands, keys: readonly string[]): Promise<readonly unknown[]> {
  const scripted =
    keys.length < MIN_SCRIPT_KEYS || redis.nodes !== undefined
      ? undefined
      : await unlessRefused(withoutScripts, redis, () => byScript(redis, keys));
  return (scripted as unknown[] | undefined) ?? Promise.all(keys.map((key) => redis.command(["PTTL", key])));
}

async function byScript(redis: RedisCommands, keys: readonly string[]): Promise<unknown> {
  const run = (...script: string[]) => redis.command([...script, `${keys.length}`, ...keys]);
  try {
    return await run("EVALSHA", SCRIPT_ID);
  } catch (error) {
    if (!String((error as Error).cause).includes("NOSCRIPT")) throw error;
    return run("EVAL", SCRIPT);
  }
}

/** Connections whose Redis is older than 6.2, and those whose user must not run scripts. */
const withoutManyScores = new WeakSet<RedisCommands>();
const withoutScripts = new WeakSet<RedisCommands>();

/** Sends a command unless this connection has refused it before; undefined if it refuses it. */
async function unlessRefused(
  refusing: WeakSet<RedisCommands>,
  redis: RedisCommands,
  send: () => Promise<unknown>,
): Promise<unknown> {
  if (refusing.has(redis)) return undefined;
  try {
    return await send();
  } catch (error) {
    if (!(error instanceof ActuatorError) || error.code !== "FAILED_PRECONDITION") throw error;
    refusing.add(redis);
    return undefined;
  }
}
