import type { RedisCommands } from "./index.ts";

const FAILURES = "failures";
const COMPLETE = "complete";
const SUSPENDED = "suspended";

/**
 * Claims that an index holds every session. A claim is made for the number of lost writes at the beginning of the search on
 * which it rests, and becomes void with the next one, so that a write lost during the search is never overlooked. It holds
 * for one way of finding users only.
 */
export class IndexClaim {
  readonly #redis: RedisCommands;
  readonly #key: string;
  readonly #principal: string;
  /** A lost write that could not be recorded in Redis yet. */
  #unrecorded = false;

  /** @param principal identifies how a session's user is found */
  constructor(redis: RedisCommands, key: string, principal: string) {
    this.#redis = redis;
    this.#key = key;
    this.#principal = principal;
  }

  /** Checks whether the index holds every session. */
  async holds(): Promise<boolean> {
    const [basis, made] = await this.#read();
    return !this.#unrecorded && made === this.#claim(basis);
  }

  /** Returns the basis for a claim; call it before the search on which the claim will rest. */
  async basis(): Promise<string> {
    if (this.#unrecorded) await this.withdraw();
    const [basis] = await this.#read();
    return basis;
  }

  /** Claims that the index holds every session there was at some moment since `basis`, and every one made since. */
  async make(basis: string): Promise<void> {
    await Promise.all([
      this.#redis.command(["HSET", this.#key, COMPLETE, this.#claim(basis)]),
      this.#redis.command(["HDEL", this.#key, SUSPENDED]),
    ]);
  }

  /** Notes where a search that began at `basis` continues if it is interrupted. */
  async suspend(basis: string, position: string): Promise<void> {
    await this.#redis.command(["HSET", this.#key, SUSPENDED, `${this.#claim(basis)} ${position}`]);
  }

  /** Returns where an interrupted search continues, if a claim can still rest on it; undefined otherwise. */
  async suspended(basis: string): Promise<string | undefined> {
    const text = await this.#redis.command(["HGET", this.#key, SUSPENDED]);
    const start = `${this.#claim(basis)} `;
    return typeof text === "string" && text.startsWith(start) ? text.slice(start.length) : undefined;
  }

  /** Voids the claim: a write of the index was lost. */
  async withdraw(): Promise<void> {
    this.#unrecorded = true;
    await this.#redis.command(["HINCRBY", this.#key, FAILURES, "1"]);
    this.#unrecorded = false;
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
