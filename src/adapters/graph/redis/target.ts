import { field, hasMethods } from "../../kit/interception/field.ts";
import type { Commands } from "./commands.ts";
import type { Subscribers } from "./subscribers.ts";

// biome-ignore lint/suspicious/noExplicitAny: the methods of both libraries, and of all their versions.
type Method = (...args: any[]) => any;

/** A client of node-redis or ioredis. */
export interface RedisMessagingClient {
  readonly sendCommand: Method;
  readonly publish: Method;
  readonly subscribe: Method;
  readonly xadd?: Method;
  readonly xAdd?: Method;
}

/** The library of a client; undefined if it belongs to neither. */
export function libraryOf(value: unknown): "ioredis" | "node-redis" | undefined {
  if (!hasMethods(value, "sendCommand", "publish", "subscribe", "on")) return undefined;
  if (hasMethods(value, "defineCommand", "emit", "rawListeners") && !field(value, "isCluster")) return "ioredis";
  return hasMethods(value, "getPubSubListeners", "xAdd") ? "node-redis" : undefined;
}

/** What one Redis is to a client that is watched. */
export interface Parts {
  readonly commands: Commands;
  readonly subscribers: Subscribers;
}

/** A client that is watched. */
export interface WatchedClient {
  /** Whether it has a connection. */
  readonly isReady: () => boolean;
  /** Whether it has subscriptions, and sends no other commands. */
  readonly isSubscribing: () => boolean;
  /** The database that commands go to. */
  readonly db: () => number;
  /** Sends a command as it is. */
  readonly send: (...command: readonly string[]) => Promise<unknown>;
  /** Reads anew what the client subscribes to. */
  readonly sync: () => void;
  readonly unwatch: () => void;
}
