import { Redis } from "ioredis";
import { createClient } from "redis";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { type RedisMessagingClient, redisSource } from "../../../../src/adapters/graph/redis/index.ts";
import { integrationGraph } from "../../../../src/integration-graph/builder.ts";
import { type RedisServer, redisFound, startRedis } from "../../../support/redis-server.ts";
import { requirement } from "../../../support/requirement.ts";
import { word } from "../../../support/word.ts";
import { picture, until } from "./support.ts";

let server: RedisServer;

interface Subscriber {
  readonly client: RedisMessagingClient;
  subscribe(channel: string): Promise<unknown>;
  unsubscribe(channel: string): Promise<unknown>;
}

let heard = 0;
function hear() {
  heard++;
}

const libraries: readonly (readonly [name: string, connect: () => Promise<Subscriber>])[] = [
  [
    "node-redis",
    async () => {
      const client = await createClient({ url: server.url }).connect();
      onTestFinished(() => client.destroy());
      return {
        client,
        subscribe: (channel) => client.subscribe(channel, hear),
        unsubscribe: (channel) => client.unsubscribe(channel, hear),
      };
    },
  ],
  [
    "ioredis",
    async () => {
      const client = new Redis(server.port, server.host);
      onTestFinished(() => client.disconnect());
      client.on("message", hear);
      return {
        client,
        subscribe: (channel) => client.subscribe(channel),
        unsubscribe: (channel) => client.unsubscribe(channel),
      };
    },
  ],
];

/** An application without rebuilds. */
async function application(connect: () => Promise<Subscriber>) {
  const subscriber = await connect();
  const flow = integrationGraph({ app: "shop" });
  onTestFinished(flow.attach(redisSource(subscriber.client)));
  return { ...subscriber, graph: flow.graph, count: () => flow.graph.snapshot().nodes.length };
}

describe.runIf(requirement("redis-server", redisFound)).each(libraries)("%s", (_, connect) => {
  beforeAll(async () => {
    server = await startRedis();
  });
  afterAll(() => server?.stop());

  test("channels of users that are gone make room without a rebuild", async () => {
    const { subscribe, unsubscribe, graph, count } = await application(connect);
    await subscribe("orders");
    for (let user = 0; user < 1_000; user++) {
      await subscribe(`user-${word(user)}`);
      await unsubscribe(`user-${word(user)}`);
    }
    expect(count()).toBeLessThanOrEqual(502);
    await subscribe("late");
    await until(() => "channel late -input-> subscriber late.hear" in picture(graph.snapshot()).links);
    expect(picture(graph.snapshot()).links).toHaveProperty(["channel orders -input-> subscriber orders.hear"]);
  });

  test("a thousand channels with ids are one, heard, and gone again", async () => {
    const { subscribe, unsubscribe, graph, count } = await application(connect);
    const channels = Array.from({ length: 900 }, (_, index) => `user-${index}`);
    for (const channel of channels) await subscribe(channel);
    const link = "channel user-* -input-> subscriber user-*.hear";
    await until(() => count() === 2 && link in picture(graph.snapshot()).links);
    heard = 0;
    for (const channel of ["user-0", "user-899"]) await server.command("PUBLISH", channel, "secret");
    await until(() => heard === 2);
    expect(picture(graph.snapshot()).nodes["subscriber user-*.hear"]).toBe("2 ok, 0 failed");
    expect(picture(graph.snapshot()).links).toEqual({ [link]: 2 });
    for (const channel of channels.slice(1)) await unsubscribe(channel);
    await graph.rebuild();
    await server.command("PUBLISH", "user-0", "secret");
    await until(() => picture(graph.snapshot()).links[link] === 3);
    await unsubscribe("user-0");
    await graph.rebuild();
    expect(count()).toBe(0);
  });

  test("a thousand channels at a time are all shown, heard, and gone again", async () => {
    const { subscribe, unsubscribe, graph, count } = await application(connect);
    const channels = Array.from({ length: 900 }, (_, index) => `user-${word(index)}`);
    for (const channel of channels) await subscribe(channel);
    await until(() => count() === 1_800);
    heard = 0;
    await server.command("PUBLISH", channels[899]!, "secret");
    await until(() => heard === 1);
    expect(picture(graph.snapshot()).nodes[`subscriber ${channels[899]}.hear`]).toBe("1 ok, 0 failed");
    for (const channel of channels) await unsubscribe(channel);
    await graph.rebuild();
    expect(count()).toBe(0);
  });
});
