import type { RedisCommands } from "./client.ts";

const FAILURES = "failures";
const COMPLETE = "complete";
const SUSPENDED = "suspended";

/**
 * The claim that an index holds every session. It is made for the number of writes that had failed when the search began on
 * which it rests, and no longer holds after one more: so a write that fails while somebody searches is never overlooked.
 * It is made for one way of telling users apart, and no other.
 */
export class IndexClaim {
  readonly #redis: RedisCommands;
  readonly #key: string;
  readonly #principal: string;
  /** A failure that could not be told to Redis yet. */
  #untold = false;

  /** @param principal stands for how the name of a session's user is found */
  constructor(redis: RedisCommands, key: string, principal: string) {
    this.#redis = redis;
    this.#key = key;
    this.#principal = principal;
  }

  /** Whether the index holds every session. */
  async holds(): Promise<boolean> {
    const [basis, made] = await this.#read();
    return !this.#untold && made === this.#claim(basis);
  }

  /** To be called before the search on which a claim shall rest. */
  async basis(): Promise<string> {
    if (this.#untold) await this.withdraw();
    const [basis] = await this.#read();
    return basis;
  }

  /** The index holds every session that there was at some moment since `basis`, and every one made since. */
  async make(basis: string): Promise<void> {
    await Promise.all([
      this.#redis.command(["HSET", this.#key, COMPLETE, this.#claim(basis)]),
      this.#redis.command(["HDEL", this.#key, SUSPENDED]),
    ]);
  }

  /** A search that began at `basis` may be broken off here; `position` is a text that says where it goes on. */
  async suspend(basis: string, position: string): Promise<void> {
    await this.#redis.command(["HSET", this.#key, SUSPENDED, `${this.#claim(basis)} ${position}`]);
  }

  /** Where a search goes on that a claim can still rest on; undefined: there is none. */
  async suspended(basis: string): Promise<string | undefined> {
    const text = await this.#redis.command(["HGET", this.#key, SUSPENDED]);
    const start = `${this.#claim(basis)} `;
    return typeof text === "string" && text.startsWith(start) ? text.slice(start.length) : undefined;
  }

  /** A write of the index was lost. */
  async withdraw(): Promise<void> {
    this.#untold = true;
    await this.#redis.command(["HINCRBY", this.#key, FAILURES, "1"]);
    this.#untold = false;
  }

  async #read(): Promise<readonly [basis: string, made: string | null]> {
    const reply = await this.#redis.command(["HMGET", this.#key, FAILURES, COMPLETE]);
    const [failures, made] = reply as (string | null)[];
    return [failures ?? "0", made ?? null];
  }

  #claim(basis: string): string {
    return `${basis} ${this.#principal}`;
  }
}
