import type { RedisStore } from "connect-redis";
import { ActuatorError } from "../../../common/error.ts";
import type { SessionRecord } from "../../../sessions/principal.ts";
import { expiryTime, maxAge } from "../../kit/connect-session/record.ts";
import type { ConnectStore } from "../../kit/connect-session/store.ts";
import type { RedisClient } from "../../kit/redis/sender.ts";

/** How a store of connect-redis 9 or 10 keeps its sessions. */
export interface RedisStoreSettings {
  /** What all its keys begin with, a prefix of its client included. */
  readonly prefix: string;
  readonly serializer: SessionSerializer;
  /** How long a session lives unless its cookie says so: seconds, or a function that says them. */
  readonly ttl: number | ((record: SessionRecord) => unknown);
  /** Sessions never expire in Redis. */
  readonly disableTTL: boolean;
  /** Only a save lets a session live longer, not its use. */
  readonly disableTouch: boolean;
  /** How many keys a step of a scan looks at. */
  readonly scanCount: number;
}

export interface SessionSerializer {
  parse(text: string): unknown;
}

/** Any store of connect-redis: the class of version 9 and that of version 10 look the same. */
export type ConnectRedisStore = ConnectStore & Pick<RedisStore, "client" | "prefix" | "ttl" | "serializer">;

const DEFAULT_TTL = 86_400;
const SMALLEST_SCAN_COUNT = 1000;

/**
 * The client and the settings that a store holds.
 *
 * @throws ActuatorError INVALID_ARGUMENT where it is no store of connect-redis.
 */
export function storeSettings(store: ConnectRedisStore): RedisStoreSettings & { readonly client: RedisClient } {
  const { client, prefix, ttl, serializer, disableTTL, disableTouch, scanCount } = (store ?? {}) as Partial<RedisStore>;
  if (typeof client !== "object" || typeof prefix !== "string" || typeof serializer?.parse !== "function") {
    const message =
      "store must be the RedisStore of connect-redis 9 or 10 that the application hands to its middleware.";
    throw new ActuatorError("INVALID_ARGUMENT", "INVALID_OPTION", message, { field: "store" });
  }
  return {
    client: client as unknown as RedisClient,
    prefix: keyPrefixOf(client) + prefix,
    serializer,
    ttl: (ttl as RedisStoreSettings["ttl"] | undefined) ?? DEFAULT_TTL,
    disableTTL: disableTTL === true,
    disableTouch: disableTouch === true,
    // Its own default of 100 makes ten times as many round trips.
    scanCount: Math.max(Number(scanCount) || 0, SMALLEST_SCAN_COUNT),
  };
}

/** What is said of a store that is not at hand; the rest is as connect-redis has it. */
export function settingsOf(said: {
  readonly prefix: string | undefined;
  readonly serializer: SessionSerializer | undefined;
  readonly ttl: number | undefined;
}): RedisStoreSettings {
  const { prefix = "sess:", serializer = JSON, ttl = DEFAULT_TTL } = said;
  return { prefix, serializer, ttl, scanCount: SMALLEST_SCAN_COUNT, disableTTL: false, disableTouch: false };
}

/** For how many milliseconds a session lives after its last use; Infinity: for ever; undefined: that is not known. */
export function lifetimeOf({ ttl, disableTTL }: RedisStoreSettings, record: SessionRecord): number | undefined {
  if (disableTTL) return Number.POSITIVE_INFINITY;
  if (typeof ttl === "function") return milliseconds(() => ttl(record));
  return expiryTime(record) === undefined ? milliseconds(() => ttl) : maxAge(record);
}

/** When a session that is saved or touched now will expire, as the store works it out; undefined: that is not known. */
export function nextExpiry(settings: RedisStoreSettings, record: SessionRecord): number | undefined {
  const expires = typeof settings.ttl === "function" ? undefined : expiryTime(record);
  if (expires !== undefined && !settings.disableTTL) return expires;
  const lifetime = lifetimeOf(settings, record);
  return lifetime === undefined ? undefined : Date.now() + lifetime;
}

/** The application's function may expect a live session. */
function milliseconds(seconds: () => unknown): number | undefined {
  try {
    const value = seconds();
    return typeof value === "number" && Number.isFinite(value) ? value * 1000 : undefined;
  } catch {
    return undefined;
  }
}

/** node-redis 6 can add one to the keys of its own methods; commands sent as they are go without. */
function keyPrefixOf(client: object): string {
  const { _keyPrefix, options } = client as { _keyPrefix?: unknown; options?: { keyPrefix?: unknown } };
  const prefix = _keyPrefix ?? options?.keyPrefix;
  return typeof prefix === "string" ? prefix : "";
}
