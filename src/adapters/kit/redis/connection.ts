import type { RedisClientOptions } from "redis";
import { ActuatorError } from "../../../common/error.ts";
import { type NodeRedisClient, nodeRedisSender, type RedisSender, requireNodeRedis } from "./clients.ts";

interface OwnClient extends NodeRedisClient {
  readonly isReady: boolean;
  on(event: "error", listener: (error: Error) => void): unknown;
  connect(): Promise<unknown>;
  destroy(): void;
}

/** Parts of the timeout after which an idle connection is pinged, and after which a silent one is closed. */
const PING_AFTER = 0.5;
const DEAD_AFTER = 1;

/**
 * Connects to `url` (`redis:` or `rediss:`) with the package `redis`, which the application installs. The first command
 * opens the connection. If it breaks, or a command was not answered in time, the next command opens a new one: a server
 * that is back is reached at once, and an idle process does not retry.
 *
 * @throws ActuatorError INVALID_ARGUMENT if `url` is not such a URL.
 */
export function redisConnection(url: string, timeoutMs: number): RedisSender {
  checkUrl(url);
  let connecting: Promise<OwnClient> | undefined;
  let client: OwnClient | undefined;
  let closed = false;

  async function connect(): Promise<OwnClient> {
    const { createClient } = await packageRedis();
    if (closed) throw new Error("The connection is closed.");
    const options: RedisClientOptions = {
      url,
      disableOfflineQueue: true,
      pingInterval: Math.ceil(timeoutMs * PING_AFTER),
      socket: {
        connectTimeout: timeoutMs,
        socketTimeout: Math.ceil(timeoutMs * DEAD_AFTER),
        reconnectStrategy: false,
      },
    };
    const made = createClient(options) as unknown as OwnClient;
    requireNodeRedis(made);
    // Pending commands reject by themselves; an error event without a listener would end the process.
    made.on("error", () => drop(made));
    client = made;
    try {
      await made.connect();
      return made;
    } catch (error) {
      drop(made);
      throw error;
    }
  }

  function drop(dropped: OwnClient | undefined): void {
    if (dropped === undefined || dropped !== client) return;
    client = undefined;
    connecting = undefined;
    dropped.destroy();
  }

  return {
    async send(args, buffers, signal) {
      if (closed) throw new Error("The connection is closed.");
      if (client?.isReady !== true) {
        connecting ??= connect().catch((error) => {
          connecting = undefined;
          throw error;
        });
        await connecting;
        signal.throwIfAborted();
      }
      return nodeRedisSender(client!).send(args, buffers, signal);
    },
    late: () => drop(client),
    async close() {
      closed = true;
      drop(client);
    },
  };
}

function checkUrl(url: string): void {
  const protocol = URL.canParse(url) ? new URL(url).protocol : "";
  if (protocol === "redis:" || protocol === "rediss:") return;
  // Not the URL itself: it may hold a password.
  const message = 'The URL of Redis must be like "redis://host:6379/0" or "rediss://user:password@host:6380".';
  throw new ActuatorError("INVALID_ARGUMENT", "INVALID_OPTION", message, { field: "redis" });
}

async function packageRedis(): Promise<typeof import("redis")> {
  try {
    return await import("redis");
  } catch (cause) {
    const message = 'A URL of Redis needs the package "redis": npm install redis. Or pass the application\'s client.';
    throw new ActuatorError("FAILED_PRECONDITION", "PACKAGE_MISSING", message, { package: "redis" }, { cause });
  }
}
