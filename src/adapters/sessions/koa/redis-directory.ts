import { LatestMap } from "../../../common/latest-map.ts";
import { DEFAULT_PRINCIPAL, type Principal } from "../../../sessions/principal.ts";
import { sessionDigest } from "../../../sessions/session-id.ts";
import { evictionWarnings } from "../../kit/redis/eviction.ts";
import { type RedisClient, type RedisCommands, redisCommands } from "../../kit/redis/index.ts";
import { IndexPruning } from "../../kit/redis/index-pruning.ts";
import { SessionIndex } from "../../kit/redis/session-index.ts";
import type { Beginning, DirectoryEntry, SessionDirectory } from "./directory.ts";

/** Where an index of the sessions of koa-session is kept. */
export interface KoaIndexOptions {
  /** The application's client, or a URL, which needs the package `redis`. */
  readonly redis: RedisClient | string;
  /** The prefix of its keys; applications that share a Redis need different ones. Default: "koa:sess-index:". */
  readonly prefix?: string | undefined;
  /**
   * States that every instance has kept the index since before the oldest session: searches are then complete, until a
   * write or a key of the index is lost. After that, take another prefix, and state it again when the sessions from before
   * have ended. Default: false.
   */
  readonly complete?: boolean | undefined;
}

/** koa-session lets a store keep a session 10 seconds longer than its cookie. */
const SLACK_MS = 60_000;

/** Returns the directory that all instances of an application share. */
export function redisDirectory(
  { redis, prefix = "koa:sess-index:", complete = false }: KoaIndexOptions,
  principal: Principal = DEFAULT_PRINCIPAL,
  timeoutMs: number,
  maxRemembered: number,
): SessionDirectory {
  const commands = redisCommands(redis, { timeoutMs });
  const way = typeof principal === "function" ? String(principal) : JSON.stringify(principal);
  const index = new SessionIndex(commands, { prefix, principal: sessionDigest(way).slice(0, 8), slackMs: SLACK_MS });
  return new RedisDirectory(commands, index, complete, maxRemembered);
}

class RedisDirectory implements SessionDirectory {
  readonly #commands: RedisCommands;
  readonly #index: SessionIndex;
  /** The session's user when this process last saw it. */
  readonly #users: LatestMap<string, string | undefined>;
  readonly #pruning: IndexPruning;
  #toClaim: boolean;
  #claiming: Promise<void> | undefined;

  constructor(commands: RedisCommands, index: SessionIndex, complete: boolean, limit: number) {
    this.#commands = commands;
    this.#index = index;
    this.#users = new LatestMap(limit);
    this.#toClaim = complete;
    this.#pruning = new IndexPruning(index, async (ids) => ids.map(() => undefined));
  }

  async saved(entry: DirectoryEntry, made: boolean): Promise<void> {
    const before = this.#users.get(entry.id);
    const moved = this.#users.has(entry.id) && before !== entry.username ? [entry.id] : [];
    this.#users.set(entry.id, entry.username);
    // Before anything can be lost.
    this.#claimOnce().catch(() => {});
    try {
      await Promise.all([this.#index.put(entry, made), this.#index.removeFromUser(before, moved)]);
      this.#pruning.written();
    } catch {
      await this.#index.claim.withdraw().catch(() => {});
    }
  }

  seen(entry: DirectoryEntry): void {
    const known = this.#users.has(entry.id);
    if (known && this.#users.get(entry.id) === entry.username) return;
    if (known) return void this.saved(entry, false);
    this.#users.set(entry.id, entry.username);
    this.#index.fill([entry]).catch(() => this.#users.delete(entry.id));
  }

  ended(id: string): void {
    const username = this.#users.get(id);
    this.#users.delete(id);
    this.#index.remove([id], username).catch(() => {});
  }

  revoked(id: string): Promise<void> {
    return this.#index.ended.mark(id);
  }

  isRevoked(id: string): Promise<boolean> {
    return this.#index.ended.has(id);
  }

  async beginning(id: string): Promise<Beginning | undefined> {
    const [record] = await this.#index.records([id]);
    return record && { creationTime: record.creationTime, firstSeenTime: record.firstSeenTime };
  }

  idsOfUser(username: string, limit: number): Promise<readonly string[]> {
    return this.#index.idsOfUser(username, limit);
  }

  newest(limit: number, after?: string): Promise<readonly { id: string; position: string }[]> {
    return this.#index.newest(limit, after);
  }

  idOf(digest: string): Promise<string | undefined> {
    return this.#index.idOf(digest);
  }

  async complete(): Promise<boolean> {
    await this.#claimOnce();
    return this.#index.claim.holds();
  }

  #claimOnce(): Promise<void> {
    if (!this.#toClaim) return Promise.resolve();
    this.#claiming ??= this.#claim().finally(() => {
      this.#claiming = undefined;
    });
    return this.#claiming;
  }

  async #claim(): Promise<void> {
    const { claim } = this.#index;
    // What was lost since stays lost, whatever the application states about the beginning.
    if (await claim.isNew()) await claim.make(await claim.basis());
    this.#toClaim = false;
  }

  warnings(): Promise<readonly string[]> {
    return evictionWarnings(this.#commands);
  }

  close(): Promise<void> {
    this.#pruning.stop();
    return this.#commands.close();
  }
}
