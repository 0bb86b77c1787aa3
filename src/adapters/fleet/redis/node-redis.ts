import { endWith } from "../../kit/fleet/connection.ts";
import { markOwnClient } from "../../kit/fleet/own-client.ts";
import { CONNECT_TIMEOUT_MS, type Dial, type RedisUse, slotOf } from "./link.ts";

/** What is used of a client of node-redis 5 or 6. */
export interface NodeRedis {
  readonly options?: ClientOptions;
  duplicate(overrides: object): NodeRedis;
  on(event: "error", listener: (error: Error) => void): unknown;
  connect(): Promise<unknown>;
  unref(): void;
  destroy(): void;
  sendCommand(args: readonly string[]): Promise<unknown>;
  subscribe(channel: string, listener: (message: string) => void): Promise<unknown>;
}

/** What is used of a cluster of node-redis 5 or 6. */
export interface NodeRedisCluster {
  readonly _options?: { readonly defaults?: ClientOptions };
  readonly slots: readonly { readonly master: unknown }[];
  nodeClient(node: unknown): NodeRedis | Promise<NodeRedis>;
  duplicate(overrides: object): NodeRedisCluster;
  on(event: "error", listener: (error: Error) => void): unknown;
  connect(): Promise<unknown>;
  destroy(): void;
  sendCommand(firstKey: string, isReadonly: boolean, args: readonly string[]): Promise<unknown>;
}

interface ClientOptions {
  readonly socket?: object;
}

/**
 * Returns what connects duplicates of a client. One connection is enough: with RESP 3 it carries commands besides hints.
 *
 * A duplicate also costs less memory than a new client: node-redis makes a class for each object of options.
 */
export function nodeRedisDial(template: NodeRedis): Dial {
  return async (use) => {
    const client = await subscribed(template, use);
    return { send: (args) => client.sendCommand(args), ping: () => client.sendCommand(["PING"]) };
  };
}

/** Returns what connects duplicates of a cluster. Hints come from any node, on a connection that can be pinged. */
export function nodeRedisClusterDial(template: NodeRedisCluster): Dial {
  return async (use) => {
    const defaults = template._options?.defaults;
    const cluster = template.duplicate({
      commandOptions: {},
      // While one of them is away, the client would leave a socket to each other node behind.
      minimizeConnections: true,
      defaults: { ...defaults, ...ourOptions(defaults) },
    });
    await connected(cluster, use);
    const listening = await subscribed(await cluster.nodeClient(cluster.slots[slotOf(use.channel)]!.master), use);
    return {
      send: (args) => cluster.sendCommand(use.channel, false, args),
      ping: () => listening.sendCommand(["PING"]),
    };
  };
}

async function subscribed(template: NodeRedis, use: RedisUse): Promise<NodeRedis> {
  const client = markOwnClient(template.duplicate(ourOptions(template.options)));
  client.unref();
  await connected(client, use);
  await client.subscribe(use.channel, use.onHint);
  return client;
}

async function connected(client: NodeRedis | NodeRedisCluster, { onLost, signal }: RedisUse): Promise<void> {
  client.on("error", onLost);
  endWith(signal, () => client.destroy());
  signal.throwIfAborted();
  await client.connect();
  // A cluster that was destroyed while it read its slots may have connected since.
  if (signal.aborted) endWith(signal, () => client.destroy());
  signal.throwIfAborted();
}

/** Replaces what would keep commands for later, hide a lost connection, or share state with the application's client. */
function ourOptions(own: ClientOptions | undefined): object {
  return {
    RESP: 3,
    disableOfflineQueue: true,
    pingInterval: undefined,
    commandsQueueMaxLength: undefined,
    commandOptions: {},
    clientSideCache: undefined,
    emitInvalidate: false,
    readonly: false,
    keyPrefix: undefined,
    socket: {
      ...own?.socket,
      connectTimeout: CONNECT_TIMEOUT_MS,
      socketTimeout: undefined,
      reconnectStrategy: false,
    },
  };
}
