import { AckPolicy, type ConsumerMessages, type JsMsg, jetstream, jetstreamManager } from "@nats-io/jetstream";
import { Svcm } from "@nats-io/services";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { natsSource } from "../../../../src/adapters/graph/nats/index.ts";
import { integrationGraph } from "../../../../src/integration-graph/builder.ts";
import { type NatsServer, natsFound, startNats } from "../../../support/nats-server.ts";
import { requirement } from "../../../support/requirement.ts";
import { awaited, connection, nodeOf, picture, until } from "./support.ts";

let server: NatsServer;
let made = 0;

/** An application with a stream of its own, `S1`, that takes `s1.*`, and a durable consumer `work`. */
async function setUp(ack: AckPolicy = AckPolicy.Explicit) {
  const nc = await connection(server);
  const [js, jsm] = [jetstream(nc), await jetstreamManager(nc)];
  const stream = `S${++made}`;
  const subject = `s${made}.new`;
  await jsm.streams.add({ name: stream, subjects: [`s${made}.*`] });
  await jsm.consumers.add(stream, { durable_name: "work", ack_policy: ack, filter_subject: subject });
  const flow = integrationGraph({ app: "shop" });
  const adapter = natsSource([js, nc]);
  const detach = flow.attach(adapter);
  await flow.graph.rebuild();
  /** The graph without the streams of other tests. */
  function mine() {
    const { nodes, links } = picture(flow.graph.snapshot());
    const own = ([name]: [string, unknown]) =>
      !/\b[Ss]\d+\b/.test(name) ||
      name.toUpperCase().includes(`${stream}.`) ||
      name.endsWith(` ${stream}`) ||
      name.includes(` ${stream} `);
    const short = (name: string) => name.replaceAll(stream, "S").replaceAll(stream.toLowerCase(), "s");
    const all = (entries: object) =>
      Object.fromEntries(
        Object.entries(entries)
          .filter(own)
          .map(([name, value]) => [short(name), value]),
      );
    return { nodes: all(nodes), links: all(links) };
  }
  return { nc, js, jsm, stream, subject, flow, adapter, detach, mine };
}

describe.runIf(requirement("nats-server", natsFound))("JetStream", () => {
  beforeAll(async () => {
    server = await startNats({ args: ["--cluster_name", "main"] });
  });
  afterAll(() => server?.stop());

  test("draws streams and consumers before any message, and what goes through them after", async () => {
    const { nc, js, stream, subject, mine, flow } = await setUp();
    const declared = {
      "subject s.* -route-> stream S": 0,
      "stream S -route-> consumer S.work": 0,
    };
    expect(mine()).toEqual({
      nodes: { "subject s.*": "0 ok, 0 failed", "stream S": "0 ok, 0 failed", "consumer S.work": "0 ok, 0 failed" },
      links: declared,
    });
    const consumer = await js.consumers.get(stream, "work");
    const messages = await consumer.consume({
      callback: awaited(async function handle(message) {
        await Promise.resolve();
        nc.publish("done", "");
        message.ack();
      }),
    });
    expect(mine().links).toEqual({ ...declared, "consumer S.work -input-> subscriber handle": 0 });
    await js.publish(subject, "secret", { msgID: "1" });
    await js.publish(subject, "secret");
    await js.publish(subject, "secret", { msgID: "1" });
    const timers = () => nodeOf(flow.graph.snapshot(), "subscriber handle").sendTimers!;
    await until(() => timers().successes.count === 2);
    await expect(js.publish("nobody.here", "", { timeout: 200 })).rejects.toThrow();
    expect(mine()).toEqual({
      nodes: {
        "subject s.*": "0 ok, 0 failed",
        "stream S": "0 ok, 0 failed",
        "consumer S.work": "0 ok, 0 failed",
        "subscriber handle": "2 ok, 0 failed",
        "subject s.new": "3 ok, 0 failed",
        "subject done": "2 ok, 0 failed",
        "subject nobody.here": "0 ok, 1 failed",
        "gateway shop.producer": expect.any(String),
      },
      links: {
        "subject s.* -route-> stream S": 0,
        "subject s.new -route-> stream S": 2,
        "stream S -route-> consumer S.work": 2,
        "consumer S.work -input-> subscriber handle": 2,
        "subscriber handle -output-> subject done": 2,
        "gateway shop.producer -output-> subject s.new": 3,
        "gateway shop.producer -output-> subject nobody.here": 1,
      },
    });
    expect(JSON.stringify(flow.graph.snapshot())).not.toContain("secret");
    await messages.close();
    await flow.graph.rebuild();
    expect(nodeOf(flow.graph.snapshot(), `consumer ${stream}.work`).properties).toMatchObject({
      filterSubject: subject,
      ackPolicy: "explicit",
      pending: 0,
    });
    expect(nodeOf(flow.graph.snapshot(), `stream ${stream}`).properties).toMatchObject({
      storage: "file",
      messages: 2,
    });
  });

  describe("a message", () => {
    type Read = (messages: ConsumerMessages) => Promise<unknown>;
    const each =
      (act: (message: JsMsg) => unknown): Read =>
      async (messages) => {
        for await (const message of messages) await act(message);
      };
    const cases: readonly [title: string, read: Read, ok: number, failed: number][] = [
      ["that is acknowledged", each((message) => message.ack()), 1, 0],
      [
        "that is acknowledged twice, and refused",
        each((message) => [message.ack(), message.ack(), message.nak()]),
        1,
        0,
      ],
      ["that is acknowledged and waited for", each((message) => message.ackAck()), 1, 0],
      ["that is worked on for longer", each((message) => [message.working(), message.ack()]), 1, 0],
      ["that is refused for good", each((message) => message.term()), 0, 1],
      ["that is refused once", each((m) => (m.redelivered ? m.ack() : m.nak())), 1, 1],
      ["whose loop throws", (messages) => each(thrown)(messages).catch(() => {}), 0, 1],
      ["that is acknowledged later", each((message) => void setTimeout(() => message.ack(), 20)), 1, 0],
    ];
    test.each(cases)("%s", async (_, read, ok, failed) => {
      const { js, stream, subject, flow } = await setUp();
      const consumer = await js.consumers.get(stream, "work");
      const messages = await consumer.consume();
      const reading = read(messages);
      await js.publish(subject, "");
      const timers = () => nodeOf(flow.graph.snapshot(), "subscriber work.consumer").sendTimers!;
      await until(() => timers().successes.count + timers().failures.count === ok + failed);
      await messages.close();
      await reading;
      expect([timers().successes.count, timers().failures.count]).toEqual([ok, failed]);
      expect(picture(flow.graph.snapshot()).links[`stream ${stream} -route-> consumer ${stream}.work`]).toBe(
        ok + failed,
      );
    });

    test("to a callback that rejects", async () => {
      const { js, stream, subject, flow } = await setUp();
      const others = process.listeners("unhandledRejection");
      process.removeAllListeners("unhandledRejection");
      const unhandled: unknown[] = [];
      process.on("unhandledRejection", (reason) => unhandled.push(reason));
      const consumer = await js.consumers.get(stream, "work");
      await consumer.consume({
        callback: awaited(async function handle(message) {
          await Promise.resolve();
          if (!message.redelivered) thrown();
          message.ack();
        }),
      });
      await js.publish(subject, "");
      await until(() => unhandled.length === 1);
      process.removeAllListeners("unhandledRejection");
      for (const other of others) process.on("unhandledRejection", other);
      expect(picture(flow.graph.snapshot()).nodes["subscriber handle"]).toBe("0 ok, 1 failed");
    });

    test("to a callback that fails though it has acknowledged", async () => {
      const { js, stream, subject, flow } = await setUp();
      const consumer = await js.consumers.get(stream, "work");
      const messages = await consumer.consume({
        callback: function handle(message) {
          message.ack();
          thrown();
        },
      });
      await js.publish(subject, "");
      await messages.closed();
      expect(picture(flow.graph.snapshot()).nodes["subscriber handle"]).toBe("0 ok, 1 failed");
    });

    test("that is fetched, or taken alone", async () => {
      const { js, stream, subject, mine, flow } = await setUp();
      const consumer = await js.consumers.get(stream, "work");
      for (let sent = 0; sent < 4; sent++) await js.publish(subject, "");
      for await (const message of await consumer.fetch({ max_messages: 2, expires: 1_000 })) message.ack();
      await flow.graph.rebuild();
      (await consumer.next({ expires: 1_000 }))!.ack();
      (await consumer.next({ expires: 1_000 }))!.term();
      expect(await consumer.next({ expires: 1_000 })).toBeNull();
      expect(mine().links["consumer S.work -input-> subscriber work.consumer"]).toBe(4);
      expect(mine().nodes["subscriber work.consumer"]).toBe("3 ok, 1 failed");
      expect(Object.keys(mine().nodes).filter((name) => name.startsWith("subscriber"))).toHaveLength(1);
    });

    test("that nobody has to acknowledge", async () => {
      const { js, stream, subject, mine } = await setUp(AckPolicy.None);
      await js.publish(subject, "");
      await js.publish(subject, "");
      const named = await js.consumers.get(stream, "work");
      for await (const _ of await named.fetch({ max_messages: 1, expires: 1_000 }));
      const ordered = await js.consumers.get(stream);
      for await (const _ of await ordered.fetch({ max_messages: 2, expires: 1_000 }));
      expect(mine().nodes["subscriber work.consumer"]).toBe("1 ok, 0 failed");
      expect(mine().nodes["subscriber S.consumer"]).toBe("2 ok, 0 failed");
      expect(mine().links["stream S -input-> subscriber S.consumer"]).toBe(2);
    });
  });

  test("counts the messages of a push consumer once", async () => {
    const { js, jsm, stream, subject, mine } = await setUp();
    await jsm.consumers.add(stream, {
      durable_name: "push",
      ack_policy: AckPolicy.Explicit,
      deliver_subject: `to.${stream}`,
    });
    const consumer = await js.consumers.getPushConsumer(stream, "push");
    let handled = 0;
    await consumer.consume({
      callback: function pushed(message) {
        message.ack();
        handled++;
      },
    });
    await js.publish(subject, "");
    await until(() => handled === 1);
    expect(mine().nodes["subscriber pushed"]).toBe("1 ok, 0 failed");
    expect(Object.keys(mine().nodes).filter((name) => name.startsWith("subscriber"))).toEqual(["subscriber pushed"]);
  });

  test.each(["client", "manager"])("that is given as a %s stands for every client of its connection", async (given) => {
    const { nc, js, jsm, stream, subject, adapter, mine, flow, detach } = await setUp();
    // The source has the client already; a manager alone is watched in its place.
    if (given === "manager") {
      detach();
      flow.attach(natsSource([nc, jsm]));
      await flow.graph.rebuild();
    } else adapter.watch(jsm);
    let handled = 0;
    const consumer = await jetstream(nc).consumers.get(stream, "work");
    await consumer.consume({
      callback: function handle(message) {
        message.ack();
        handled++;
      },
    });
    for (const client of [js, jetstream(nc), jsm.jetstream()]) await client.publish(subject, "");
    await until(() => handled === 3);
    expect(mine().nodes).toMatchObject({ "subject s.new": "3 ok, 0 failed", "subscriber handle": "3 ok, 0 failed" });
    expect(mine().links).toMatchObject({
      "subject s.new -route-> stream S": 3,
      "stream S -route-> consumer S.work": 3,
      "consumer S.work -input-> subscriber handle": 3,
    });
    const elsewhere = jetstream(await connection(server));
    await elsewhere.publish(subject, "");
    await until(() => handled === 4);
    expect(mine().nodes).toMatchObject({ "subject s.new": "3 ok, 0 failed", "subscriber handle": "4 ok, 0 failed" });
  });

  test("leaves clients and consumers as they were when detached", async () => {
    const { nc, js, stream, subject, detach, flow } = await setUp();
    const prototypes = [js, js.consumers].map((object) => Object.getPrototypeOf(object));
    const consumer = await js.consumers.get(stream, "work");
    const messages = await consumer.consume();
    const watched = [prototypes[0].publish, prototypes[1].get];
    detach();
    expect([prototypes[0].publish, prototypes[1].get]).not.toEqual(watched);
    const other = jetstream(nc);
    const plain = await other.consumers.get(stream, "work");
    expect(Reflect.ownKeys(js)).toEqual(Reflect.ownKeys(other));
    expect(Reflect.ownKeys(js.consumers)).toEqual(Reflect.ownKeys(other.consumers));
    expect(Reflect.ownKeys(consumer)).toEqual(Reflect.ownKeys(plain));
    expect(Reflect.ownKeys(messages)).toEqual(Reflect.ownKeys(await plain.consume()));
    const left = picture(flow.graph.snapshot());
    await js.publish(subject, "");
    expect(picture(flow.graph.snapshot())).toEqual(left);
  });

  test("draws streams that have their messages from others", async () => {
    const { jsm, stream, flow } = await setUp();
    await jsm.consumers.add(stream, {
      name: "passing",
      ack_policy: AckPolicy.None,
      inactive_threshold: 60_000_000_000,
    });
    await jsm.streams.add({ name: `M${stream}`, mirror: { name: stream } });
    await jsm.streams.add({ name: `A${stream}`, sources: [{ name: stream }] });
    await flow.graph.rebuild();
    const { links } = picture(flow.graph.snapshot());
    expect(links).toMatchObject({
      [`stream ${stream} -route-> stream M${stream}`]: 0,
      [`stream ${stream} -route-> stream A${stream}`]: 0,
    });
    expect(Object.keys(links).filter((link) => link.startsWith(`stream ${stream} -route-> consumer`))).toHaveLength(1);
    await jsm.streams.delete(`M${stream}`);
    await flow.graph.rebuild();
    expect(Object.keys(picture(flow.graph.snapshot()).nodes)).not.toContain(`stream M${stream}`);
  });
});

describe.runIf(requirement("nats-server", natsFound))("services", () => {
  test("are asked for their endpoints: each is one node, whatever its instances", async () => {
    const own = await startNats();
    const [ours, theirs, twin] = [await connection(own), await connection(own), await connection(own)];
    const failed: unknown[] = [];
    const flow = integrationGraph({ app: "shop", onSourceError: (_source, error) => failed.push(error) });
    flow.attach(natsSource(ours, { services: true }));
    const nodes = () => picture(flow.graph.snapshot()).nodes;
    await flow.graph.rebuild();
    expect(nodes()).toEqual({});
    const quotes = await new Svcm(ours as never).add({ name: "quotes", version: "1.2.3" });
    quotes.addEndpoint("price", { subject: "quotes.price", handler: (_error, message) => void message.respond("1") });
    for (const nc of [theirs, twin]) {
      const rates = await new Svcm(nc as never).add({ name: "rates", version: "0.1.0" });
      rates.addGroup("eu").addEndpoint("rate", (_error, message) => void message.respond("1"));
    }
    await ours.request("quotes.price", "");
    await ours.request("eu.rate", "");
    await flow.graph.rebuild();
    expect(picture(flow.graph.snapshot())).toEqual({
      nodes: {
        "subject quotes.price": "1 ok, 0 failed",
        "subscriber quotes.price.subscriber": "1 ok, 0 failed",
        "subject eu.rate": "1 ok, 0 failed",
        "service rates.rate": "0 ok, 0 failed",
        "subject _INBOX.*": "1 ok, 0 failed",
        "gateway shop.producer": expect.any(String),
      },
      links: {
        "gateway shop.producer -output-> subject quotes.price": 1,
        "gateway shop.producer -output-> subject eu.rate": 1,
        "subject quotes.price -input-> subscriber quotes.price.subscriber": 1,
        "subject eu.rate -input-> service rates.rate": 0,
        "subscriber quotes.price.subscriber -output-> subject _INBOX.*": 1,
      },
    });
    expect(nodeOf(flow.graph.snapshot(), "service rates.rate").properties).toEqual({
      service: "rates",
      version: "0.1.0",
      endpoint: "rate",
      queueGroup: "q",
      instances: 2,
    });
    expect(nodeOf(flow.graph.snapshot(), "subscriber quotes.price.subscriber").properties).toMatchObject({
      service: "quotes",
      endpoint: "price",
      instances: 1,
    });
    await theirs.close();
    await twin.close();
    await flow.graph.rebuild();
    expect(Object.keys(nodes())).not.toContain("service rates.rate");
    expect(failed).toEqual([]);
    await own.stop();
  });
});

function thrown(): never {
  throw new Error("no");
}
