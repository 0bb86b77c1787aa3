import { jetstream } from "@nats-io/jetstream";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { natsSource } from "../../../../src/adapters/graph/nats/index.ts";
import { ActuatorError } from "../../../../src/common/error.ts";
import { integrationGraph } from "../../../../src/integration-graph/builder.ts";
import { mergeGraphs } from "../../../../src/integration-graph/merge.ts";
import { type NatsServer, natsFound, startNats } from "../../../support/nats-server.ts";
import { requirement } from "../../../support/requirement.ts";
import { word } from "../../../support/word.ts";
import { application, awaited, connection, nodeOf, ownServer, picture, until } from "./support.ts";

let server: NatsServer;

describe.runIf(requirement("nats-server", natsFound))("nats", () => {
  beforeAll(async () => {
    server = await startNats({ serverName: "main" });
  });
  afterAll(() => server?.stop());

  test("draws a whole application", async () => {
    const { nc, picture } = await application(server);
    const quoted = Promise.withResolvers<void>();
    nc.subscribe("orders.*", {
      queue: "billing",
      callback: awaited(async function charge(_error, message) {
        await Promise.resolve();
        if (message.string() === "bad") throw new Error("no");
        await nc.request("quote", "secret");
        setTimeout(() => {
          nc.publish("payments", "secret");
          quoted.resolve();
        }, 5);
      }),
    });
    nc.subscribe("quote", { callback: (_error, message) => void message.respond("1") });
    const audit = nc.subscribe("orders.>");
    nc.subscribe("payments", { queue: "ledger" });
    expect(picture()).toEqual({
      nodes: {
        "subject orders.*": "0 ok, 0 failed",
        "subject orders.>": "0 ok, 0 failed",
        "subject quote": "0 ok, 0 failed",
        "subject payments": "0 ok, 0 failed",
        "subscriber charge": "0 ok, 0 failed",
        "subscriber quote.subscriber": "0 ok, 0 failed",
        "subscriber orders.>.subscriber": "0 ok, 0 failed",
        "subscriber ledger.subscriber": "0 ok, 0 failed",
      },
      links: {
        "subject orders.* -input-> subscriber charge": 0,
        "subject orders.> -input-> subscriber orders.>.subscriber": 0,
        "subject quote -input-> subscriber quote.subscriber": 0,
        "subject payments -input-> subscriber ledger.subscriber": 0,
      },
    });

    const others = process.listeners("unhandledRejection");
    process.removeAllListeners("unhandledRejection");
    const unhandled: unknown[] = [];
    process.on("unhandledRejection", (reason) => unhandled.push(reason));
    nc.publish("orders.new", "good");
    nc.publish("orders.new", "bad");
    const seen: string[] = [];
    for await (const message of audit) if (seen.push(message.subject) === 2) break;
    await quoted.promise;
    await nc.flush();
    await until(() => unhandled.length === 1);
    process.removeAllListeners("unhandledRejection");
    for (const other of others) process.on("unhandledRejection", other);
    expect(picture()).toEqual({
      nodes: {
        "subject orders.*": "0 ok, 0 failed",
        "subject orders.>": "0 ok, 0 failed",
        "subject orders.new": "2 ok, 0 failed",
        "subject quote": "1 ok, 0 failed",
        "subject payments": "1 ok, 0 failed",
        "subject _INBOX.*": "1 ok, 0 failed",
        "subscriber charge": "1 ok, 1 failed",
        "subscriber quote.subscriber": "1 ok, 0 failed",
        "subscriber orders.>.subscriber": "2 ok, 0 failed",
        "subscriber ledger.subscriber": "0 ok, 0 failed",
        "gateway shop.producer": expect.any(String),
      },
      links: {
        "gateway shop.producer -output-> subject orders.new": 2,
        "subject orders.new -route-> subject orders.*": 2,
        "subject orders.new -route-> subject orders.>": 2,
        "subject orders.* -input-> subscriber charge": 2,
        "subject orders.> -input-> subscriber orders.>.subscriber": 2,
        "subject quote -input-> subscriber quote.subscriber": 1,
        "subject payments -input-> subscriber ledger.subscriber": 0,
        "subscriber charge -output-> subject quote": 1,
        "subscriber charge -output-> subject payments": 1,
        "subscriber quote.subscriber -output-> subject _INBOX.*": 1,
      },
    });
  });

  describe("a callback", () => {
    const cases: readonly [title: string, act: () => unknown, ok: number, failed: number][] = [
      ["that returns", () => {}, 1, 0],
      ["that is fulfilled", () => tick(), 1, 0],
      ["that rejects", () => tick().then(thrown).catch(ignored), 1, 0],
      // The library reads no more from the connection after this.
      ["that throws", () => thrown(), 0, 1],
    ];
    test.each(cases)("%s", async (_, act, ok, failed) => {
      const { nc, flow } = await application(server);
      const other = await connection(server);
      nc.subscribe("work", {
        callback: function handle() {
          return act() as undefined;
        },
      });
      await nc.flush();
      other.publish("work");
      const timers = () => nodeOf(flow.graph.snapshot(), "subscriber handle").sendTimers!;
      await until(() => timers().successes.count + timers().failures.count === 1);
      expect([timers().successes.count, timers().failures.count]).toEqual([ok, failed]);
      expect(picture(flow.graph.snapshot()).links).toEqual({ "subject work -input-> subscriber handle": 1 });
    });
  });

  test("counts a request once: as failed where nobody answers", async () => {
    const { nc, picture } = await application(server);
    nc.subscribe("silent", { callback: () => {} });
    nc.subscribe("answering", { callback: (_error, message) => void message.respond("1") });
    await nc.request("answering", "");
    await nc.request("answering", "", { noMux: true, timeout: 1_000 });
    await expect(nc.request("silent", "", { timeout: 50 })).rejects.toThrow();
    await expect(nc.request("nobody", "")).rejects.toThrow();
    await expect(nc.request("nobody there", "")).rejects.toThrow();
    const answers = [];
    for await (const answer of await nc.requestMany("answering", "", { maxWait: 50 })) answers.push(answer);
    expect(answers).toHaveLength(1);
    expect(picture().nodes).toEqual({
      "subject silent": "0 ok, 1 failed",
      "subject answering": "3 ok, 0 failed",
      "subject nobody": "0 ok, 1 failed",
      "subject nobody there": "0 ok, 1 failed",
      "subject _INBOX.*": "3 ok, 0 failed",
      "subscriber silent.subscriber": "1 ok, 0 failed",
      "subscriber answering.subscriber": "3 ok, 0 failed",
      "gateway shop.producer": expect.any(String),
    });
  });

  test("lets the process hear of failed requests that nobody waits for where it did before, and nowhere else", async () => {
    const plain = await connection(server);
    const { nc: watched } = await application(server);
    const others = process.listeners("unhandledRejection");
    process.removeAllListeners("unhandledRejection");
    const unhandled: unknown[] = [];
    process.on("unhandledRejection", (reason) => unhandled.push(reason));
    const heard: number[] = [];
    for (const nc of [plain, watched]) {
      const requests: readonly (() => unknown)[] = [
        () => nc.request("nobody"),
        () => nc.request("nobody", "", { noMux: true, timeout: 1_000 }),
        () => nc.request("", ""),
        () => nc.request("nobody", 1 as never),
        () => nc.requestMany("", ""),
      ];
      for (const request of requests) {
        unhandled.length = 0;
        request();
        await nc.flush();
        await tick();
        heard.push(unhandled.length);
      }
    }
    process.removeAllListeners("unhandledRejection");
    for (const other of others) process.on("unhandledRejection", other);
    expect(heard.slice(5)).toEqual(heard.slice(0, 5));
    expect(heard.slice(0, 3)).toEqual([0, 1, 1]);
  });

  test("counts what the library refuses as failed, and throws the same", async () => {
    const { nc, picture } = await application(server);
    expect(() => nc.publish("work", 1 as never)).toThrow(TypeError);
    nc.publishMessage({ subject: "work", data: new Uint8Array() } as never);
    nc.respondMessage({ reply: "answers", data: new Uint8Array() } as never);
    await nc.drain();
    expect(() => nc.publish("work")).toThrow();
    // A closed connection is no longer watched.
    expect(picture().nodes).toEqual({
      "subject work": "1 ok, 1 failed",
      "subject answers": "1 ok, 0 failed",
      "gateway shop.producer": expect.any(String),
    });
  });

  test("watches subscriptions from before it was attached, and leaves all as it was when detached", async () => {
    const nc = await connection(server);
    let handled = 0;
    const callback = () => void handled++;
    const early = nc.subscribe("early", { callback });
    const loop = nc.subscribe("loop");
    const objects = [nc, Reflect.get(nc, "protocol"), early, loop] as object[];
    const keys = () => objects.map((object) => Reflect.ownKeys(object));
    const before = keys();
    const flow = integrationGraph({ app: "shop" });
    const detach = flow.attach(natsSource(nc));
    const late = nc.subscribe("late", { callback });
    nc.publish("early");
    nc.publish("late");
    await nc.flush();
    expect(picture(flow.graph.snapshot()).links).toEqual({
      "gateway shop.producer -output-> subject early": 1,
      "gateway shop.producer -output-> subject late": 1,
      "subject early -input-> subscriber early.subscriber": 1,
      "subject late -input-> subscriber late.subscriber": 1,
      "subject loop -input-> subscriber loop.subscriber": 0,
    });
    detach();
    detach();
    expect(keys()).toEqual(before);
    expect(Reflect.get(early, "callback")).toBe(callback);
    expect(Reflect.get(late, "callback")).toBe(callback);
    const left = picture(flow.graph.snapshot());
    nc.publish("early");
    nc.publish("loop");
    for await (const _ of loop) break;
    expect(handled).toBe(3);
    expect(picture(flow.graph.snapshot())).toEqual(left);
    flow.attach(natsSource(nc));
    expect(Object.keys(picture(flow.graph.snapshot()).nodes)).toContain("subject late");
  });

  test("gives back what somebody else has wrapped since", async () => {
    const { nc, detach, picture } = await application(server);
    const ours = nc.publish;
    const calls: string[] = [];
    nc.publish = function (this: typeof nc, subject, ...rest) {
      calls.push(subject);
      return Reflect.apply(ours, this, [subject, ...rest]);
    };
    detach();
    nc.publish("work");
    expect(calls).toEqual(["work"]);
    expect(picture().nodes).toEqual({});
  });

  test("names subscribers as the application says", async () => {
    const consumptions: unknown[] = [];
    const { nc, picture } = await application(server, {
      name: (consumption) => {
        consumptions.push(consumption);
        return consumption.queue === "named" ? "the one" : undefined;
      },
    });
    nc.subscribe("a", { queue: "named", callback: () => {} });
    nc.subscribe("b", { queue: "named" });
    nc.subscribe("c", { callback: function bill() {} });
    expect(picture().links).toEqual({
      "subject a -input-> subscriber the one": 0,
      "subject b -input-> subscriber the one": 0,
      "subject c -input-> subscriber bill": 0,
    });
    expect(consumptions[0]).toEqual({
      subject: "a",
      queue: "named",
      stream: undefined,
      consumer: undefined,
      functionName: "",
    });
  });

  test("takes names that are made up, hostile or endless", async () => {
    const { nc, picture, flow } = await application(server);
    const long = "x".repeat(1_000);
    for (const subject of [
      "jobs.0b7e1f3a-2c4d-4e5f-8a9b-0c1d2e3f4a5b",
      "jobs.4e1f0b7a-2c4d-4e5f-8a9b-0c1d2e3f4a5b",
      "replies.Q7ZV3KX0A1B2C3D4E5F6G7.1",
      "replies.A7ZV3KX0A1B2C3D4E5F6G7.2",
      "$KV.sessions.user1",
      "$KV.sessions.user2",
      "a.\u0007bell",
      "__proto__",
      "user:secret@host.x",
      long,
    ]) {
      nc.subscribe(subject, { callback: () => {} });
      nc.publish(subject, "");
    }
    await nc.flush();
    const { nodes } = picture();
    expect(Object.keys(nodes).filter((name) => name.startsWith("subject "))).toEqual([
      "subject jobs.*",
      "subject replies.*",
      "subject $KV.sessions.>",
      "subject __proto__",
      "subject user:secret@host.x",
    ]);
    expect(nodes["subject jobs.*"]).toBe("2 ok, 0 failed");
    expect(JSON.stringify(flow.graph.snapshot())).not.toContain("user1");
  });

  test("shows so many subjects that only messages tell of, and counts the others where they fit", async () => {
    const { nc, flow } = await application(server);
    nc.subscribe("wild.*", { callback: function wild() {} });
    for (let id = 0; id < 250; id++) nc.publish(`plain.${word(id)}`);
    for (let id = 0; id < 50; id++) nc.publish(`wild.${id}`);
    await nc.flush();
    const { nodes, links } = picture(flow.graph.snapshot());
    expect(Object.keys(nodes).filter((name) => name.startsWith("subject plain."))).toHaveLength(200);
    expect(nodes["subject >"]).toBe("50 ok, 0 failed");
    expect(nodes["subject wild.*"]).toBe("50 ok, 0 failed");
    expect(links["subject wild.* -input-> subscriber wild"]).toBe(50);
    await flow.graph.rebuild();
    nc.publish("another");
    expect(picture(flow.graph.snapshot()).nodes["subject another"]).toBe("1 ok, 0 failed");
  });

  test("drops with a rebuild what nobody subscribes to any more", async () => {
    const { nc, flow, picture } = await application(server);
    const one = nc.subscribe("work", { queue: "w" });
    const other = nc.subscribe("work", { queue: "w" });
    one.unsubscribe();
    for await (const _ of one) break;
    await flow.graph.rebuild();
    expect(picture().links).toEqual({ "subject work -input-> subscriber w.subscriber": 0 });
    await other.drain();
    for await (const _ of other) break;
    await flow.graph.rebuild();
    expect(picture()).toEqual({ nodes: {}, links: {} });
  });

  test("makes one graph of two applications and two instances", async () => {
    const shop = await application(server);
    const billing = await application(server, {}, "billing");
    const twin = await application(server, {}, "billing");
    for (const { nc } of [billing, twin]) {
      nc.subscribe("orders.*", { queue: "q1", callback: function bill() {} });
      await nc.flush();
    }
    for (let sent = 0; sent < 10; sent++) shop.nc.publish("orders.new");
    const handled = () => picture(merged()).links["subject orders.* -input-> subscriber bill"] === 10;
    const merged = () =>
      mergeGraphs([
        { instance: "shop-1", graph: shop.flow.graph.snapshot() },
        { instance: "billing-1", graph: billing.flow.graph.snapshot() },
        { instance: "billing-2", graph: twin.flow.graph.snapshot() },
      ]);
    await until(handled);
    expect(picture(merged())).toEqual({
      nodes: {
        "gateway shop.producer": expect.any(String),
        "subject orders.new": "10 ok, 0 failed",
        "subject orders.*": "0 ok, 0 failed",
        "subscriber bill": "10 ok, 0 failed",
      },
      links: {
        "gateway shop.producer -output-> subject orders.new": 10,
        "subject orders.new -route-> subject orders.*": 10,
        "subject orders.* -input-> subscriber bill": 10,
      },
    });
  });

  test("knows the broker by its cluster's name, its own, or else its address, which is the same after a restart", async () => {
    for (const [options, identity] of [
      [{ args: ["--cluster_name", "c1"], serverName: "n1" }, "c1"],
      [{ serverName: "n1" }, "n1"],
      [{}, undefined],
    ] as const) {
      const server = await ownServer(options);
      const { nc, flow } = await application(server);
      nc.subscribe("a.b");
      const broker = identity ?? `127.0.0.1%3A${server.port}`;
      expect(nodeOf(flow.graph.snapshot(), "subject a.b").key).toBe(`channel:nats:${broker}:subject:a.b`);
      await nc.close();
      await server.kill();
      await server.restart();
      const again = await application({ ...server, url: `localhost:${server.port}` });
      again.nc.subscribe("a.b");
      expect(nodeOf(again.flow.graph.snapshot(), "subject a.b").key).toBe(`channel:nats:${broker}:subject:a.b`);
    }
  });

  test("refuses what is no connection, and what is watched already", async () => {
    const { nc, adapter, flow } = await application(server);
    // @ts-expect-error: whatever an application without types gives.
    expect(() => natsSource({ publish() {} })).toThrow(ActuatorError);
    // @ts-expect-error
    expect(() => adapter.watch(null)).toThrow(ActuatorError);
    expect(() => adapter.watch(nc)).toThrow("watched");
    expect(() => flow.attach(natsSource(nc))).toThrow("watched");
    expect(() => flow.attach(natsSource(jetstream(nc)))).toThrow("watched");
    expect(() => flow.attach(adapter)).toThrow("attached already");
  });

  test("adds only topology where another adapter counts the messages", async () => {
    const nc = await connection(server);
    const flow = integrationGraph({ app: "shop" });
    flow.attach({ name: "other", attach: (host) => (host.counts("nats") ? () => {} : ignored) });
    flow.attach(natsSource(nc));
    nc.subscribe("work.*", { callback: (_error, message) => void message.respond("") });
    await nc.request("work.a", "");
    expect(picture(flow.graph.snapshot())).toEqual({
      nodes: { "subject work.*": "0 ok, 0 failed", "subscriber work.*.subscriber": "0 ok, 0 failed" },
      links: { "subject work.* -input-> subscriber work.*.subscriber": 0 },
    });
  });
});

function thrown(): never {
  throw new Error("no");
}

function ignored(): void {}

function tick(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
