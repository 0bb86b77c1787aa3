import { Redis } from "ioredis";
import { createClient } from "redis";
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { redisSource } from "../../../../src/adapters/graph/redis/index.ts";
import { ActuatorError } from "../../../../src/common/error.ts";
import { integrationGraph } from "../../../../src/integration-graph/builder.ts";
import { mergeGraphs } from "../../../../src/integration-graph/merge.ts";
import { type RedisServer, redisFound, startRedis } from "../../../support/redis-server.ts";
import { requirement } from "../../../support/requirement.ts";
import { application, libraries, picture, until } from "./support.ts";

let server: RedisServer;

describe.runIf(requirement("redis-server", redisFound))("redisMessaging", () => {
  beforeAll(async () => {
    server = await startRedis();
  });
  beforeEach(() => server.command("FLUSHALL"));
  afterAll(() => server?.stop());

  describe.each(libraries)("%s", (_, connect) => {
    test("draws a whole application", async () => {
      const [publisher, subscriber] = [await connect(server), await connect(server)];
      const { picture, node } = application([publisher, subscriber]);
      let heard = 0;
      await subscriber.subscribe("orders", async function charge(message) {
        await new Promise((resolve) => setTimeout(resolve, 2));
        await publisher.publish("payments", "secret");
        if (message === "stream") await publisher.add("ledger");
        heard++;
      });
      await subscriber.psubscribe("order*", function audit() {
        heard++;
      });
      await subscriber.ssubscribe("shard", function local() {
        heard++;
      });
      await until(() => Object.keys(picture().links).length === 3);
      expect(picture()).toEqual({
        nodes: {
          "channel orders": "0 ok, 0 failed",
          "subscriber orders.charge": "0 ok, 0 failed",
          "pattern order*": "0 ok, 0 failed",
          "subscriber order*.audit": "0 ok, 0 failed",
          "sharded-channel shard": "0 ok, 0 failed",
          "subscriber shard.local": "0 ok, 0 failed",
        },
        links: {
          "channel orders -input-> subscriber orders.charge": 0,
          "pattern order* -input-> subscriber order*.audit": 0,
          "sharded-channel shard -input-> subscriber shard.local": 0,
        },
      });

      await publisher.publish("orders", "secret");
      await publisher.publish("orders", "stream");
      await publisher.publish("orderly", "secret");
      await publisher.spublish("shard", "secret");
      await publisher.raw("PUBLISH", "nobody", "secret");
      await until(() => heard === 6);
      await until(() => node("subscriber orders.charge").sendTimers!.successes.count === 2);

      expect(picture()).toEqual({
        nodes: {
          "channel orders": "2 ok, 0 failed",
          "subscriber orders.charge": "2 ok, 0 failed",
          "pattern order*": "0 ok, 0 failed",
          "subscriber order*.audit": "3 ok, 0 failed",
          "sharded-channel shard": "1 ok, 0 failed",
          "subscriber shard.local": "1 ok, 0 failed",
          "channel orderly": "1 ok, 0 failed",
          "channel payments": "2 ok, 0 failed",
          "channel nobody": "1 ok, 0 failed",
          "stream ledger": "1 ok, 0 failed, 0 received",
          "gateway shop.producer": "",
        },
        links: {
          "gateway shop.producer -output-> channel orders": 2,
          "gateway shop.producer -output-> channel orderly": 1,
          "gateway shop.producer -output-> sharded-channel shard": 1,
          "gateway shop.producer -output-> channel nobody": 1,
          "channel orders -input-> subscriber orders.charge": 2,
          "channel orders -route-> pattern order*": 2,
          "channel orderly -route-> pattern order*": 1,
          "pattern order* -input-> subscriber order*.audit": 3,
          "sharded-channel shard -input-> subscriber shard.local": 1,
          "subscriber orders.charge -output-> channel payments": 2,
          "subscriber orders.charge -output-> stream ledger": 1,
        },
      });
      expect(node("subscriber orders.charge").sendTimers!.successes.mean).toBeGreaterThan(1);
      expect(node("channel orders").key).toBe(`channel:redis:127.0.0.1%3A${server.port}:channel:orders`);
      expect(node("sharded-channel shard").key).toBe(`channel:redis:127.0.0.1%3A${server.port}:sharded-channel:shard`);
      expect(JSON.stringify(picture())).not.toContain("secret");
    });

    test("shows what was subscribed to before, and leaves it as it was", async () => {
      const [publisher, subscriber] = [await connect(server), await connect(server)];
      let heard = 0;
      function listen() {
        heard++;
      }
      await subscriber.subscribe(["a", "b"], listen);
      await subscriber.psubscribe("c*", listen);
      const before = ownProperties(subscriber.target);
      const { picture, detach, graph } = application([publisher, subscriber]);
      expect(picture().links).toEqual({
        "channel a -input-> subscriber a.listen": 0,
        "channel b -input-> subscriber b.listen": 0,
        "pattern c* -input-> subscriber c*.listen": 0,
      });
      for (const channel of ["a", "b", "c1"]) await publisher.publish(channel, "message");
      await until(() => heard === 3);
      expect(picture().links).toMatchObject({
        "channel a -input-> subscriber a.listen": 1,
        "channel b -input-> subscriber b.listen": 1,
        "pattern c* -input-> subscriber c*.listen": 1,
        "channel c1 -route-> pattern c*": 1,
      });

      detach();
      expect(ownProperties(subscriber.target)).toEqual(before);
      await publisher.publish("a", "message");
      await until(() => heard === 4);
      expect(graph.snapshot().nodes.filter(({ key }) => key.startsWith("endpoint:"))).toEqual([]);
      expect(graph.snapshot().links.filter(({ type }) => type === "input")).toEqual([]);
      await subscriber.unsubscribe("a");
      await publisher.publish("a", "message");
      await publisher.publish("b", "message");
      await until(() => heard === 5);
    });

    describe("a listener", () => {
      const cases: readonly [string, () => unknown, ok: number, failed: number, unhandled?: true][] = [
        ["that returns", () => 1, 1, 0],
        ["that is fulfilled", async () => tick(), 1, 0],
        ["that throws", () => thrown(), 0, 1],
        ["that rejects", async () => tick().then(thrown), 0, 1, true],
      ];
      test.each(cases)("%s", async (_, listener, ok, failed, unhandled) => {
        const reasons = uncaught();
        const [publisher, subscriber] = [await connect(server), await connect(server)];
        const { picture, node } = application([publisher, subscriber]);
        await subscriber.subscribe("work", function handle() {
          return listener();
        } as () => void);
        await publisher.publish("work", "message");
        const timers = () => node("subscriber work.handle").sendTimers!;
        await until(() => timers().successes.count + timers().failures.count === 1);
        expect(picture()).toEqual({
          nodes: {
            "channel work": "1 ok, 0 failed",
            "subscriber work.handle": `${ok} ok, ${failed} failed`,
            "gateway shop.producer": "",
          },
          links: {
            "gateway shop.producer -output-> channel work": 1,
            "channel work -input-> subscriber work.handle": 1,
          },
        });
        await tick();
        if (unhandled) expect(reasons).toEqual([new Error("failed on purpose")]);
      });
    });

    test("counts what a transaction or a pipeline publishes, and nothing where it does not happen", async () => {
      const publisher = await connect(server);
      const { picture } = application([publisher]);
      await publisher.batch(["a", "a", "b"], true);
      await publisher.batch(["b"], false);
      await publisher.batch([], true);
      expect(picture().nodes).toEqual({
        "channel a": "2 ok, 0 failed",
        "channel b": "2 ok, 0 failed",
        "gateway shop.producer": "",
      });
    });

    test("counts what Redis refuses as failed, and the application hears of it as before", async () => {
      const client = await connect(server);
      const { picture } = application([client]);
      await server.command("SET", "text", "value");
      await expect(client.add("text")).rejects.toThrow("WRONGTYPE");
      await expect(client.raw("PUBLISH", "a")).rejects.toThrow("wrong number");
      expect(Object.values(picture().nodes).sort()).toEqual([
        "",
        "0 ok, 1 failed",
        expect.stringContaining("0 ok, 1 failed"),
      ]);
    });

    test("shows streams and consumer groups: an entry is handled when it is acknowledged", async () => {
      const client = await connect(server);
      const { picture, node } = application([client]);
      await client.raw("XGROUP", "CREATE", "orders", "billing", "0", "MKSTREAM");
      expect(picture().links).toEqual({ "stream orders -input-> consumer-group orders.billing": 0 });
      for (let count = 0; count < 4; count++) await client.add("orders");
      const ids = await client.readGroup("orders", "billing");
      expect(ids).toHaveLength(4);
      expect(picture().nodes["consumer-group orders.billing"]).toBe("0 ok, 0 failed");
      await new Promise((resolve) => setTimeout(resolve, 5));
      expect(await client.acknowledge("orders", "billing", ids.slice(0, 2))).toBe(2);
      expect(await client.acknowledge("orders", "billing", ids.slice(0, 3))).toBe(1);
      // What was delivered before and is not acknowledged yet is no other entry.
      expect(await client.readGroup("orders", "billing", { id: "0" })).toHaveLength(1);
      await client.add("orders");
      expect(await client.readGroup("orders", "billing", { noAck: true })).toHaveLength(1);
      await client.read("orders");
      expect(picture()).toEqual({
        nodes: {
          "stream orders": "5 ok, 0 failed, 10 received",
          "consumer-group orders.billing": "4 ok, 0 failed",
          "gateway shop.producer": "",
        },
        links: {
          "gateway shop.producer -output-> stream orders": 5,
          "stream orders -input-> consumer-group orders.billing": 4,
        },
      });
      expect(node("consumer-group orders.billing").sendTimers!.successes.max).toBeGreaterThan(4);
      expect(node("consumer-group orders.billing").properties).toEqual({ group: "billing" });
      expect(node("stream orders").key).toMatch(/:stream:0\/orders$/);
      await client.raw("XGROUP", "DESTROY", "orders", "billing");
      expect(Object.keys(picture().nodes)).not.toContain("consumer-group orders.billing");
    });

    test("counts an entry once, whoever else acknowledges it, also one that was delivered before", async () => {
      const client = await connect(server);
      await client.raw("XGROUP", "CREATE", "orders", "billing", "0", "MKSTREAM");
      await client.add("orders");
      const [before] = await client.readGroup("orders", "billing");
      const { picture } = application([client]);
      await client.add("orders");
      await client.add("orders");
      const [first, second] = await client.readGroup("orders", "billing");
      await server.command("XACK", "orders", "billing", first!);
      const handled = () => picture().links["stream orders -input-> consumer-group orders.billing"];
      expect(await client.acknowledge("orders", "billing", [first!, second!])).toBe(1);
      expect(handled()).toBe(1);
      expect(await client.acknowledge("orders", "billing", [before!])).toBe(1);
      expect(await client.acknowledge("orders", "billing", [first!, second!, before!])).toBe(0);
      expect(handled()).toBe(2);
    });

    test("measures the function that handles a stream's entries", async () => {
      const client = await connect(server);
      const { picture, redis, detach } = application([client]);
      await client.raw("XGROUP", "CREATE", "orders", "billing", "0", "MKSTREAM");
      const bill = redis.handler({ stream: "orders", group: "billing" }, async function bill(id: string, bad: boolean) {
        if (bad) throw new Error("failed on purpose");
        await client.publish("billed", id);
        return id;
      });
      const copy = redis.handler({ stream: "orders" }, function copy() {});
      expect(bill).toHaveProperty("name", "bill");
      await client.add("orders");
      await client.add("orders");
      const [first, second] = await client.readGroup("orders", "billing");
      expect(await bill(first!, false)).toBe(first);
      await client.acknowledge("orders", "billing", [first!]);
      await expect(bill(second!, true)).rejects.toThrow("failed on purpose");
      copy();
      expect(picture().links).toEqual({
        "stream orders -input-> consumer-group orders.billing": 2,
        "gateway shop.producer -output-> stream orders": 2,
        "consumer-group orders.billing -output-> channel billed": 1,
        "stream orders -input-> stream-handler orders.copy": 1,
      });
      expect(picture().nodes["consumer-group orders.billing"]).toBe("1 ok, 1 failed");
      detach();
      expect(await bill("1-1", false)).toBe("1-1");
    });

    test("knows which database a stream is of", async () => {
      const client = await connect(server);
      const { graph } = application([client]);
      await client.add("orders");
      await client.select(3);
      await client.add("orders");
      const keys = graph.snapshot().nodes.flatMap(({ key }) => (key.includes(":stream:") ? [key.slice(-8)] : []));
      expect(keys).toEqual(["0/orders", "3/orders"]);
    });

    test("shows no keys of keyspace notifications, and temporary names as one", async () => {
      const [publisher, subscriber] = [await connect(server), await connect(server)];
      await server.command("CONFIG", "SET", "notify-keyspace-events", "KEA");
      onTestFinished(() => void server.command("CONFIG", "SET", "notify-keyspace-events", ""));
      const { picture, graph } = application([publisher, subscriber]);
      let heard = 0;
      await subscriber.psubscribe("__keyspace@0__:*", () => heard++);
      await subscriber.subscribe("__keyspace@0__:session:secret", () => {});
      await server.command("SET", "session:secret", "1");
      for (const id of ["5e0c1c3e-8d0a-4c57-9b36-0242ac130002", "6f1d2d4f-9e1b-4d68-8c47-1353bd241113"]) {
        await publisher.publish(`reply-${id}`, "message");
      }
      await until(() => heard === 1);
      expect(JSON.stringify(graph.snapshot())).not.toContain("secret");
      expect(picture().nodes).toMatchObject({ "channel reply-*": "2 ok, 0 failed" });
    });

    test("drops what is no more subscribed to with the next rebuild", async () => {
      const subscriber = await connect(server);
      const { picture, graph } = application([subscriber]);
      await subscriber.subscribe(["a", "b"], function listen() {});
      await until(() => Object.keys(picture().links).length === 2);
      await subscriber.unsubscribe("a");
      await graph.rebuild();
      expect(picture().links).toEqual({ "channel b -input-> subscriber b.listen": 0 });
      expect(Object.keys(picture().nodes)).toHaveLength(2);
      subscriber.close();
      await until(async () => {
        await graph.rebuild();
        return Object.keys(picture().nodes).length === 0;
      });
    });

    test("discovers what others subscribe to, and the groups of known streams", async () => {
      const [client, other] = [await connect(server), await connect(server)];
      await other.subscribe("elsewhere", () => {});
      await other.ssubscribe("shard", () => {});
      await server.command("XGROUP", "CREATE", "orders", "billing", "0", "MKSTREAM");
      const { picture, graph, node } = application([client], { discover: true });
      await client.add("orders");
      await graph.rebuild();
      expect(picture().nodes).toEqual({
        "channel elsewhere": "0 ok, 0 failed",
        "sharded-channel shard": "0 ok, 0 failed",
        "stream orders": "1 ok, 0 failed, 0 received",
        "gateway shop.producer": "",
      });
      expect(node("channel elsewhere").properties).toEqual({ subscribers: 1 });
      expect(node("stream orders").properties).toEqual({ consumerGroups: ["billing"] });
      other.close();
      await until(async () => {
        await graph.rebuild();
        return picture().nodes["channel elsewhere"] === undefined;
      });
    });

    test("goes on with its numbers when Redis is killed and comes back", async () => {
      await using own = await startRedis();
      const [publisher, subscriber] = [await connect(own), await connect(own)];
      const { picture, graph, node } = application([publisher, subscriber], { discover: true, sourceTimeoutMs: 500 });
      let heard = 0;
      await subscriber.subscribe("orders", function charge() {
        heard++;
      });
      await publisher.publish("orders", "message");
      await until(() => heard === 1);
      await own.kill();
      await graph.rebuild();
      expect(picture().nodes).toMatchObject({ "subscriber orders.charge": "1 ok, 0 failed" });
      await own.restart();
      await until(async () => {
        await publisher.publish("orders", "message").catch(() => {});
        return heard > 1;
      });
      await until(async () => {
        await graph.rebuild();
        return !node("channel orders").stale;
      });
      expect(node("subscriber orders.charge").sendTimers!.successes.count).toBe(heard);
      expect(picture().links["channel orders -input-> subscriber orders.charge"]).toBe(heard);
    });

    test("two instances and another application are one graph", async () => {
      const clients = [await connect(server), await connect(server), await connect(server)];
      const [one, two] = clients.slice(0, 2).map((client) => application([client!]));
      const billing = application([clients[2]!], { app: "billing" });
      let heard = 0;
      await clients[2]!.subscribe("orders", function charge() {
        heard++;
      });
      await clients[0]!.publish("orders", "message");
      await clients[1]!.publish("orders", "message");
      await until(() => heard === 2);
      const merged = mergeGraphs([
        { instance: "shop-1", graph: one!.graph.snapshot() },
        { instance: "shop-2", graph: two!.graph.snapshot() },
        { instance: "billing-1", graph: billing.graph.snapshot() },
      ]);
      expect(picture(merged)).toEqual({
        nodes: {
          "channel orders": "2 ok, 0 failed",
          "subscriber orders.charge": "2 ok, 0 failed",
          "gateway shop.producer": "",
        },
        links: {
          "gateway shop.producer -output-> channel orders": 2,
          "channel orders -input-> subscriber orders.charge": 2,
        },
      });
    });
  });

  test("refuses what is no client, and what is watched already", () => {
    const client = createClient();
    expect(() => redisSource({} as never)).toThrow(ActuatorError);
    const flow = integrationGraph({ app: "shop" });
    const redis = redisSource(client);
    flow.attach(redis);
    expect(() => redis.watch(client)).toThrow(ActuatorError);
    expect(() => redis.watch(client.withTypeMapping({}) as never)).toThrow(ActuatorError);
    expect(() => integrationGraph({ app: "other" }).attach(redisSource(client))).toThrow(ActuatorError);
    redis.unwatch(client);
    integrationGraph({ app: "other" }).attach(redisSource(client))();
  });

  test("a transaction of ioredis that is discarded, or that a watched key stops, sent nothing", async () => {
    const client = new Redis(server.port, server.host);
    onTestFinished(() => client.disconnect());
    const flow = integrationGraph({ app: "shop" });
    flow.attach(redisSource(client));
    await client.multi({ pipeline: false });
    await client.publish("a", "message");
    await client.discard();
    await client.watch("key");
    await server.command("SET", "key", "value");
    expect(await client.multi().publish("b", "message").exec()).toBeNull();
    await client.multi({ pipeline: false });
    await client.publish("c", "message");
    await client.exec();
    expect(picture(flow.graph.snapshot()).nodes).toEqual({
      "channel a": "0 ok, 0 failed",
      "channel b": "0 ok, 1 failed",
      "channel c": "1 ok, 0 failed",
      "gateway shop.producer": "",
    });
  });

  test("counts once what a client of ioredis sends before it is connected", async () => {
    const client = new Redis(server.port, server.host);
    onTestFinished(() => client.disconnect());
    const flow = integrationGraph({ app: "shop" });
    flow.attach(redisSource(client));
    const sent = [client.publish("a", "message"), client.multi().publish("b", "message").exec()];
    await Promise.all(sent);
    expect(picture(flow.graph.snapshot()).nodes).toEqual({
      "channel a": "1 ok, 0 failed",
      "channel b": "1 ok, 0 failed",
      "gateway shop.producer": "",
    });
  });

  test("with ioredis, every listener hears all channels of its client, also once and as bytes", async () => {
    const [client, publisher] = [new Redis(server.port, server.host), new Redis(server.port, server.host)];
    onTestFinished(() => void [client, publisher].map((each) => each.disconnect()));
    const flow = integrationGraph({ app: "shop" });
    flow.attach(redisSource([client, publisher]));
    await client.subscribe("a", "b");
    await client.psubscribe("a*");
    client.on("message", function text() {});
    client.once("message", function first() {});
    client.on("pmessage", function pattern() {});
    client.on("pmessageBuffer", function bytes() {});
    await publisher.publish("a", "message");
    await publisher.publish("b", "message");
    await until(() => picture(flow.graph.snapshot()).nodes["subscriber b.text"] === "1 ok, 0 failed");
    expect(picture(flow.graph.snapshot()).links).toEqual({
      "channel a -input-> subscriber a.text": 1,
      "channel b -input-> subscriber b.text": 1,
      "channel a -input-> subscriber a.first": 1,
      "channel b -input-> subscriber b.first": 0,
      "pattern a* -input-> subscriber a*.pattern": 1,
      "pattern a* -input-> subscriber a*.bytes": 1,
      "channel a -route-> pattern a*": 1,
      "gateway shop.producer -output-> channel a": 1,
      "gateway shop.producer -output-> channel b": 1,
    });
  });

  test("with node-redis, a transaction counts once, by whatever method it is executed", async () => {
    const client = await createClient({ url: server.url }).connect();
    onTestFinished(() => client.destroy());
    const flow = integrationGraph({ app: "shop" });
    flow.attach(redisSource(client));
    const made = () => client.multi().publish("a", "message");
    await made().execTyped();
    await made().exec(true);
    await made().execAsPipelineTyped();
    await client.MULTI().sendCommand(["PUBLISH", "a", "message"]).EXEC();
    await expect(made().sendCommand(["PUBLISH", "a"]).exec()).rejects.toThrow();
    expect(picture(flow.graph.snapshot()).nodes["channel a"]).toBe("4 ok, 2 failed");
  });

  test("with node-redis, a listener that is given again or taken away is the same", async () => {
    const [client, publisher] = [createClient({ url: server.url }), createClient({ url: server.url })];
    onTestFinished(() => void [client, publisher].map((each) => each.destroy()));
    await Promise.all([client.connect(), publisher.connect()]);
    const flow = integrationGraph({ app: "shop" });
    let heard = 0;
    const listen = () => void heard++;
    await client.subscribe("a", listen);
    const detach = flow.attach(redisSource([client, publisher]));
    await client.subscribe("a", listen);
    await client.pSubscribe(["p*", "q*"], listen);
    for (const channel of ["a", "p1", "q1"]) await publisher.publish(channel, "message");
    await until(() => heard === 3);
    await client.pUnsubscribe(["p*"], listen);
    await client.unsubscribe("a", listen);
    for (const channel of ["a", "p1", "q1"]) await publisher.publish(channel, "message");
    await until(() => heard === 4);
    expect(picture(flow.graph.snapshot()).links).toMatchObject({
      "channel a -input-> subscriber a.listen": 1,
      "pattern p* -input-> subscriber p*.listen": 1,
      "pattern q* -input-> subscriber q*.listen": 2,
    });
    detach();
    await client.pUnsubscribe("q*", listen);
    expect(client.isPubSubActive).toBe(false);
  });
});

/** What the process would hear of otherwise: what one library throws, another one tells its client. */
function uncaught(): unknown[] {
  const events = ["unhandledRejection", "uncaughtException"] as const;
  const others = events.map((event) => process.rawListeners(event));
  const reasons: unknown[] = [];
  for (const event of events) {
    process.removeAllListeners(event);
    process.on(event, (reason: unknown) => void reasons.push(reason));
  }
  onTestFinished(() => {
    for (const [at, event] of events.entries()) {
      process.removeAllListeners(event);
      for (const other of others[at]!) process.on(event, other as () => void);
    }
  });
  return reasons;
}

function ownProperties(target: unknown): string[] {
  const inner = (Reflect.get(target as object, "_self") as object | undefined) ?? (target as object);
  return [target as object, inner].flatMap((object) => Object.getOwnPropertyNames(object)).sort();
}

const tick = () => new Promise<void>((resolve) => setTimeout(resolve, 2));
function thrown(): never {
  throw new Error("failed on purpose");
}
