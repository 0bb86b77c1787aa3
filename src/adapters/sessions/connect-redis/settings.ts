import type { RedisStore } from "connect-redis";
import type { SessionRecord } from "../../../sessions/principal.ts";
import { expiryTime, maxAge } from "../../kit/connect-session/record.ts";
import { type ConnectStore, wrongStore } from "../../kit/connect-session/store.ts";
import type { RedisClient } from "../../kit/redis/index.ts";

/** How a store of connect-redis 9 or 10 keeps its sessions. */
export interface RedisStoreSettings {
  /** The prefix of all its keys, including one that its client adds. */
  readonly prefix: string;
  readonly serializer: SessionSerializer;
  /** How long a session lives unless its cookie says so: milliseconds, or the store's function, which returns seconds. */
  readonly ttl: number | ((record: SessionRecord) => unknown);
  /** Sessions never expire in Redis. */
  readonly disableTTL: boolean;
  /** Only a save prolongs a session, not its use. */
  readonly disableTouch: boolean;
  /** How many keys one step of a scan looks at. */
  readonly scanCount: number;
}

export interface SessionSerializer {
  parse(text: string): unknown;
}

/** A store of connect-redis; the classes of versions 9 and 10 look the same. */
export type ConnectRedisStore = ConnectStore & Pick<RedisStore, "client" | "prefix" | "ttl" | "serializer">;

/** How the index is kept. */
export interface ConnectRedisIndexOptions {
  /** The prefix of its keys, before the store's own prefix. Default: `"actuator:sessions:"`. */
  readonly prefix?: string | undefined;
  /**
   * Milliseconds for which the use of a session is not written again; by so much lists may be out of order. Default: 10,000.
   */
  readonly intervalMs?: number | undefined;
}

const DEFAULT_TTL_MS = 86_400_000;
const MIN_SCAN_COUNT = 1000;

/**
 * Returns the client and the settings of a store.
 *
 * @throws ActuatorError INVALID_ARGUMENT if it is not a store of connect-redis.
 */
export function storeSettings(store: ConnectRedisStore): RedisStoreSettings & { readonly client: RedisClient } {
  const { client, prefix, ttl, serializer, disableTTL, disableTouch, scanCount } = (store ?? {}) as Partial<RedisStore>;
  if (typeof client !== "object" || typeof prefix !== "string" || typeof serializer?.parse !== "function") {
    throw wrongStore("the RedisStore of connect-redis 9 or 10 that the application passes to its session middleware");
  }
  return {
    client: client as unknown as RedisClient,
    prefix: keyPrefixOf(client) + prefix,
    serializer,
    ttl: typeof ttl === "number" ? ttl * 1000 : ((ttl as RedisStoreSettings["ttl"] | undefined) ?? DEFAULT_TTL_MS),
    disableTTL: disableTTL === true,
    disableTouch: disableTouch === true,
    // Its own default of 100 takes ten times as many round trips.
    scanCount: Math.max(Number(scanCount) || 0, MIN_SCAN_COUNT),
  };
}

/** Returns the settings of a store that is not at hand; the rest is connect-redis's default. */
export function settingsOf(stated: {
  readonly prefix: string | undefined;
  readonly serializer: SessionSerializer | undefined;
  readonly ttlMs: number | undefined;
}): RedisStoreSettings {
  const { prefix = "sess:", serializer = JSON, ttlMs = DEFAULT_TTL_MS } = stated;
  return { prefix, serializer, ttl: ttlMs, scanCount: MIN_SCAN_COUNT, disableTTL: false, disableTouch: false };
}

/** Returns how many milliseconds a session lives after its last use; Infinity: it never expires; undefined: unknown. */
export function lifetimeOf({ ttl, disableTTL }: RedisStoreSettings, record: SessionRecord): number | undefined {
  if (disableTTL) return Number.POSITIVE_INFINITY;
  if (typeof ttl === "function") return ttlOf(ttl, record);
  return expiryTime(record) === undefined ? finite(ttl) : maxAge(record);
}

/** Returns when a session that is saved or touched now will expire, as the store computes it; undefined: unknown. */
export function nextExpiry(settings: RedisStoreSettings, record: SessionRecord): number | undefined {
  const expires = typeof settings.ttl === "function" ? undefined : expiryTime(record);
  if (expires !== undefined && !settings.disableTTL) return expires;
  const lifetime = lifetimeOf(settings, record);
  return lifetime === undefined ? undefined : Date.now() + lifetime;
}

/** The application's function may expect a live session, and throw for a parsed one. */
function ttlOf(ttl: (record: SessionRecord) => unknown, record: SessionRecord): number | undefined {
  try {
    const seconds = ttl(record);
    return typeof seconds === "number" ? finite(seconds * 1000) : undefined;
  } catch {
    return undefined;
  }
}

function finite(value: number): number | undefined {
  return Number.isFinite(value) ? value : undefined;
}

/** node-redis 6 can add a prefix to the keys of its own methods; commands sent as they are go without. */
function keyPrefixOf(client: object): string {
  const { _keyPrefix, options } = client as { _keyPrefix?: unknown; options?: { keyPrefix?: unknown } };
  const prefix = _keyPrefix ?? options?.keyPrefix;
  return typeof prefix === "string" ? prefix : "";
}
