import { ActuatorError } from "../../../common/error.ts";
import type { RedisCommands } from "./client.ts";
import { redisConnection } from "./connection.ts";
import { deadlines } from "./deadline.ts";
import { redisError, redisTimeout } from "./error.ts";
import { type Argument, type RedisClient, type RedisSender, senderOf } from "./sender.ts";

/** How commands are sent. */
export interface RedisCommandsOptions {
  /** Milliseconds to wait for an answer, connecting included. Default: 5,000. */
  readonly timeoutMs?: number | undefined;
}

/**
 * The port over a client of the application (node-redis 5 or 6, alone, as a pool, a cluster or behind sentinels; ioredis,
 * alone or as a cluster; or anything with `command(args)`), or over a connection of our own to a URL, for which the package
 * `redis` has to be installed.
 *
 * A client of the application stays as it is: never connected, closed or configured from here. A command that is still
 * queued when its time is over is not sent any more. One that was sent may still be carried out: then "did not answer"
 * says no more than that.
 *
 * @throws ActuatorError INVALID_ARGUMENT for anything else, and for an ioredis client with `keyPrefix`.
 */
export function redisCommands(clientOrUrl: RedisClient | string, options: RedisCommandsOptions = {}): RedisCommands {
  const { timeoutMs: timeout = 5_000 } = options;
  const sender = typeof clientOrUrl === "string" ? redisConnection(clientOrUrl, timeout) : senderOf(clientOrUrl);
  if (sender === undefined) {
    const message =
      'redis must be a client of node-redis or ioredis, an object with command(args), or a URL like "redis://host:6379".';
    throw new ActuatorError("INVALID_ARGUMENT", "INVALID_OPTION", message, { field: "redis" });
  }
  if (hasKeyPrefix(clientOrUrl)) {
    const message = "redis must be a client without keyPrefix: ioredis adds it to the keys of all commands but SCAN.";
    throw new ActuatorError("INVALID_ARGUMENT", "INVALID_OPTION", message, { field: "redis" });
  }
  return commandsOf(sender, timeout);
}

function commandsOf(sender: RedisSender, timeout: number): RedisCommands {
  const within = deadlines(timeout);
  const late = () => {
    sender.late?.();
    return redisTimeout(timeout);
  };
  const send = async (args: readonly Argument[], buffers: boolean): Promise<unknown> => {
    try {
      return await within((signal) => started(() => sender.send(args, buffers, signal)), late);
    } catch (error) {
      throw redisError(error, String(args[0]).toUpperCase());
    }
  };
  const nodes = sender.nodes?.bind(sender);
  return {
    command: (args) => send(args, false),
    commandForBuffers: (args) => send(args, true),
    ...(nodes && {
      async nodes() {
        const senders = await within(() => started(nodes), late).catch((error) => {
          throw redisError(error, "CLUSTER");
        });
        return senders.map((each) => commandsOf(each, timeout));
      },
    }),
    close: async () => sender.close?.(),
  };
}

/** A client that throws instead of rejecting is no different. */
async function started<T>(start: () => Promise<T>): Promise<T> {
  return start();
}

function hasKeyPrefix(client: unknown): boolean {
  const { call, options } = client as { call?: unknown; options?: { keyPrefix?: unknown } | null };
  return typeof call === "function" && Boolean(options?.keyPrefix);
}
