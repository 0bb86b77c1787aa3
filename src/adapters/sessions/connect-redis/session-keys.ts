import type { RedisCommands } from "../../kit/redis/client.ts";

/** Where a walk over all keys stands; it begins at `FIRST_KEYS`. */
export interface KeysPosition {
  /** Which of the cluster's servers. */
  readonly node: number;
  readonly cursor: string;
}

export const FIRST_KEYS: KeysPosition = { node: 0, cursor: "0" };

/** A step of a walk. */
export interface KeysStep {
  /** May name one twice, and one that is gone. */
  readonly ids: readonly string[];
  /** undefined: that was all. */
  readonly next: KeysPosition | undefined;
}

/** Walks over the keys of one store, as SCAN does: what is there all the while is met, in no order. */
export class SessionKeys {
  readonly #redis: RedisCommands;
  readonly #prefix: string;
  readonly #pattern: string;
  readonly #foreign: string | undefined;

  /** @param indexPrefix keys that begin so are none of sessions, though they may begin with `prefix` */
  constructor(redis: RedisCommands, prefix: string, indexPrefix?: string) {
    this.#redis = redis;
    this.#prefix = prefix;
    this.#pattern = `${prefix.replace(/[*?[\]\\]/g, "\\$&")}*`;
    this.#foreign = indexPrefix?.startsWith(prefix) ? indexPrefix : undefined;
  }

  /** Looks at about `count` keys. */
  async step({ node, cursor }: KeysPosition, count: number): Promise<KeysStep> {
    const nodes = (await this.#redis.nodes?.()) ?? [this.#redis];
    const server = nodes[node];
    if (server === undefined) return { ids: [], next: undefined };
    const reply = await server.command(["SCAN", cursor, "MATCH", this.#pattern, "COUNT", `${count}`]);
    const [following, keys] = reply as [unknown, string[]];
    const ids = keys.filter((key) => !this.#isForeign(key)).map((key) => key.slice(this.#prefix.length));
    if (String(following) !== "0") return { ids, next: { node, cursor: String(following) } };
    return { ids, next: node + 1 < nodes.length ? { node: node + 1, cursor: "0" } : undefined };
  }

  #isForeign(key: string): boolean {
    return !key.startsWith(this.#prefix) || (this.#foreign !== undefined && key.startsWith(this.#foreign));
  }
}
