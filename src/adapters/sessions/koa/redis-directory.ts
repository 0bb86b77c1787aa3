import { DEFAULT_PRINCIPAL, type Principal } from "../../../sessions/principal.ts";
import { sessionDigest } from "../../../sessions/session-id.ts";
import { type RedisClient, type RedisCommands, redisCommands } from "../../kit/redis/index.ts";
import { SessionIndex } from "../../kit/redis/session-index.ts";
import type { Beginning, DirectoryEntry, SessionDirectory } from "./directory.ts";

/** Where an index of koa-session's sessions is kept. */
export interface KoaIndexOptions {
  /** The application's client, or a URL, for which the package `redis` has to be installed. */
  readonly redis: RedisClient | string;
  /** What the keys of the index begin with; applications that share a Redis need different ones. Default: "koa:sess-index:". */
  readonly prefix?: string | undefined;
  /**
   * True says that the index has been kept since before the first session that is still there, in every instance: searches
   * are then complete, until a write of the index is lost. Default: false.
   */
  readonly complete?: boolean | undefined;
}

/** koa-session lets a store keep a session 10 seconds longer than its cookie. */
const SLACK = 60_000;
const PRUNE_EVERY = 16;
const PRUNE_BATCH = 64;

/** The directory that all instances of an application share. */
export function redisDirectory(
  { redis, prefix = "koa:sess-index:", complete = false }: KoaIndexOptions,
  principal: Principal = DEFAULT_PRINCIPAL,
  timeout: number,
  maxRemembered: number,
): SessionDirectory {
  const commands = redisCommands(redis, { timeoutMs: timeout });
  const way = typeof principal === "function" ? String(principal) : JSON.stringify(principal);
  const index = new SessionIndex(commands, { prefix, principal: sessionDigest(way).slice(0, 8), slack: SLACK });
  return new RedisDirectory(commands, index, complete, maxRemembered);
}

class RedisDirectory implements SessionDirectory {
  readonly #commands: RedisCommands;
  readonly #index: SessionIndex;
  readonly #limit: number;
  /** Whose session it was when this process saw it last. */
  readonly #users = new Map<string, string | undefined>();
  #toClaim: boolean;
  #writes = 0;

  constructor(commands: RedisCommands, index: SessionIndex, complete: boolean, limit: number) {
    this.#commands = commands;
    this.#index = index;
    this.#limit = limit;
    this.#toClaim = complete;
  }

  async saved(entry: DirectoryEntry, made: boolean): Promise<void> {
    const before = this.#users.get(entry.id);
    this.#remember(entry);
    try {
      const moved = before === undefined || before === entry.username ? [] : [entry.id];
      await Promise.all([this.#index.put(entry, made), this.#index.removeFromUser(before ?? "", moved)]);
      if (++this.#writes % PRUNE_EVERY === 0) await this.#prune();
    } catch {
      await this.#lost();
    }
  }

  seen(entry: DirectoryEntry): void {
    const known = this.#users.has(entry.id);
    if (known && this.#users.get(entry.id) === entry.username) return;
    if (known) return void this.saved(entry, false);
    this.#remember(entry);
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
    const { claim } = this.#index;
    if (this.#toClaim) {
      const basis = await claim.basis();
      // What has been lost once is lost, whatever the application says of the beginning.
      if (basis === NOTHING_LOST) await claim.make(basis);
      this.#toClaim = false;
    }
    return claim.holds();
  }

  close(): Promise<void> {
    return this.#commands.close();
  }

  #remember({ id, username }: DirectoryEntry): void {
    this.#users.delete(id);
    this.#users.set(id, username);
    if (this.#users.size <= this.#limit) return;
    const [oldest] = this.#users.keys();
    this.#users.delete(oldest!);
  }

  /** Sessions that the store dropped silently. */
  async #prune(): Promise<void> {
    await this.#index.remove(await this.#index.overdue(PRUNE_BATCH));
  }

  async #lost(): Promise<void> {
    await this.#index.claim.withdraw().catch(() => {});
  }
}

const NOTHING_LOST = "0";
