import { ActuatorError } from "../../../common/error.ts";
import { sessionDigest } from "../../../sessions/session-id.ts";
import type { RedisCommands } from "./index.ts";

/** Milliseconds for which a mark stays: a request that takes longer may save its session again. */
const MARKED_MS = 60_000;

/** Marks the sessions that operators end, for all processes that write sessions to the same Redis. */
export class EndedMarks {
  readonly #redis: RedisCommands;
  readonly #prefix: string;

  /** @param prefix what the keys of an index begin with; nothing else uses a mark's key */
  constructor(redis: RedisCommands, prefix: string) {
    this.#redis = redis;
    this.#prefix = `${prefix}ended:`;
  }

  /** Marks the session; await it before removing the session. A connection that may not write leaves no mark. */
  async mark(id: string): Promise<void> {
    try {
      await this.#redis.command(["SET", this.#key(id), "", "PX", `${MARKED_MS}`]);
    } catch (error) {
      if (!(error instanceof ActuatorError) || error.code !== "FAILED_PRECONDITION") throw error;
    }
  }

  /** Checks for a mark after the store has answered a save: either the session is removed after that, or this is true. */
  async has(id: string): Promise<boolean> {
    return Number(await this.#redis.command(["EXISTS", this.#key(id)])) > 0;
  }

  #key(id: string): string {
    return this.#prefix + sessionDigest(id);
  }
}
