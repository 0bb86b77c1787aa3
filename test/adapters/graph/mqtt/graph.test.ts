import { MqttClient } from "mqtt";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { mqttSource } from "../../../../src/adapters/graph/mqtt/index.ts";
import { ActuatorError } from "../../../../src/common/error.ts";
import { integrationGraph } from "../../../../src/integration-graph/builder.ts";
import { mergeGraphs } from "../../../../src/integration-graph/merge.ts";
import { type MosquittoServer, mosquittoFound, startMosquitto } from "../../../support/mosquitto-server.ts";
import { requirement } from "../../../support/requirement.ts";
import { word } from "../../../support/word.ts";
import { application, client, nodeOf, picture, until } from "./support.ts";

let server: MosquittoServer;
let made = 0;
/** A prefix that no other test uses. */
const own = () => `t${++made}`;

describe.runIf(requirement("mosquitto", mosquittoFound))("mqtt", () => {
  beforeAll(async () => {
    server = await startMosquitto();
  });
  afterAll(() => server?.stop());

  test("draws a whole application", async () => {
    const will = { topic: "gone", payload: Buffer.from("secret"), retain: true };
    const { own, flow, picture } = await application(server, { client: { will, clientId: "made-up-7" } });
    let done = 0;
    own.on("message", async function handle(topic) {
      await Promise.resolve();
      if (topic === "orders/1") await own.publishAsync("payments", "secret", { qos: 1 });
      done++;
    });
    await own.subscribeAsync("orders/+", { qos: 1 });
    await own.subscribeAsync(["alerts", "$share/g1/logs/#"]);
    const declared = {
      "gateway shop.producer -output-> topic gone": 0,
      "topic orders/+ -input-> subscriber handle": 0,
      "topic alerts -input-> subscriber handle": 0,
      "topic logs/# -input-> subscriber handle": 0,
    };
    expect(picture()).toEqual({
      nodes: {
        "gateway shop.producer": expect.any(String),
        "topic gone": "0 ok, 0 failed",
        "topic orders/+": "0 ok, 0 failed",
        "topic alerts": "0 ok, 0 failed",
        "topic logs/#": "0 ok, 0 failed",
        "subscriber handle": "0 ok, 0 failed",
      },
      links: declared,
    });
    expect(nodeOf(flow.graph.snapshot(), "topic gone").properties).toEqual({ will: true, retained: true });
    expect(nodeOf(flow.graph.snapshot(), "topic orders/+").properties).toEqual({ qos: 1 });
    expect(nodeOf(flow.graph.snapshot(), "topic logs/#").properties).toEqual({ qos: 0, sharedGroup: "g1" });

    own.publish("orders/1", "secret");
    own.publish("orders/2", "secret", { qos: 2 });
    own.publish("alerts", "secret");
    own.publish("logs/a/b", "secret", () => {});
    own.publish("state", "on", { retain: true });
    await until(() => done === 4);
    // A message may come before the broker has said that it took it.
    await expect.poll(picture).toEqual({
      nodes: {
        "gateway shop.producer": expect.any(String),
        "topic gone": "0 ok, 0 failed",
        "topic orders/+": "0 ok, 0 failed",
        "topic alerts": "1 ok, 0 failed",
        "topic logs/#": "0 ok, 0 failed",
        "subscriber handle": "4 ok, 0 failed",
        "topic orders/1": "1 ok, 0 failed",
        "topic orders/2": "1 ok, 0 failed",
        "topic logs/a/b": "1 ok, 0 failed",
        "topic state": "1 ok, 0 failed",
        "topic payments": "1 ok, 0 failed",
      },
      links: {
        ...declared,
        "topic orders/+ -input-> subscriber handle": 2,
        "topic alerts -input-> subscriber handle": 1,
        "topic logs/# -input-> subscriber handle": 1,
        "topic orders/1 -route-> topic orders/+": 1,
        "topic orders/2 -route-> topic orders/+": 1,
        "topic logs/a/b -route-> topic logs/#": 1,
        "gateway shop.producer -output-> topic orders/1": 1,
        "gateway shop.producer -output-> topic orders/2": 1,
        "gateway shop.producer -output-> topic alerts": 1,
        "gateway shop.producer -output-> topic logs/a/b": 1,
        "gateway shop.producer -output-> topic state": 1,
        "subscriber handle -output-> topic payments": 1,
      },
    });
    const shown = JSON.stringify(flow.graph.snapshot());
    expect(shown).not.toContain("secret");
    expect(shown).not.toContain("made-up-7");
    expect(nodeOf(flow.graph.snapshot(), "topic state").properties).toEqual({ retained: true });
  });

  describe("a listener", () => {
    const cases: readonly [title: string, act: () => unknown, ok: number, failed: number][] = [
      ["that returns", () => {}, 1, 0],
      ["that is fulfilled", () => tick(), 1, 0],
      ["that rejects", () => tick().then(thrown), 0, 1],
      ["that throws", () => thrown(), 0, 1],
    ];
    test.each(cases)("%s", async (_, act, ok, failed) => {
      const { own: mine, flow } = await application(server);
      const topic = own();
      const others = (["unhandledRejection", "uncaughtException"] as const).map((event) => {
        const listeners = process.listeners(event as "uncaughtException");
        process.removeAllListeners(event);
        return { event, listeners };
      });
      const failures: unknown[] = [];
      for (const { event } of others) process.on(event as "uncaughtException", (error) => failures.push(error));
      mine.on("message", function handle() {
        return act() as undefined;
      });
      await mine.subscribeAsync(topic);
      mine.publish(topic, "");
      const timers = () => nodeOf(flow.graph.snapshot(), "subscriber handle").sendTimers!;
      await until(() => timers().successes.count + timers().failures.count === 1 && failures.length === failed);
      for (const { event, listeners } of others) {
        process.removeAllListeners(event);
        for (const listener of listeners) process.on(event as "uncaughtException", listener);
      }
      expect([timers().successes.count, timers().failures.count]).toEqual([ok, failed]);
    });
  });

  test("calls listeners as Node.js does: in their order, once where they are to be called once", async () => {
    const { own: mine, picture } = await application(server);
    const topic = own();
    const calls: unknown[] = [];
    mine.on("message", function second(this: unknown, name, payload, packet) {
      calls.push(["second", this === mine, name, payload.toString(), packet.retain]);
    });
    mine.prependListener("message", () => calls.push("first"));
    mine.once("message", function once() {
      calls.push("once");
    });
    await mine.subscribeAsync(topic);
    mine.publish(topic, "a");
    mine.publish(topic, "b");
    await until(() => calls.length === 5);
    expect(calls).toEqual([
      "first",
      ["second", true, topic, "a", false],
      "once",
      "first",
      ["second", true, topic, "b", false],
    ]);
    expect(picture().nodes).toMatchObject({
      "subscriber mqtt.messages": "2 ok, 0 failed",
      "subscriber second": "2 ok, 0 failed",
      "subscriber once": "1 ok, 0 failed",
    });
    expect(mine.listenerCount("message")).toBe(2);
    expect(mine.emit("message", topic, Buffer.alloc(0), {} as never)).toBe(true);
  });

  test("counts what the client's own handleMessage makes of messages", async () => {
    const mine = await client(server);
    const topic = own();
    mine.handleMessage = (packet, callback) => {
      setTimeout(() => callback(packet.payload.toString() === "bad" ? new Error("no") : undefined), 5);
    };
    const flow = integrationGraph({ app: "shop" });
    flow.attach(mqttSource(mine));
    await mine.subscribeAsync(`${topic}/#`, { qos: 1 });
    mine.publish(`${topic}/a`, "good");
    mine.publish(`${topic}/a`, "bad");
    const numbers = () => picture(flow.graph.snapshot()).nodes["subscriber mqtt.messages"];
    await until(() => numbers() === "1 ok, 1 failed");
    expect(picture(flow.graph.snapshot()).links[`topic ${topic}/# -input-> subscriber mqtt.messages`]).toBe(2);
  });

  test("takes a message once, for the subscription that it fits best", async () => {
    const { own: mine, picture } = await application(server);
    const topic = own();
    let seen = 0;
    mine.on("message", function handle() {
      seen++;
    });
    await mine.subscribeAsync([`${topic}/#`, `${topic}/+/b`, `${topic}/exact`]);
    mine.publish(`${topic}/exact`, "");
    mine.publish(`${topic}/a/b`, "");
    mine.publish(topic, "");
    await until(() => seen === 3);
    expect(picture().links).toMatchObject({
      [`topic ${topic}/# -input-> subscriber handle`]: 2,
      [`topic ${topic}/+/b -input-> subscriber handle`]: 0,
      [`topic ${topic}/exact -input-> subscriber handle`]: 1,
    });
  });

  test("takes MQTT 5, with topics that go by an alias", async () => {
    const options = { protocolVersion: 5, properties: { topicAliasMaximum: 10 }, autoAssignTopicAlias: true } as const;
    const { own: mine, picture } = await application(server, { client: options });
    const topic = own();
    let seen = 0;
    mine.on("message", function handle() {
      seen++;
    });
    await mine.subscribeAsync(`${topic}/+`, { qos: 1, nl: false });
    for (let sent = 0; sent < 3; sent++) await mine.publishAsync(`${topic}/a`, "", { qos: 1 });
    await until(() => seen === 3);
    expect(picture()).toEqual({
      nodes: {
        [`topic ${topic}/+`]: "0 ok, 0 failed",
        [`topic ${topic}/a`]: "3 ok, 0 failed",
        "subscriber handle": "3 ok, 0 failed",
        "gateway shop.producer": expect.any(String),
      },
      links: {
        [`topic ${topic}/+ -input-> subscriber handle`]: 3,
        [`topic ${topic}/a -route-> topic ${topic}/+`]: 3,
        [`gateway shop.producer -output-> topic ${topic}/a`]: 3,
      },
    });
  });

  test("follows subscriptions as they come and go, until the client has ended", async () => {
    const { own: mine, adapter, flow, picture } = await application(server);
    const topic = own();
    const handle = () => {};
    await mine.subscribeAsync(topic);
    expect(picture()).toEqual({ nodes: { [`topic ${topic}`]: "0 ok, 0 failed" }, links: {} });
    mine.on("message", handle);
    expect(picture().links).toEqual({ [`topic ${topic} -input-> subscriber handle`]: 0 });
    await mine.subscribeAsync({ [`${topic}/2`]: { qos: 2 } });
    await mine.unsubscribeAsync(topic);
    await expect(mine.subscribeAsync("not/#/valid")).rejects.toThrow();
    expect(picture().links).toEqual({ [`topic ${topic}/2 -input-> subscriber handle`]: 0 });
    mine.off("message", handle);
    await flow.graph.rebuild();
    expect(picture()).toEqual({ nodes: { [`topic ${topic}/2`]: "0 ok, 0 failed" }, links: {} });
    await mine.subscribeAsync(topic, { qos: 0 });
    await mine.subscribeAsync(topic, { qos: 1 });
    await mine.unsubscribeAsync(topic);
    expect(Object.keys(picture().nodes)).toEqual([`topic ${topic}/2`]);
    mine.on("message", handle);
    mine.publish(`${topic}/2`, "", { qos: 1 });
    await until(() => picture().links[`topic ${topic}/2 -input-> subscriber handle`] === 1);
    mine.off("message", handle);
    await flow.graph.rebuild();
    mine.on("message", handle);
    mine.publish(`${topic}/2`, "", { qos: 1 });
    // A function that came back is a new node.
    await until(() => picture().links[`topic ${topic}/2 -input-> subscriber handle`] === 1);
    const declared = () => flow.graph.snapshot().links.filter((link) => link.declared).length;
    expect(declared()).toBe(1);
    await mine.endAsync();
    expect(Object.keys(picture().nodes)).toEqual(["gateway shop.producer"]);
    expect([
      mine.listenerCount("end"),
      mine.listenerCount("newListener" as "end"),
      Object.hasOwn(mine, "emit"),
    ]).toEqual([0, 0, false]);
    adapter.watch(mine);
  });

  test("leaves alone what another client of the same application needs", async () => {
    const { own: mine, adapter, flow, picture } = await application(server);
    const topic = own();
    const twin = adapter.watch(await client(server));
    for (const each of [mine, twin]) {
      each.on("message", function handle() {});
      await each.subscribeAsync(topic);
    }
    const left = { [`topic ${topic} -input-> subscriber handle`]: 0 };
    await mine.unsubscribeAsync(topic);
    expect(picture().links).toEqual(left);
    mine.removeAllListeners("message");
    await mine.subscribeAsync("other");
    expect(picture().links).toEqual(left);
    await mine.endAsync();
    await flow.graph.rebuild();
    expect(picture().links).toEqual(left);
  });

  test("removes what a client subscribed to once it is not watched any more", async () => {
    const mine = await client(server);
    const name = own();
    mine.on("message", function handle() {});
    await mine.subscribeAsync(`${name}/+`);
    const flow = integrationGraph({ app: "shop" });
    const mqtt = mqttSource(mine);
    flow.attach(mqtt);
    expect(Object.keys(picture(flow.graph.snapshot()).nodes)).toContain("subscriber handle");
    mqtt.unwatch(mine);
    await flow.graph.rebuild();
    expect(picture(flow.graph.snapshot())).toEqual({ nodes: {}, links: {} });
  });

  test("watches what was subscribed to before, and leaves all as it was when detached", async () => {
    const mine = await client(server);
    const topic = own();
    let handled = 0;
    mine.on("message", function handle() {
      handled++;
    });
    await mine.subscribeAsync(topic);
    const before = [Reflect.ownKeys(mine), mine.eventNames(), mine.listeners("message")];
    const flow = integrationGraph({ app: "shop" });
    const detach = flow.attach(mqttSource(mine));
    expect(picture(flow.graph.snapshot()).links).toEqual({ [`topic ${topic} -input-> subscriber handle`]: 0 });
    mine.publish(topic, "");
    await until(() => handled === 1);
    detach();
    detach();
    expect([Reflect.ownKeys(mine), mine.eventNames(), mine.listeners("message")]).toEqual(before);
    expect(picture(flow.graph.snapshot()).links).toEqual({});
    const left = picture(flow.graph.snapshot());
    mine.publish(topic, "");
    await until(() => handled === 2);
    expect(picture(flow.graph.snapshot())).toEqual(left);
    flow.attach(mqttSource(mine));
  });

  test("counts what the client refuses as failed, and tells of it as before", async () => {
    const { own: mine, picture } = await application(server);
    const topic = own();
    const ending = mine.endAsync();
    const errors: unknown[] = [];
    mine.on("error", (error) => errors.push(error.message));
    mine.publish(topic, "");
    await expect(mine.publishAsync(topic, "")).rejects.toThrow("disconnecting");
    mine.subscribe(topic);
    await ending;
    expect(errors).toEqual(["client disconnecting", "client disconnecting"]);
    expect(picture().nodes[`topic ${topic}`]).toBe("0 ok, 2 failed");
  });

  test("takes names that are made up, hostile or endless", async () => {
    const { own: mine, flow, picture } = await application(server, { name: () => undefined });
    mine.on("message", () => {});
    for (const topic of [
      "jobs/0b7e1f3a-2c4d-4e5f-8a9b-0c1d2e3f4a5b",
      "jobs/4e1f0b7a-2c4d-4e5f-8a9b-0c1d2e3f4a5b",
      "a/\u0007bell",
      "__proto__",
      "user:secret@host/x",
      "x".repeat(1_000),
    ]) {
      mine.publish(topic, "");
    }
    await mine.subscribeAsync("__proto__", { qos: 1 }).catch(() => {});
    await mine.publishAsync("last", "", { qos: 1 });
    const names = Object.keys(picture().nodes);
    expect(names).toContain("topic jobs/*");
    expect(picture().nodes["topic jobs/*"]).toBe("2 ok, 0 failed");
    expect(names.filter((name) => name.includes("bell") || name.length > 300)).toEqual([]);
    expect(names).toContain("topic last");
    expect(flow.graph.snapshot().nodes.length).toBe(names.length);
  });

  test("shows so many topics that only messages tell of, and counts the others where they fit", async () => {
    const { own: mine, flow } = await application(server);
    const topic = own();
    let seen = 0;
    mine.on("message", function wild() {
      seen++;
    });
    await mine.subscribeAsync(`${topic}/+`);
    for (let id = 0; id < 250; id++) mine.publish(`plain/${word(id)}`, "");
    for (let id = 0; id < 50; id++) mine.publish(`${topic}/${id}`, "");
    await until(() => seen === 50);
    const { nodes, links } = picture(flow.graph.snapshot());
    expect(Object.keys(nodes).filter((name) => name.startsWith("topic plain/"))).toHaveLength(200);
    expect(nodes["topic #"]).toBe("50 ok, 0 failed");
    expect(nodes[`topic ${topic}/+`]).toBe("50 ok, 0 failed");
    expect(links[`topic ${topic}/+ -input-> subscriber wild`]).toBe(50);
  });

  test("makes one graph of two applications and two instances", async () => {
    const topic = own();
    const shop = await application(server);
    const billing = await application(server, { app: "billing" });
    const twin = await application(server, { app: "billing" });
    for (const { own } of [billing, twin]) {
      own.on("message", function bill() {});
      await own.subscribeAsync(`$share/g/${topic}/+`);
    }
    for (let sent = 0; sent < 10; sent++) shop.own.publish(`${topic}/new`, "");
    const merged = () =>
      picture(
        mergeGraphs([
          { instance: "shop-1", graph: shop.flow.graph.snapshot() },
          { instance: "billing-1", graph: billing.flow.graph.snapshot() },
          { instance: "billing-2", graph: twin.flow.graph.snapshot() },
        ]),
      );
    await until(() => merged().links[`topic ${topic}/+ -input-> subscriber bill`] === 10);
    expect(merged()).toEqual({
      nodes: {
        "gateway shop.producer": expect.any(String),
        [`topic ${topic}/new`]: "10 ok, 0 failed",
        [`topic ${topic}/+`]: "0 ok, 0 failed",
        "subscriber bill": "10 ok, 0 failed",
      },
      links: {
        [`gateway shop.producer -output-> topic ${topic}/new`]: 10,
        [`topic ${topic}/new -route-> topic ${topic}/+`]: 10,
        [`topic ${topic}/+ -input-> subscriber bill`]: 10,
      },
    });
  });

  test("refuses what is no client, and what is watched already", async () => {
    const { own: mine, adapter, flow } = await application(server);
    // @ts-expect-error: whatever an application without types gives.
    expect(() => mqttSource({ publish() {} })).toThrow(ActuatorError);
    // @ts-expect-error
    expect(() => adapter.watch(null)).toThrow(ActuatorError);
    expect(() => adapter.watch(mine)).toThrow("watched");
    expect(() => flow.attach(mqttSource(mine))).toThrow("watched");
    expect(() => flow.attach(adapter)).toThrow("attached already");
  });

  test("adds only topology where another adapter counts the messages", async () => {
    const mine = await client(server);
    const topic = own();
    const flow = integrationGraph({ app: "shop" });
    flow.attach({ name: "other", attach: (host) => (host.counts("mqtt") ? () => {} : thrown()) });
    flow.attach(mqttSource(mine));
    let seen = 0;
    mine.on("message", function handle() {
      seen++;
    });
    await mine.subscribeAsync(`${topic}/+`);
    mine.publish(`${topic}/a`, "");
    await until(() => seen === 1);
    expect(picture(flow.graph.snapshot())).toEqual({
      nodes: { [`topic ${topic}/+`]: "0 ok, 0 failed", "subscriber handle": "0 ok, 0 failed" },
      links: { [`topic ${topic}/+ -input-> subscriber handle`]: 0 },
    });
  });

  test("knows the broker by its address, whatever the options call it", () => {
    const addresses: readonly [options: object, key: string][] = [
      [{ host: "Broker", port: 1 }, "channel:mqtt:broker%3A1:topic:will"],
      [{ hostname: "h", protocol: "mqtts" }, "channel:mqtt:h%3A8883:topic:will"],
      [
        {
          servers: [
            { host: "first", port: 2 },
            { host: "second", port: 3 },
          ],
        },
        "channel:mqtt:first%3A2:topic:will",
      ],
      [{ host: "::2" }, "channel:mqtt:[%3A%3A2]%3A1883:topic:will"],
      [{ host: "::1" }, "channel:mqtt:127.0.0.1%3A1883:topic:will"],
      [{ host: "localhost" }, "channel:mqtt:127.0.0.1%3A1883:topic:will"],
    ];
    for (const [options, key] of addresses) {
      const flow = integrationGraph({ app: "shop" });
      const idle = new MqttClient(() => thrown(), {
        manualConnect: true,
        will: { topic: "will", payload: "" },
        ...options,
      } as never);
      flow.attach(mqttSource(idle));
      expect(nodeOf(flow.graph.snapshot(), "topic will").key).toBe(key);
    }
  });
});

describe.runIf(requirement("mosquitto", mosquittoFound))("a broker that is killed", () => {
  test("costs no numbers: subscriptions go on, and what was sent meanwhile counts once", async () => {
    const broker = await startMosquitto();
    const { own: mine, flow, picture } = await application(broker);
    let seen = 0;
    mine.on("message", function handle() {
      seen++;
    });
    await mine.subscribeAsync("orders/+", { qos: 1 });
    await mine.publishAsync("orders/1", "", { qos: 1 });
    await until(() => seen === 1);
    const ids = () => flow.graph.snapshot().nodes.map(({ nodeId }) => nodeId);
    const before = ids();
    const closed = new Promise((resolve) => mine.once("close", resolve as () => void));
    await broker.kill();
    await closed;
    const meanwhile = mine.publishAsync("orders/1", "", { qos: 1 });
    await flow.graph.rebuild();
    expect(picture().links["topic orders/+ -input-> subscriber handle"]).toBe(1);
    const again = new Promise((resolve) => mine.once("connect", resolve as () => void));
    await broker.restart();
    await again;
    await meanwhile;
    await mine.publishAsync("orders/1", "", { qos: 1 });
    await until(() => seen >= 2);
    expect(picture().nodes["topic orders/1"]).toBe("3 ok, 0 failed");
    expect(picture().nodes["subscriber handle"]).toBe(`${seen} ok, 0 failed`);
    expect(ids()).toEqual(before);
    await broker.stop();
  });
});

function thrown(): never {
  throw new Error("no");
}

function tick(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
