import { randomInt } from "node:crypto";
import type { RedisCommands } from "./index.ts";

const FAILURES = "failures";
const COMPLETE = "complete";
const SUSPENDED = "suspended";
/** The member or field that marks a key. No session's id is like it, and no sorted set has a lower score or member. */
const MARK = "\0";
const MARKS = 2 ** 47;

/** A key of an index. */
export interface IndexKey {
  readonly key: string;
  readonly type: "set" | "hash";
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
  readonly #keys: readonly IndexKey[];
  /** A lost write that could not be recorded in Redis yet. */
  #unrecorded = false;

  /** @param principal identifies how a session's user is found */
  constructor(redis: RedisCommands, key: string, principal: string, keys: readonly IndexKey[]) {
    this.#redis = redis;
    this.#key = key;
    this.#principal = principal;
    this.#keys = keys;
  }

  /**
   * Checks whether the index holds every session: in one of its keys, or in all. Commands of the same turn that read the
   * index must be sent before.
   */
  async holds(only?: string): Promise<boolean> {
    const keys = this.#keys.filter(({ key }) => only === undefined || key === only);
    const { failures, made, marks } = await this.#read(keys);
    if (this.#unrecorded || made === null || marks.includes(null)) return false;
    const [basis, claimed, ...principal] = made.split(" ");
    const claimedMarks = claimed?.split(",") ?? [];
    return (
      basis === failures &&
      principal.join(" ") === this.#principal &&
      marks.every((mark, at) => mark === claimedMarks[at === 0 ? 0 : 1 + this.#keys.indexOf(keys[at - 1]!)])
    );
  }

  /** Returns the basis for a claim; call it before the search on which the claim will rest. */
  async basis(): Promise<string> {
    if (this.#unrecorded) await this.withdraw();
    await this.#mark();
    const { failures, marks } = await this.#read();
    // A mark that is lost already matches none later.
    return `${failures} ${marks.join()}`;
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
    await Promise.all(
      [...this.#keys, { key: this.#key, type: "hash" }].map(({ key, type }) => {
        const mark = randomInt(1, MARKS);
        const command = type === "set" ? ["ZADD", key, "NX", `${-mark}`, MARK] : ["HSETNX", key, MARK, `${mark}`];
        return this.#redis.command(command);
      }),
    );
  }

  /** Reads the state, and its mark and those of the keys, in this order. */
  async #read(keys = this.#keys) {
    const [state, ...others] = await Promise.all([
      this.#redis.command(["HMGET", this.#key, FAILURES, COMPLETE, MARK]),
      ...keys.map(({ key, type }) => this.#redis.command([type === "set" ? "ZSCORE" : "HGET", key, MARK])),
    ]);
    const [failures, made, mark] = state as (string | null)[];
    const marks = [mark, ...others].map((each) => (each === null || each === undefined ? null : String(each)));
    return { failures: failures ?? "0", made: made ?? null, marks };
  }

  #claim(basis: string): string {
    return `${basis} ${this.#principal}`;
  }
}
