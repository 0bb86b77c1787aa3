import { endWith } from "../../kit/fleet/connection.ts";
import { markOwnClient } from "../../kit/fleet/own-client.ts";
import { CONNECT_TIMEOUT_MS, type Dial, type RedisUse, slotOf } from "./link.ts";

/** What is used of a client of ioredis 5 or 6. */
export interface IoRedis {
  readonly stream?: { unref?(): void; destroy(): void };
  duplicate(overrides: object): IoRedis;
  on(event: string, listener: (...args: never[]) => void): unknown;
  connect(): Promise<unknown>;
  disconnect(): void;
  call(command: string, ...args: string[]): Promise<unknown>;
  subscribe(channel: string): Promise<unknown>;
  ping(): Promise<unknown>;
}

/** What is used of a cluster of ioredis 5 or 6. */
export interface IoRedisCluster extends Omit<IoRedis, "duplicate" | "stream"> {
  duplicate(startupNodes: readonly never[], overrides: object): IoRedisCluster;
  readonly slots: readonly (readonly string[])[];
  nodes(role: "master" | "all"): readonly (IoRedis & { readonly options: { host?: string; port?: number } })[];
}

/** Returns what connects duplicates of a client: one for commands, one for hints. */
export function ioRedisDial(template: IoRedis): Dial {
  return async (use) => {
    const [client, listening] = await Promise.all([connected(template, use), subscribed(template, use)]);
    return linkOf(client, listening);
  };
}

/** Returns what connects duplicates of a cluster. Hints come from any node, on a connection that can be pinged. */
export function ioRedisClusterDial(template: IoRedisCluster): Dial {
  return async (use) => {
    const cluster = template.duplicate([], {
      redisOptions: OUR_OPTIONS,
      lazyConnect: true,
      enableOfflineQueue: false,
      enableReadyCheck: false,
      enableAutoPipelining: false,
      keyPrefix: "",
      scaleReads: "master",
      maxRedirections: 5,
      clusterRetryStrategy: () => null,
    });
    endWith(use.signal, () => {
      const nodes = cluster.nodes("all");
      cluster.disconnect();
      nodes.forEach(end);
    });
    cluster.on("+node", unrefWhenConnected);
    cluster.on("error", use.onLost);
    cluster.on("end", () => use.onLost(new Error("The cluster closed the connection.")));
    use.signal.throwIfAborted();
    await cluster.connect();
    const address = cluster.slots[slotOf(use.channel)]?.[0];
    const node = cluster.nodes("master").find(({ options }) => `${options.host}:${options.port}` === address);
    if (node === undefined) throw new Error("The cluster has no master for the fleet.");
    return linkOf(cluster, await subscribed(node, use));
  };
}

function linkOf(client: Pick<IoRedis, "call">, listening: IoRedis) {
  return {
    send: ([command, ...args]: readonly string[]) => client.call(command!, ...args),
    ping: () => listening.ping(),
  };
}

async function subscribed(template: IoRedis, use: RedisUse): Promise<IoRedis> {
  const client = await connected(template, use);
  client.on("message", (_channel: string, hint: string) => use.onHint(hint));
  await client.subscribe(use.channel);
  return client;
}

async function connected(template: IoRedis, { onLost, signal }: RedisUse): Promise<IoRedis> {
  const client = markOwnClient(template.duplicate(OUR_OPTIONS));
  endWith(signal, () => end(client));
  client.on("error", onLost);
  client.on("end", () => onLost(new Error("The server closed the connection.")));
  unrefWhenConnected(client);
  signal.throwIfAborted();
  await client.connect();
  return client;
}

function unrefWhenConnected(client: IoRedis): void {
  client.on("connect", () => client.stream?.unref?.());
}

/** Without the second call ioredis waits for a server that may be away, for two seconds. */
function end(client: IoRedis): void {
  client.disconnect();
  client.stream?.destroy();
}

/** Replaces what would keep commands for later, hide a lost connection, or change keys and replies. */
const OUR_OPTIONS = {
  lazyConnect: true,
  connectTimeout: CONNECT_TIMEOUT_MS,
  // The next sentinel is asked instead of one that does not answer.
  sentinelCommandTimeout: 1_000,
  sentinelRetryStrategy: () => null,
  enableOfflineQueue: false,
  // Its INFO needs a permission, and a server that is still loading refuses the first command anyway.
  enableReadyCheck: false,
  maxRetriesPerRequest: 0,
  retryStrategy: () => null,
  reconnectOnError: null,
  autoResubscribe: false,
  autoResendUnfulfilledCommands: false,
  enableAutoPipelining: false,
  commandTimeout: undefined,
  socketTimeout: undefined,
  blockingTimeout: undefined,
  keyPrefix: "",
  readOnly: false,
  monitor: false,
  stringNumbers: false,
  protocol: 2,
};
