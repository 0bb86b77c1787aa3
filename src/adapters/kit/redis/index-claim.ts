import { randomInt } from "node:crypto";
import type { RedisCommands } from "./index.ts";

const FAILURES = "failures";
const COMPLETE = "complete";
const SUSPENDED = "suspended";
/** The member or field that marks a key. No session's id is like it, and no sorted set has a lower score or member. */
const MARK = "\0";
const MARKS = 2 ** 47;

/** The keys of an index. */
export interface IndexKeys {
  readonly sets: readonly string[];
  readonly hash: string;
}

/**
 * Claims that an index holds every session. A claim is made for the number of lost writes at the beginning of the search on
 * which it rests, and becomes void with the next one, so that a write lost during the search is never overlooked. It holds
 * for one way of finding users only.
 *
 * Redis may evict any key of the index, and an operator may delete one; the next write makes it anew, with one session. So
 * each key holds a random mark, and the claim names them all: it is void as soon as one is missing.
 */
export class IndexClaim {
  readonly #redis: RedisCommands;
  readonly #key: string;
  readonly #principal: string;
  readonly #keys: IndexKeys;
  /** A lost write that could not be recorded in Redis yet. */
  #unrecorded = false;

  /** @param principal identifies how a session's user is found */
  constructor(redis: RedisCommands, key: string, principal: string, keys: IndexKeys) {
    this.#redis = redis;
    this.#key = key;
    this.#principal = principal;
    this.#keys = keys;
  }

  /** Checks whether the index holds every session. Commands of the same turn that read the index must be sent before. */
  async holds(): Promise<boolean> {
    const { basis, made } = await this.#read();
    return !this.#unrecorded && basis !== undefined && made === this.#claim(basis);
  }

  /** Returns the basis for a claim; call it before the search on which the claim will rest. */
  async basis(): Promise<string> {
    if (this.#unrecorded) await this.withdraw();
    await this.#mark();
    const { basis } = await this.#read();
    return basis ?? "";
  }

  /** Whether nothing was ever claimed or lost here. */
  async isNew(): Promise<boolean> {
    const { failures, made, marks } = await this.#read();
    return failures === "0" && made === null && marks.every((mark) => mark === null);
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

  async #mark(): Promise<void> {
    const { sets, hash } = this.#keys;
    await Promise.all([
      ...sets.map((key) => this.#redis.command(["ZADD", key, "NX", `${-randomInt(1, MARKS)}`, MARK])),
      ...[hash, this.#key].map((key) => this.#redis.command(["HSETNX", key, MARK, `${randomInt(1, MARKS)}`])),
    ]);
  }

  async #read() {
    const { sets, hash } = this.#keys;
    const [state, ...others] = await Promise.all([
      this.#redis.command(["HMGET", this.#key, FAILURES, COMPLETE, MARK]),
      this.#redis.command(["HGET", hash, MARK]),
      ...sets.map((key) => this.#redis.command(["ZSCORE", key, MARK])),
    ]);
    const [lost, made, mark] = state as (string | null)[];
    const marks = [mark, ...others].map((each) => (each === null || each === undefined ? null : String(each)));
    const failures = lost ?? "0";
    const basis = marks.includes(null) ? undefined : `${failures} ${marks.join()}`;
    return { failures, made: made ?? null, marks, basis };
  }

  #claim(basis: string): string {
    return `${basis} ${this.#principal}`;
  }
}
