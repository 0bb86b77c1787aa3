import { ActuatorError } from "../../../common/error.ts";
import type { FleetEngineSource } from "../../../fleet/engine.ts";
import { requireVersion } from "../../kit/library-version.ts";
import { RedisEngine } from "./engine.ts";
import { type IoRedis, type IoRedisCluster, ioRedisClusterDial, ioRedisDial } from "./ioredis.ts";
import type { Dial } from "./link.ts";
import { type NodeRedis, type NodeRedisCluster, nodeRedisClusterDial, nodeRedisDial } from "./node-redis.ts";

/** A client or a cluster of node-redis 5 or 6, or of ioredis 5 or 6. */
export interface RedisFleetClient {
  duplicate(...args: never[]): unknown;
}

/**
 * Keeps what a fleet has in common in Redis 6 or later, or in Valkey.
 *
 * A client of the application is only duplicated, with its address and credentials: it need not be connected, and is never closed. Its
 * key prefix is not used. A URL needs the package `redis` or `ioredis`; the first that is installed is used.
 *
 * Each instance has one connection, with ioredis two; in a cluster, besides these, what the client needs for the cluster. Connections to
 * a single server do not keep the process alive. The user needs the keys `{ca:*` and the channels `{ca:*`, and the commands `eval`,
 * `hset`, `hget`, `hgetall`, `hdel`, `time`, `publish`, `subscribe` and `ping`, and `hello` with node-redis.
 *
 * @param urlOrClient `redis://` or `rediss://` and the server's address, or a client
 * @throws ActuatorError INVALID_ARGUMENT for anything else, FAILED_PRECONDITION for a client of an unsupported version
 * @example
 * ```ts
 * const engine = redisFleet("redis://localhost:6379");
 * ```
 */
export function redisFleet(urlOrClient: string | RedisFleetClient): FleetEngineSource {
  const dial = typeof urlOrClient === "string" ? urlDial(checkedUrl(urlOrClient)) : clientDial(urlOrClient);
  return { kind: "redis", open: (fleet) => new RedisEngine(fleet, dial) };
}

function checkedUrl(url: string): string {
  // The message does not show the URL: it may hold a password.
  if (!URL.canParse(url) || !/^rediss?:$/.test(new URL(url).protocol)) throw invalid();
  return url;
}

function urlDial(url: string): Dial {
  let dial: Promise<Dial> | undefined;
  return async (use) => {
    dial ??= packageDial(url);
    return (await dial)(use);
  };
}

/** These clients are never connected: they are what is duplicated. */
async function packageDial(url: string): Promise<Dial> {
  const redis = await import("redis").catch(() => undefined);
  if (redis !== undefined) return clientDial(redis.createClient({ url, RESP: 3 }));
  const ioredis = await import("ioredis").catch(() => undefined);
  if (ioredis !== undefined) return clientDial(new ioredis.Redis(url, { lazyConnect: true }));
  const message = 'redisFleet(url) needs the package "redis" or "ioredis": npm install redis. Or pass a client.';
  throw new ActuatorError("FAILED_PRECONDITION", "PACKAGE_MISSING", message, { package: "redis" });
}

function clientDial(client: RedisFleetClient): Dial {
  const has = (...methods: readonly string[]) =>
    typeof client === "object" &&
    client !== null &&
    ["duplicate", "connect", "subscribe", ...methods].every((each) => typeof Reflect.get(client, each) === "function");
  if (has("call", "disconnect", "ping")) {
    requireVersion({ subpath: "redis-fleet", library: "ioredis", versions: "5 to 6" });
    if (has("nodes")) return ioRedisClusterDial(client as unknown as IoRedisCluster);
    return ioRedisDial(client as IoRedis);
  }
  if (has("getSentinelNode")) {
    const message = "redisFleet takes no sentinels of redis: give it a client of ioredis with the option sentinels.";
    throw new ActuatorError("INVALID_ARGUMENT", "INVALID_OPTION", message, { field: "redisFleet" });
  }
  if (!has("sendCommand")) throw invalid();
  if (!has("withTypeMapping")) requireVersion({ subpath: "redis-fleet", library: "redis", versions: "5 to 6" });
  if (has("nodeClient")) return nodeRedisClusterDial(client as unknown as NodeRedisCluster);
  if (!has("unref", "destroy")) throw invalid();
  return nodeRedisDial(client as NodeRedis);
}

function invalid(): ActuatorError {
  const message =
    'redisFleet needs a URL like "redis://host:6379" or "rediss://user:password@host:6380", or a client or cluster of redis or ioredis';
  return new ActuatorError("INVALID_ARGUMENT", "INVALID_OPTION", message, { field: "redisFleet" });
}
