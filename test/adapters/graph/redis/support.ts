import { Redis } from "ioredis";
import { createClient } from "redis";
import { onTestFinished } from "vitest";
import { type RedisMessagingOptions, redisSource } from "../../../../src/adapters/graph/redis/index.ts";
import { integrationGraph } from "../../../../src/integration-graph/builder.ts";
import type { RedisServer } from "../../../support/redis-server.ts";
import { nodeOf, picture } from "../bullmq/support.ts";

export { picture, until } from "../bullmq/support.ts";

type Listener = (message: string, channel: string) => unknown;

/** What the tests do with a client, with either library. */
export interface Client {
  readonly target: Parameters<typeof redisSource>[0];
  publish(channel: string, message: string): Promise<unknown>;
  spublish(channel: string, message: string): Promise<unknown>;
  subscribe(channel: string | string[], listener: Listener): Promise<unknown>;
  psubscribe(pattern: string | string[], listener: Listener): Promise<unknown>;
  ssubscribe(channel: string, listener: Listener): Promise<unknown>;
  unsubscribe(channel?: string): Promise<unknown>;
  select(db: number): Promise<unknown>;
  raw(...command: string[]): Promise<unknown>;
  /** Publishes to these, in a transaction or a pipeline. */
  batch(channels: readonly string[], transaction: boolean): Promise<unknown>;
  add(stream: string): Promise<unknown>;
  read(stream: string): Promise<unknown>;
  readGroup(stream: string, group: string, options?: { noAck?: boolean; id?: string }): Promise<readonly string[]>;
  acknowledge(stream: string, group: string, ids: readonly string[]): Promise<number>;
  close(): void;
}

export const libraries: readonly [name: string, connect: (server: RedisServer) => Promise<Client>][] = [
  ["node-redis", connectNodeRedis],
  ["node-redis with RESP 2", (server) => connectNodeRedis(server, 2)],
  ["ioredis", connectIoredis],
];

async function connectNodeRedis(server: RedisServer, RESP: 2 | 3 = 3): Promise<Client> {
  const client = createClient({ url: server.url, RESP, socket: { reconnectStrategy: 20 } });
  client.on("error", () => {});
  await client.connect();
  const close = () => client.isOpen && client.destroy();
  onTestFinished(() => void close());
  return {
    target: client,
    publish: (channel, message) => client.publish(channel, message),
    spublish: (channel, message) => client.sPublish(channel, message),
    subscribe: (channel, listener) => client.subscribe(channel, listener),
    psubscribe: (pattern, listener) => client.pSubscribe(pattern, listener),
    ssubscribe: (channel, listener) => client.sSubscribe(channel, listener),
    unsubscribe: (channel) => client.unsubscribe(channel),
    select: (db) => client.select(db),
    raw: (...command) => client.sendCommand(command),
    batch(channels, transaction) {
      const multi = client.multi();
      for (const channel of channels) multi.publish(channel, "secret");
      return transaction ? multi.exec() : multi.execAsPipeline();
    },
    add: (stream) => client.xAdd(stream, "*", { field: "secret" }),
    read: (stream) => client.xRead({ key: stream, id: "0" }),
    async readGroup(stream, group, { noAck = false, id = ">" } = {}) {
      const reply = await client.xReadGroup(group, "worker", { key: stream, id }, { COUNT: 10, NOACK: noAck });
      const streams = (reply ?? []) as unknown as { messages: { id: string }[] }[];
      return streams.flatMap(({ messages }) => messages.map((message) => message.id));
    },
    acknowledge: (stream, group, ids) => client.xAck(stream, group, [...ids]),
    close,
  };
}

async function connectIoredis(server: RedisServer): Promise<Client> {
  const client = new Redis(server.port, server.host, { retryStrategy: () => 20, maxRetriesPerRequest: null });
  client.on("error", () => {});
  onTestFinished(() => client.disconnect());
  const on = (event: string, listener: Listener, from: number) => {
    const given = (...args: string[]) => listener(args[from + 1]!, args[from]!);
    client.on(event, Object.defineProperty(given, "name", { value: listener.name }));
  };
  await client.ping();
  return {
    target: client,
    publish: (channel, message) => client.publish(channel, message),
    spublish: (channel, message) => client.spublish(channel, message),
    subscribe(channel, listener) {
      on("message", listener, 0);
      return client.subscribe(...[channel].flat());
    },
    psubscribe(pattern, listener) {
      on("pmessage", listener, 1);
      return client.psubscribe(...[pattern].flat());
    },
    ssubscribe(channel, listener) {
      on("smessage", listener, 0);
      return client.ssubscribe(channel);
    },
    unsubscribe: (channel) => (channel === undefined ? client.unsubscribe() : client.unsubscribe(channel)),
    select: (db) => client.select(db),
    raw: (name, ...args) => client.call(name!, ...args),
    batch(channels, transaction) {
      const batch = transaction ? client.multi() : client.pipeline();
      for (const channel of channels) batch.publish(channel, "secret");
      return batch.exec();
    },
    add: (stream) => client.xadd(stream, "*", "field", "secret"),
    read: (stream) => client.xread("STREAMS", stream, "0"),
    async readGroup(stream, group, { noAck = false, id = ">" } = {}) {
      const more = noAck ? (["NOACK"] as const) : [];
      const reply = await (client.xreadgroup as (...args: unknown[]) => Promise<unknown>)(
        ...["GROUP", group, "worker", "COUNT", 10, ...more, "STREAMS", stream, id],
      );
      return ((reply ?? []) as [string, [string, unknown][]][]).flatMap(([, entries]) =>
        entries.map(([entry]) => entry),
      );
    },
    acknowledge: (stream, group, ids) => client.xack(stream, group, ...ids),
    close: () => client.disconnect(),
  };
}

/** An application with a graph, and clients that are watched. */
export function application(
  clients: readonly Client[],
  {
    app = "shop",
    sourceTimeoutMs,
    ...options
  }: RedisMessagingOptions & { readonly app?: string; readonly sourceTimeoutMs?: number } = {},
) {
  const flow = integrationGraph({ app, onSourceError: () => {}, sourceTimeoutMs });
  const redis = redisSource(clients.map(({ target }) => target) as never, options);
  const detach = flow.attach(redis);
  const { graph } = flow;
  return {
    flow,
    graph,
    redis,
    detach,
    picture: () => picture(graph.snapshot()),
    node: (label: string) => nodeOf(graph, label),
  };
}
