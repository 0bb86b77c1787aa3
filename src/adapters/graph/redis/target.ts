import { field, hasMethods } from "../../kit/interception/field.ts";

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

/** Whose client it is; undefined where it is neither's. */
export function libraryOf(value: unknown): "ioredis" | "node-redis" | undefined {
  if (!hasMethods(value, "sendCommand", "publish", "subscribe", "on")) return undefined;
  if (hasMethods(value, "defineCommand", "emit", "rawListeners") && !field(value, "isCluster")) return "ioredis";
  return hasMethods(value, "getPubSubListeners", "xAdd") ? "node-redis" : undefined;
}
