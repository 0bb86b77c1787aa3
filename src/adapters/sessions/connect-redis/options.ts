import { anything, type Checks, objectOf, text, timeLimit, wait } from "../../../common/options.ts";
import { type Principal, principalFault } from "../../../sessions/principal.ts";
import { SCAN_BOUNDS } from "../../kit/connect-session/options.ts";
import type { ScanBounds } from "../../kit/connect-session/session-scan.ts";
import type { RedisClient } from "../../kit/redis/sender.ts";

/** How sessions of connect-redis are read. */
export interface ConnectRedisOptions {
  /**
   * Where the commands are sent: another client than the store's, such as one of ioredis or one whose user may do less, or a
   * URL, for a connection of our own by the package `redis`. Default: the store's client.
   */
  readonly redis?: RedisClient | string | undefined;
  /** Whose session it is: places in it, or a function. Default: `DEFAULT_PRINCIPAL`. */
  readonly principal?: Principal | undefined;
  /** Whether an index is kept beside the sessions, and how. Default: true. */
  readonly index?: boolean | ConnectRedisIndexOptions | undefined;
  /** Milliseconds to wait for an answer of Redis. Default: 5,000. */
  readonly timeoutMs?: number | undefined;
  /** How much is read where the index does not hold all sessions, or there is none. */
  readonly scan?: ScanBounds | undefined;
}

/** How the index is kept. */
export interface ConnectRedisIndexOptions {
  /** What its keys begin with; the store's own prefix follows. Default: `"actuator:sessions:"`. */
  readonly prefix?: string | undefined;
  /**
   * Milliseconds for which the use of a session is not written again: by so much the list may be out of order. Default:
   * 10,000.
   */
  readonly intervalMs?: number | undefined;
}

const INDEX_OPTIONS = objectOf<ConnectRedisIndexOptions>({ prefix: text, intervalMs: wait });

/** What the options must be. */
export const CONNECT_REDIS_OPTIONS: Checks<ConnectRedisOptions> = {
  redis: anything,
  principal: principalFault,
  index: (value) => (typeof value === "boolean" ? undefined : INDEX_OPTIONS(value)),
  timeoutMs: timeLimit,
  scan: SCAN_BOUNDS,
};

const DEFAULT_INDEX_PREFIX = "actuator:sessions:";
const DEFAULT_INTERVAL = 10_000;
/** By how much clocks may differ, and writes be late. */
const SLACK = 60_000;

/** The options of an index, made whole; undefined: none is kept. */
export function indexOptions(
  index: ConnectRedisOptions["index"] = true,
  storePrefix: string,
): { readonly prefix: string; readonly interval: number; readonly slack: number } | undefined {
  if (index === false) return undefined;
  const { prefix, intervalMs: interval = DEFAULT_INTERVAL } = index === true ? {} : index;
  return { prefix: indexPrefix(storePrefix, prefix), interval, slack: interval + SLACK };
}

/** What all keys begin with that are kept beside a store's sessions. */
export function indexPrefix(storePrefix: string, prefix = DEFAULT_INDEX_PREFIX): string {
  return prefix + storePrefix;
}
