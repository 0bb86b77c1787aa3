import { ActuatorError } from "../../../common/error.ts";
import { type Argument, type RedisClient, type RedisSender, senderOf } from "./clients.ts";
import { redisConnection } from "./connection.ts";
import { redisError, redisTimeout } from "./error.ts";

export type {
  Argument,
  CommandClient,
  IoRedisClient,
  NodeRedisClient,
  NodeRedisCluster,
  NodeRedisSentinel,
  RedisClient,
} from "./clients.ts";

/** A connection to Redis or Valkey, as adapters use it. */
export interface RedisCommands {
  /**
   * Sends one command. Commands of the same turn travel together. Replies are strings, numbers, null and lists of these.
   *
   * @throws ActuatorError UNAVAILABLE if the server is out of reach or does not answer in time, FAILED_PRECONDITION if it
   * refuses the command, for lack of a permission or because the key holds another type.
   */
  command(args: readonly Argument[]): Promise<unknown>;
  /** Sends one command and returns Buffers instead of strings, for values that are not UTF-8. */
  commandForBuffers(args: readonly Argument[]): Promise<unknown>;
  /**
   * Returns the servers of a cluster, each with its own keys to scan. Left out if one server has all keys. In a cluster a
   * command has a single key: its second word.
   */
  nodes?(): Promise<readonly RedisCommands[]>;
  /** Closes a connection of our own; the application's stays open. */
  close(): Promise<void>;
}

/** How commands are sent. */
export interface RedisCommandsOptions {
  /** Milliseconds to wait for an answer, connecting included. Default: 5,000. */
  readonly timeoutMs?: number | undefined;
}

/**
 * Connects adapters to Redis: through a client of the application (node-redis 5 or 6, alone, as a pool, a cluster or behind
 * sentinels; ioredis, alone or as a cluster; or anything with `command(args)`), or through a connection of our own to a URL,
 * which needs the package `redis`.
 *
 * A client of the application is never connected, closed or configured from here. A command that is still queued when its
 * time is over is not sent any more. One that was sent may still be executed: then "did not answer" says no more than that.
 *
 * @throws ActuatorError INVALID_ARGUMENT for anything else, and for an ioredis client with `keyPrefix`.
 * @example
 * const redis = redisCommands("redis://localhost:6379", { timeoutMs: 1_000 });
 * await redis.command(["GET", "key"]);
 */
export function redisCommands(clientOrUrl: RedisClient | string, options: RedisCommandsOptions = {}): RedisCommands {
  const { timeoutMs = 5_000 } = options;
  const sender = typeof clientOrUrl === "string" ? redisConnection(clientOrUrl, timeoutMs) : senderOf(clientOrUrl);
  if (sender === undefined) {
    throw invalid('a client of node-redis or ioredis, an object with command(args), or a URL like "redis://host:6379"');
  }
  if (hasKeyPrefix(clientOrUrl)) {
    throw invalid("a client without keyPrefix: ioredis adds it to the keys of all commands but SCAN");
  }
  return commandsOf(sender, timeoutMs);
}

function commandsOf(sender: RedisSender, timeoutMs: number): RedisCommands {
  const within = deadlines(timeoutMs);
  const late = () => {
    sender.late?.();
    return redisTimeout(timeoutMs);
  };
  const send = async (args: readonly Argument[], buffers: boolean): Promise<unknown> => {
    try {
      return await within(async (signal) => sender.send(args, buffers, signal), late);
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
        const senders = await within(async () => nodes(), late).catch((error) => {
          throw redisError(error, "CLUSTER");
        });
        return senders.map((each) => commandsOf(each, timeoutMs));
      },
    }),
    close: async () => sender.close?.(),
  };
}

function hasKeyPrefix(client: unknown): boolean {
  const { call, options } = client as { call?: unknown; options?: { keyPrefix?: unknown } | null };
  return typeof call === "function" && Boolean(options?.keyPrefix);
}

function invalid(expected: string): ActuatorError {
  return new ActuatorError("INVALID_ARGUMENT", "INVALID_OPTION", `redis must be ${expected}.`, { field: "redis" });
}

/** Commands that begin within this part of the timeout share a deadline: a timer and a signal for each would cost too much. */
const SHARED_PART = 1 / 100;
/** An abort signal gets slower with each listener. */
const MAX_SHARERS = 64;

/** Starts an operation and settles in time, as the operation does or with the error of `late`. */
type WithinDeadline = <T>(start: (signal: AbortSignal) => Promise<T>, late: () => Error) => Promise<T>;

/**
 * Bounds operations by `timeoutMs`. The signal of an operation is aborted at its deadline, so that what still waits to be
 * sent then is never sent. How it ends later is ignored and is no unhandled rejection.
 */
function deadlines(timeoutMs: number): WithinDeadline {
  let shared: Deadline | undefined;
  return (start, late) => {
    if (!shared?.takesMore) shared = new Deadline(timeoutMs);
    return shared.bound(start, late);
  };
}

class Deadline {
  readonly #takesUntil: number;
  readonly #timer: NodeJS.Timeout;
  readonly #abort = new AbortController();
  readonly #pending = new Set<() => void>();

  constructor(timeoutMs: number) {
    this.#takesUntil = performance.now() + timeoutMs * SHARED_PART;
    // The connection of a pending command keeps the process alive.
    this.#timer = setTimeout(() => this.#giveUp(), timeoutMs).unref();
  }

  get takesMore(): boolean {
    return this.#pending.size < MAX_SHARERS && performance.now() < this.#takesUntil;
  }

  bound<T>(start: (signal: AbortSignal) => Promise<T>, late: () => Error): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const giveUp = () => reject(late());
      this.#pending.add(giveUp);
      start(this.#abort.signal).then(
        (value) => {
          this.#settled(giveUp);
          resolve(value);
        },
        (error) => {
          this.#settled(giveUp);
          reject(error);
        },
      );
    });
  }

  #settled(giveUp: () => void): void {
    this.#pending.delete(giveUp);
    if (this.#pending.size === 0 && !this.takesMore) clearTimeout(this.#timer);
  }

  #giveUp(): void {
    // An abort without listeners still costs a stack trace.
    if (this.#pending.size === 0) return;
    for (const giveUp of this.#pending) giveUp();
    this.#abort.abort();
  }
}
