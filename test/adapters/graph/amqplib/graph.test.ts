import * as amqp from "amqplib";
import * as callbackApi from "amqplib/callback_api";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { amqplibSource } from "../../../../src/adapters/graph/amqplib/index.ts";
import { ActuatorError } from "../../../../src/common/error.ts";
import { integrationGraph } from "../../../../src/integration-graph/builder.ts";
import { mergeGraphs } from "../../../../src/integration-graph/merge.ts";
import { type RabbitmqServer, rabbitmqFound, startRabbitmq } from "../../../support/rabbitmq-server.ts";
import { requirement } from "../../../support/requirement.ts";
import { word } from "../../../support/word.ts";
import { nodeOf, picture, until } from "./support.ts";

// RabbitMQ 3.10 does not always get ready where it has to make many more at its start.
const vhosts = Array.from({ length: 47 }, (_, index) => `v${index}`);
let free = vhosts.length;
let broker: RabbitmqServer;

/** A connection to a virtual host of its own, and a graph. */
async function setUp(options: { readonly confirm?: boolean; readonly attach?: boolean } = {}) {
  const vhost = vhosts[--free]!;
  const connection = await amqp.connect(broker.vhostUrl(vhost));
  connection.on("error", () => {});
  onTestFinished(() => connection.close().catch(() => {}));
  const flow = integrationGraph({ app: "shop" });
  const { graph } = flow;
  const adapter = amqplibSource([], { vhost });
  const detach = options.attach === false ? () => {} : flow.attach(adapter);
  if (options.attach !== false) adapter.watch(connection);
  const channel = await (options.confirm ? connection.createConfirmChannel() : connection.createChannel());
  channel.on("error", () => {});
  return { vhost, connection, flow, graph, adapter, detach, channel, picture: () => picture(graph.snapshot()) };
}

const body = Buffer.from("secret");

describe.runIf(requirement("rabbitmq-server", rabbitmqFound))("amqplib", () => {
  beforeAll(async () => {
    broker = await startRabbitmq({ vhosts, clusterName: "main" });
  }, 120_000);
  afterAll(() => broker?.stop());

  test("draws a whole application", async () => {
    const { channel, connection, picture, graph } = await setUp();
    await channel.assertExchange("orders", "topic");
    await channel.assertExchange("dlx", "fanout");
    await channel.assertQueue("billing", { deadLetterExchange: "dlx" });
    await channel.assertQueue("audit", { arguments: { "x-max-length": 100 } });
    await channel.assertQueue("dead");
    await channel.assertQueue("quote", { durable: false });
    await channel.bindQueue("billing", "orders", "order.*");
    await channel.bindQueue("audit", "orders", "#");
    await channel.bindQueue("dead", "dlx", "");
    const { queue: replies } = await channel.assertQueue("", { exclusive: true });

    expect(picture()).toEqual({
      nodes: {
        "exchange orders": "0 ok, 0 failed",
        "exchange dlx": "0 ok, 0 failed",
        "queue billing": "0 ok, 0 failed",
        "queue audit": "0 ok, 0 failed",
        "queue dead": "0 ok, 0 failed",
        "queue quote": "0 ok, 0 failed",
        "queue amq.gen-*": "0 ok, 0 failed",
      },
      links: {
        "queue billing -error-> exchange dlx": 0,
        "exchange orders -route-> queue billing": 0,
        "exchange orders -route-> queue audit": 0,
        "exchange dlx -route-> queue dead": 0,
      },
    });

    const confirming = await connection.createConfirmChannel();
    const answered = Promise.withResolvers<void>();
    let seen = 0;
    // Asks for a quote, and publishes the payment once the answer is there, after awaits and from a timer.
    await channel.consume("billing", async function charge(message) {
      await Promise.resolve();
      if (message!.content.toString() === "bad") {
        channel.nack(message!, false, false);
        return;
      }
      channel.sendToQueue("quote", body, { replyTo: replies, correlationId: "1" });
      await answered.promise;
      await new Promise<void>((resolve, reject) =>
        setTimeout(() => {
          confirming.publish("payments", "paid", body, {}, (error) => (error ? reject(error) : resolve()));
        }, 5),
      );
      channel.ack(message!);
    });
    await confirming.assertExchange("payments", "direct");
    await channel.consume("quote", (message) => {
      channel.sendToQueue(message!.properties.replyTo, body, { correlationId: message!.properties.correlationId });
      channel.ack(message!);
    });
    await channel.consume(replies, () => answered.resolve(), { noAck: true });
    await channel.consume("dead", function bury(message) {
      channel.ack(message!);
      seen++;
    });
    await channel.consume("audit", function log(message) {
      channel.ack(message!);
      seen++;
    });

    channel.publish("orders", "order.new", Buffer.from("good"));
    channel.publish("orders", "order.new", Buffer.from("bad"));
    channel.publish("orders", "other", body);
    const billed = () => nodeOf(graph, "consumer billing.charge").sendTimers!;
    await until(() => seen === 4 && billed().successes.count + billed().failures.count === 2);

    expect(picture()).toEqual({
      nodes: {
        "exchange orders": "3 ok, 0 failed",
        "exchange dlx": "0 ok, 0 failed",
        "exchange payments": "1 ok, 0 failed",
        "queue billing": "0 ok, 0 failed",
        "queue audit": "0 ok, 0 failed",
        "queue dead": "0 ok, 0 failed",
        "queue quote": "1 ok, 0 failed",
        "queue amq.gen-*": "1 ok, 0 failed",
        "consumer billing.charge": "1 ok, 1 failed",
        "consumer quote.consumer": "1 ok, 0 failed",
        "consumer amq.gen-*.consumer": "1 ok, 0 failed",
        "consumer dead.bury": "1 ok, 0 failed",
        "consumer audit.log": "3 ok, 0 failed",
        "gateway shop.producer": expect.any(String),
      },
      links: {
        "gateway shop.producer -output-> exchange orders": 3,
        "exchange orders -route-> queue billing": 2,
        "exchange orders -route-> queue audit": 3,
        "queue billing -input-> consumer billing.charge": 2,
        "queue billing -error-> exchange dlx": 1,
        "exchange dlx -route-> queue dead": 1,
        "queue dead -input-> consumer dead.bury": 1,
        "queue audit -input-> consumer audit.log": 3,
        "consumer billing.charge -output-> queue quote": 1,
        "queue quote -input-> consumer quote.consumer": 1,
        "consumer quote.consumer -output-> queue amq.gen-*": 1,
        "queue amq.gen-* -input-> consumer amq.gen-*.consumer": 1,
        "consumer billing.charge -output-> exchange payments": 1,
      },
    });
    expect(JSON.stringify(graph.snapshot())).not.toContain("secret");
  });

  describe("a consumer", () => {
    type Act = (channel: amqp.Channel, message: amqp.ConsumeMessage) => unknown;
    const cases: readonly [title: string, act: Act, ok: number, failed: number, options?: amqp.Options.Consume][] = [
      ["that acknowledges", (channel, message) => channel.ack(message), 1, 0],
      ["that acknowledges after awaits", (channel, message) => tick().then(() => channel.ack(message)), 1, 0],
      ["that returns first", (channel, message) => later(() => channel.ack(message)), 1, 0],
      ["that returns first, then nacks", (c, m) => later(() => c.nack(m, false, false)), 0, 1],
      ["that acknowledges first", (channel, message) => both(channel.ack(message), tick()), 1, 0],
      ["that acknowledges all", (channel) => channel.ackAll(), 1, 0],
      ["that nacks", (channel, message) => channel.nack(message, false, false), 0, 1],
      ["that nacks all", (channel) => channel.nackAll(false), 0, 1],
      ["that rejects the message", (channel, message) => tick().then(() => channel.reject(message, false)), 0, 1],
      ["that nacks once, to have it again", (c, m) => (m.fields.redelivered ? c.ack(m) : c.nack(m)), 1, 1],
      ["that throws", () => thrown(), 0, 1],
      ["that throws though it acknowledged", (channel, message) => both(channel.ack(message), thrown()), 0, 1],
      [
        "that fails, then nacks",
        (c, m) =>
          both(
            later(() => c.nack(m, false, false)),
            thrown(),
          ),
        0,
        1,
      ],
      ["that leaves it to the end of the channel", (channel) => void channel.close(), 0, 1],
      ["without acknowledgements", async () => tick(), 1, 0, { noAck: true }],
      ["without acknowledgements that throws", () => thrown(), 0, 1, { noAck: true }],
    ];

    test.each(cases)("%s", async (_, act, ok, failed, options = {}) => {
      const { channel, graph } = await setUp();
      // As an application that goes on after its consumer threw.
      channel.on("handler-error", () => {});
      await channel.assertQueue("work");
      const ended = Promise.withResolvers<void>();
      await channel.consume(
        "work",
        function handle(message) {
          setTimeout(() => ended.resolve(), 20);
          return act(channel, message!) as undefined;
        },
        options,
      );
      channel.sendToQueue("work", body);
      await ended.promise;
      const timers = () => nodeOf(graph, "consumer work.handle").sendTimers!;
      await until(() => timers().successes.count + timers().failures.count >= ok + failed);
      await channel.close().catch(() => {});
      expect([timers().successes.count, timers().failures.count]).toEqual([ok, failed]);
      expect(picture(graph.snapshot()).links["queue work -input-> consumer work.handle"]).toBe(ok + failed);
    });

    test("that rejects: it fails once, and the process hears of the rejection as before", async () => {
      const { channel, graph } = await setUp();
      const reasons = unhandledRejections();
      await channel.assertQueue("work");
      const error = new Error("no");
      await channel.consume("work", async function handle(message) {
        await tick();
        channel.nack(message!, false, false);
        throw error;
      });
      channel.sendToQueue("work", body);
      await until(() => reasons.length > 0);
      await channel.close();
      expect(reasons).toEqual([error]);
      expect(picture(graph.snapshot()).nodes["consumer work.handle"]).toBe("0 ok, 1 failed");
    });

    test("counts a batch when it is acknowledged", async () => {
      const { channel, graph } = await setUp();
      await channel.assertQueue("work");
      const batch: amqp.ConsumeMessage[] = [];
      await channel.consume("work", (message) => void batch.push(message!));
      for (let sent = 0; sent < 5; sent++) channel.sendToQueue("work", body);
      await until(() => batch.length === 5);
      expect(picture(graph.snapshot()).nodes["consumer work.consumer"]).toBe("0 ok, 0 failed");
      channel.ack(batch[2]!, true);
      expect(picture(graph.snapshot()).nodes["consumer work.consumer"]).toBe("3 ok, 0 failed");
      channel.nack(batch[4]!, true, false);
      expect(picture(graph.snapshot()).nodes["consumer work.consumer"]).toBe("3 ok, 2 failed");
    });

    test("is one node with another of the same queue and name, and keeps its numbers through a pause", async () => {
      const { channel, connection, graph, adapter } = await setUp();
      const other = await connection.createChannel();
      await channel.assertQueue("work");
      function handle(this: amqp.Channel, message: amqp.ConsumeMessage | null) {
        this.ack(message!);
      }
      const { consumerTag } = await channel.consume("work", handle.bind(channel), { consumerTag: "a" });
      await other.consume("work", handle.bind(other));
      channel.sendToQueue("work", body);
      channel.sendToQueue("work", body);
      await until(() => nodeOf(graph, "consumer work.handle").sendTimers!.successes.count === 2);
      expect(nodeOf(graph, "consumer work.handle").properties).toEqual({ consumers: 2, noAck: false });
      await channel.cancel(consumerTag);
      await other.close();
      expect(nodeOf(graph, "consumer work.handle").properties).toEqual({ consumers: 0, noAck: false });
      await channel.consume("work", handle.bind(channel), { consumerTag: "b" });
      await graph.rebuild();
      expect(picture(graph.snapshot()).nodes["consumer work.handle"]).toBe("2 ok, 0 failed");
      await channel.cancel("b");
      await graph.rebuild();
      expect(picture(graph.snapshot()).nodes).toEqual({
        "queue work": "2 ok, 0 failed",
        "gateway shop.producer": expect.any(String),
      });
      expect(adapter.name).toBe("amqplib");
    });

    test("hears that the broker cancelled it, and is gone with the queue that the application deletes", async () => {
      const { channel, connection, graph } = await setUp();
      const other = await connection.createChannel();
      await channel.assertQueue("work");
      const heard = Promise.withResolvers<unknown>();
      await channel.consume("work", function handle(message) {
        heard.resolve(message);
      });
      await other.deleteQueue("work");
      expect(await heard.promise).toBeNull();
      expect(picture(graph.snapshot())).toEqual({ nodes: {}, links: {} });
    });

    test("stands without consumers when another application deletes its queue", async () => {
      const { channel, vhost, graph } = await setUp();
      const elsewhere = await amqp.connect(broker.vhostUrl(vhost));
      onTestFinished(() => elsewhere.close());
      await channel.assertQueue("work");
      const heard = Promise.withResolvers<unknown>();
      await channel.consume("work", (message) => heard.resolve(message));
      expect(nodeOf(graph, "consumer work.consumer").properties).toMatchObject({ consumers: 1 });
      await (await elsewhere.createChannel()).deleteQueue("work");
      expect(await heard.promise).toBeNull();
      expect(nodeOf(graph, "consumer work.consumer").properties).toMatchObject({ consumers: 0 });
    });

    test("is called what the application wants", async () => {
      const { connection, vhost } = await setUp({ attach: false });
      const flow = integrationGraph({ app: "shop" });
      const name = (consumption: object) => JSON.stringify(consumption);
      flow.attach(amqplibSource(connection, { vhost, name }));
      const channel = await connection.createChannel();
      await channel.assertQueue("work");
      await channel.consume("work", function handle() {}, { consumerTag: "t" });
      const given = { queue: "work", functionName: "handle", consumerTag: "t" };
      expect(Object.keys(picture(flow.graph.snapshot()).nodes)).toEqual([
        "queue work",
        `consumer ${JSON.stringify(given)}`,
      ]);
    });

    test("learns of exchanges from the messages that come from them, but not of ways that are known", async () => {
      const { connection, channel, vhost, graph } = await setUp();
      const unseen = await amqp.connect(broker.vhostUrl(vhost));
      onTestFinished(() => unseen.close());
      const elsewhere = await unseen.createChannel();
      await elsewhere.assertExchange("foreign", "fanout");
      await channel.assertExchange("first", "fanout");
      await channel.assertExchange("second", "fanout", { alternateExchange: "lost" });
      await channel.bindExchange("second", "first", "");
      await channel.assertQueue("work");
      await channel.bindQueue("work", "second", "");
      await elsewhere.bindQueue("work", "foreign", "");
      let seen = 0;
      // A message that goes back has not come from the exchange again.
      await channel.consume("work", (message) => {
        if (++seen === 1) channel.nack(message!);
        else channel.ack(message!);
      });
      for (const exchange of ["foreign", "foreign", "first"]) elsewhere.publish(exchange, "", body);
      elsewhere.sendToQueue("work", body);
      await until(() => seen === 5);
      expect(connection).toBeDefined();
      expect(picture(graph.snapshot()).links).toEqual({
        "exchange second -route-> exchange lost": 0,
        "exchange first -route-> exchange second": 0,
        "exchange second -route-> queue work": 0,
        "exchange foreign -route-> queue work": 2,
        "queue work -input-> consumer work.consumer": 5,
      });
    });
  });

  describe("what is sent", () => {
    test("over a confirm channel counts when the broker says so", async () => {
      const { channel, graph } = await setUp({ confirm: true });
      const confirming = channel as amqp.ConfirmChannel;
      await channel.assertQueue("small", { maxLength: 1, overflow: "reject-publish" } as object);
      const outcomes: unknown[] = [];
      confirming.sendToQueue("small", body, {}, (error) => outcomes.push(error));
      confirming.sendToQueue("small", body);
      expect(picture(graph.snapshot()).nodes["queue small"]).toBe("0 ok, 0 failed");
      await expect(confirming.waitForConfirms()).rejects.toThrow("nacked");
      expect(outcomes).toEqual([null]);
      expect(picture(graph.snapshot()).nodes["queue small"]).toBe("1 ok, 1 failed");
      // There is no such exchange: the broker closes the channel.
      const closed = new Promise<void>((resolve) => confirming.on("close", () => resolve()));
      confirming.publish("nowhere", "", body);
      await closed;
      expect(picture(graph.snapshot()).nodes["exchange nowhere"]).toBe("0 ok, 1 failed");
      expect(() => confirming.sendToQueue("small", body)).toThrow("Channel closed");
    });

    test("on a closed channel is a failure, and a full buffer is none", async () => {
      const { connection, graph } = await setUp({ attach: false });
      const flow = integrationGraph({ app: "shop" });
      flow.attach(amqplibSource(connection));
      const channel = await connection.createChannel();
      await channel.assertQueue("work", { exclusive: true });
      let taken = 0;
      while (channel.sendToQueue("work", Buffer.alloc(100_000))) taken++;
      expect(picture(flow.graph.snapshot()).nodes["queue work"]).toBe(`${taken + 1} ok, 0 failed`);
      const closing = channel.close();
      expect(() => channel.sendToQueue("work", body)).toThrow();
      await closing;
      expect(picture(flow.graph.snapshot()).nodes["queue work"]).toBe(`${taken + 1} ok, 1 failed`);
      expect(picture(graph.snapshot()).nodes).toEqual({});
    });

    test("from an endpoint of the application is linked to it", async () => {
      const { channel, flow, picture } = await setUp();
      await channel.assertExchange("orders", "direct");
      const order = flow.gateway("POST /orders").handle(async () => {
        await tick();
        return channel.publish("orders", "", body);
      });
      await order();
      expect(picture().links).toEqual({ "gateway POST /orders -output-> exchange orders": 1 });
    });

    test("comes back through direct reply-to, which is one node", async () => {
      const { channel, connection, picture } = await setUp();
      const server = await connection.createChannel();
      await server.assertQueue("rpc", { exclusive: true });
      await server.consume("rpc", (message) => {
        server.sendToQueue(message!.properties.replyTo, body);
        server.ack(message!);
      });
      const answered = Promise.withResolvers<void>();
      await channel.consume("amq.rabbitmq.reply-to", () => answered.resolve(), { noAck: true });
      channel.sendToQueue("rpc", body, { replyTo: "amq.rabbitmq.reply-to" });
      await answered.promise;
      expect(picture().links).toEqual({
        "queue rpc -input-> consumer rpc.consumer": 1,
        "queue amq.rabbitmq.reply-to* -input-> consumer amq.rabbitmq.reply-to*.consumer": 1,
        "gateway shop.producer -output-> queue rpc": 1,
        "consumer rpc.consumer -output-> queue amq.rabbitmq.reply-to*": 1,
      });
    });

    test("and got one by one makes the queue a pollable channel", async () => {
      const { channel, picture, graph } = await setUp();
      await channel.assertQueue("work", { messageTtl: 60_000, deadLetterExchange: "" });
      await channel.assertQueue("idle");
      channel.sendToQueue("work", body);
      let message: amqp.GetMessage | false = false;
      while (!message) message = await channel.get("work", { noAck: true });
      expect(await channel.get("work")).toBe(false);
      expect(picture().nodes["queue work"]).toBe("1 ok, 0 failed, 1 received");
      expect(nodeOf(graph, "queue work").integrationPatternType).toBe("pollable_channel");
      expect(nodeOf(graph, "queue work").properties).toEqual({
        durable: true,
        messageTtl: 60_000,
        deadLetterExchange: "",
      });
      expect(nodeOf(graph, "queue idle").integrationPatternType).toBe("message_channel");
    });
  });

  describe("the topology", () => {
    test("says what operators ask", async () => {
      const { channel, graph } = await setUp();
      await channel.assertExchange("pictures", "headers", { durable: false, alternateExchange: "rest" });
      await channel.assertQueue("thumbnails", {
        messageTtl: 60_000,
        deadLetterExchange: "",
        deadLetterRoutingKey: "retry",
        arguments: { "x-queue-mode": "lazy", "x-single-active-consumer": true },
      });
      await channel.bindQueue("thumbnails", "pictures", "", { "x-match": "all", format: "png" });
      await channel.assertQueue("own", { exclusive: true, autoDelete: true });
      expect(nodeOf(graph, "exchange pictures")).toMatchObject({
        componentType: "amqp:exchange",
        integrationPatternType: "publish_subscribe_channel",
        properties: { exchangeType: "headers", durable: false, alternateExchange: "rest" },
      });
      expect(nodeOf(graph, "queue thumbnails")).toMatchObject({
        componentType: "amqp:queue",
        integrationPatternType: "message_channel",
        properties: {
          durable: true,
          messageTtl: 60_000,
          deadLetterExchange: "",
          deadLetterRoutingKey: "retry",
          singleActiveConsumer: true,
        },
      });
      expect(nodeOf(graph, "queue own").properties).toEqual({ durable: true, exclusive: true, autoDelete: true });
      expect(picture(graph.snapshot()).links).toEqual({
        "exchange pictures -route-> exchange rest": 0,
        "queue thumbnails -error-> queue retry": 0,
        "exchange pictures -route-> queue thumbnails": 0,
      });
    });

    test("tells bindings apart as the broker does, whatever the order of their arguments", async () => {
      const { channel, picture } = await setUp();
      await channel.assertExchange("pictures", "headers");
      await channel.assertQueue("work");
      await channel.bindQueue("work", "pictures", "", { format: "png", size: 1 });
      await channel.unbindQueue("work", "pictures", "", { format: "png" });
      expect(Object.keys(picture().links)).toHaveLength(1);
      await channel.unbindQueue("work", "pictures", "", { size: 1, format: "png" });
      expect(picture().links).toEqual({});
      channel.publish("pictures", "", body, { headers: { format: "png", size: 1 } });
      expect((await channel.checkQueue("work")).messageCount).toBe(0);
    });

    test("is shown only once the broker has agreed", async () => {
      const { channel, picture } = await setUp();
      const closed = new Promise<void>((resolve) => channel.on("close", () => resolve()));
      await expect(channel.checkQueue("nowhere")).rejects.toThrow("NOT_FOUND");
      await closed;
      expect(picture()).toEqual({ nodes: {}, links: {} });
    });

    test("does not hide a refusal that nobody handles", async () => {
      const { channel } = await setUp();
      const reasons = unhandledRejections();
      channel.checkQueue("nowhere");
      await until(() => reasons.length > 0);
      await tick();
      expect(reasons).toEqual([expect.objectContaining({ code: 404 })]);
    });

    test("forgets a queue that was deleted, until a message is sent there again", async () => {
      const { channel, picture } = await setUp();
      await channel.assertQueue("work");
      channel.sendToQueue("work", body);
      await channel.deleteQueue("work");
      expect(Object.keys(picture().nodes)).toEqual(["gateway shop.producer"]);
      channel.sendToQueue("work", body);
      expect(picture().nodes["queue work"]).toBe("1 ok, 0 failed");
    });

    test("belongs to one broker by whatever address, and to one virtual host", async () => {
      const first = await setUp();
      const second = await setUp();
      await first.channel.assertQueue("work");
      await second.channel.assertQueue("work");
      const again = await amqp.connect(broker.vhostUrl(first.vhost).replace("127.0.0.1", "localhost"));
      onTestFinished(() => again.close());
      first.adapter.watch(again);
      await (await again.createChannel()).checkQueue("work");
      expect(first.graph.snapshot().nodes.map(({ key }) => key)).toEqual([
        `channel:rabbitmq:main:queue:${first.vhost}/work`,
      ]);
      expect(nodeOf(first.graph, "queue work").nodeId).not.toBe(nodeOf(second.graph, "queue work").nodeId);
    });

    test("keeps a hundred of the queues that the broker deletes by itself, and those that are consumed", async () => {
      const { channel, graph } = await setUp();
      for (let made = 0; made < 105; made++) {
        await channel.assertQueue(`passing ${word(made)}`, { autoDelete: true });
        if (made === 1) await channel.consume(`passing ${word(1)}`, () => {});
      }
      const names = graph.snapshot().nodes.map(({ name }) => name);
      expect(names).toHaveLength(101);
      expect(names).toContain(`passing ${word(1)}`);
      expect(names).not.toContain(`passing ${word(0)}`);
    });

    test("shows queues of users as one, with every message, and as long as there may be others", async () => {
      const { channel, picture } = await setUp({ confirm: true });
      const queues = Array.from({ length: 60 }, (_, user) => `user-${user}`);
      let handled = 0;
      for (const queue of queues) {
        await channel.assertQueue(queue);
        await channel.consume(queue, function notify(message) {
          if (message === null) return;
          channel.ack(message);
          handled++;
        });
        channel.sendToQueue(queue, body);
      }
      await until(() => handled === 60);
      const whole = {
        nodes: {
          "queue user-*": "60 ok, 0 failed",
          "consumer user-*.notify": "60 ok, 0 failed",
          "gateway shop.producer": "",
        },
        links: {
          "queue user-* -input-> consumer user-*.notify": 60,
          "gateway shop.producer -output-> queue user-*": 60,
        },
      };
      await until(() => picture().nodes["queue user-*"] === "60 ok, 0 failed");
      expect(picture()).toEqual(whole);
      for (const queue of queues) await channel.deleteQueue(queue);
      expect(picture()).toEqual(whole);
    });

    test("survives hostile names", async () => {
      const { channel, graph } = await setUp();
      const hostile = [
        "__proto__",
        "constructor",
        "a:b%3A",
        "a b",
        "ü😀",
        "x".repeat(255),
        "http://user:pw@host/?token=t",
      ];
      for (const name of hostile) {
        await channel.assertQueue(name);
        await channel.assertExchange(name, "topic", { autoDelete: false });
        await channel.bindQueue(name, name, name);
        await channel.consume(name, (message) => channel.ack(message!));
        channel.publish(name, name, body);
      }
      await channel.assertQueue("control\u0001");
      await channel.consume("control\u0001", (message) => channel.ack(message!));
      channel.sendToQueue("control\u0001", body);
      const { nodes } = graph.snapshot();
      expect(nodes.map(({ name }) => name)).not.toContain("control\u0001");
      expect(JSON.stringify(nodes)).not.toContain("pw");
      for (const name of hostile.slice(0, 6)) expect(nodes.filter((node) => node.name === name)).toHaveLength(2);
      await until(
        () => graph.snapshot().links.filter(({ type, count }) => type === "route" && count === 1).length === 7,
      );
    });
  });

  test("works with the callback interface", async () => {
    const { vhost } = await setUp({ attach: false });
    const flow = integrationGraph({ app: "shop" });
    const connection = await new Promise<callbackApi.Connection>((resolve, reject) =>
      callbackApi.connect(broker.vhostUrl(vhost), (error, made) => (error ? reject(error) : resolve(made))),
    );
    onTestFinished(() => new Promise<void>((resolve) => connection.close(() => resolve())));
    flow.attach(amqplibSource(connection, { vhost }));
    const results: unknown[] = [];
    const channel = await new Promise<callbackApi.ConfirmChannel>((resolve) => {
      // Used before it is open.
      const made = connection.createConfirmChannel((_, opened) => resolve(opened));
      made.assertExchange("orders", "fanout", {}, (error, reply) => results.push(error, reply));
      made.assertQueue("work", {}, (error, reply) => results.push(error, reply.queue));
      made.assertQueue("silent");
      made.bindQueue("work", "orders", "");
    });
    const [seen, cancelled] = [Promise.withResolvers<void>(), Promise.withResolvers<unknown>()];
    channel.consume(
      "work",
      function handle(message) {
        setTimeout(() => {
          channel.ack(message!);
          seen.resolve();
        }, 5);
      },
      { consumerTag: "tag" },
    );
    await new Promise((resolve) => channel.publish("orders", "", body, {}, resolve));
    await seen.promise;
    channel.cancel("tag", (error) => cancelled.resolve(error));
    expect(await cancelled.promise).toBeNull();
    await new Promise((resolve) => channel.deleteQueue("silent", {}, resolve));
    expect(results).toEqual([null, { exchange: "orders" }, null, "work"]);
    expect(picture(flow.graph.snapshot())).toEqual({
      nodes: {
        "exchange orders": "1 ok, 0 failed",
        "queue work": "0 ok, 0 failed",
        "consumer work.handle": "1 ok, 0 failed",
        "gateway shop.producer": expect.any(String),
      },
      links: {
        "exchange orders -route-> queue work": 1,
        "queue work -input-> consumer work.handle": 1,
        "gateway shop.producer -output-> exchange orders": 1,
      },
    });
    const failed = await new Promise<unknown>((resolve) =>
      both(
        channel.on("error", () => {}),
        channel.checkQueue("nowhere", resolve),
      ),
    );
    expect(failed).toBeInstanceOf(Error);
  });

  describe("detaching", () => {
    test("one channel removes its consumers with the next rebuild", async () => {
      const { adapter, channel, graph, picture } = await setUp();
      await channel.assertQueue("billing");
      await channel.consume("billing", function charge() {});
      expect(Object.keys(picture().nodes).join()).toContain("billing.charge");
      adapter.unwatch(channel);
      await graph.rebuild();
      expect(Object.keys(picture().nodes).join()).not.toContain("billing.charge");
    });

    const owned = (object: object) => [Reflect.ownKeys(object), counted(object)];
    const counted = (object: object) =>
      "eventNames" in object
        ? (object as NodeJS.EventEmitter)
            .eventNames()
            .map((name) => [name, (object as NodeJS.EventEmitter).listenerCount(name)])
        : [];

    test("leaves no trace, and consumers go on", async () => {
      const { connection, vhost } = await setUp({ attach: false });
      const channel = await connection.createConfirmChannel();
      const before = [owned(connection), owned(channel), owned(channel.connection)];
      const flow = integrationGraph({ app: "shop" });
      const detach = flow.attach(amqplibSource([connection, channel].slice(0, 1), { vhost }));
      expect(owned(channel)).not.toEqual(before[1]);
      await channel.assertQueue("work");
      let seen = 0;
      const handle = (message: amqp.ConsumeMessage | null) => both(seen++, channel.ack(message!));
      const { consumerTag } = await channel.consume("work", handle);
      channel.sendToQueue("work", body);
      await until(() => seen === 1);
      const confirmed = new Promise((resolve) => channel.sendToQueue("work", body, {}, resolve));
      detach();
      detach();
      expect([owned(connection), owned(channel), owned(channel.connection)]).toEqual(before);
      expect((channel as unknown as { consumers: Map<string, unknown> }).consumers.get(consumerTag)).toBe(handle);
      expect(picture(flow.graph.snapshot())).toEqual({ nodes: {}, links: {} });
      expect(await confirmed).toBeNull();
      await until(() => seen === 2);
      channel.sendToQueue("work", body);
      await until(() => seen === 3);
      expect(picture(flow.graph.snapshot())).toEqual({ nodes: {}, links: {} });
      flow.attach(amqplibSource(connection, { vhost }));
      channel.sendToQueue("work", body);
      await channel.waitForConfirms();
      expect(picture(flow.graph.snapshot()).nodes["queue work"]).toBe("1 ok, 0 failed");
    });

    test("does not destroy what somebody else has put around it", async () => {
      const { channel, detach } = await setUp();
      const ours = channel.publish;
      let called = 0;
      channel.publish = (...args: Parameters<typeof ours>) => {
        called++;
        return Reflect.apply(ours, channel, args);
      };
      const theirs = channel.publish;
      detach();
      expect(channel.publish).toBe(theirs);
      channel.sendToQueue("nowhere", body);
      expect(called).toBe(1);
    });

    test("happens by itself where a channel closes", async () => {
      const { connection, graph } = await setUp({ attach: false });
      const channel = await connection.createChannel();
      const before = Reflect.ownKeys(channel).length;
      const flow = integrationGraph({ app: "shop" });
      flow.attach(amqplibSource(channel));
      await channel.assertQueue("work", { exclusive: true });
      const watching = Reflect.ownKeys(channel).length;
      await channel.close();
      expect(watching).toBe(before + 21);
      expect(Object.keys(channel)).not.toContain("publish");
      expect(picture(flow.graph.snapshot()).nodes).toEqual({ "queue work": "0 ok, 0 failed" });
      expect(picture(graph.snapshot()).nodes).toEqual({});
    });
  });

  test("meets other instances and applications at the broker", async () => {
    const { vhost, channel, graph } = await setUp();
    const billing = integrationGraph({ app: "billing" });
    const connection = await amqp.connect(broker.vhostUrl(vhost).replace("127.0.0.1", "localhost"));
    onTestFinished(() => connection.close());
    billing.attach(amqplibSource(connection, { vhost }));
    const other = await connection.createChannel();
    await channel.assertExchange("orders", "fanout");
    await other.assertExchange("orders", "fanout");
    const { queue } = await other.assertQueue("work");
    await other.bindQueue(queue, "orders", "");
    const seen = Promise.withResolvers<void>();
    await other.consume("work", function bill(message) {
      other.ack(message!);
      seen.resolve();
    });
    channel.publish("orders", "", body);
    await seen.promise;
    const merged = mergeGraphs([
      { instance: "shop-1", graph: graph.snapshot() },
      { instance: "billing-1", graph: billing.graph.snapshot() },
    ]);
    expect(picture(merged).links).toEqual({
      "gateway shop.producer -output-> exchange orders": 1,
      "exchange orders -route-> queue work": 1,
      "queue work -input-> consumer work.bill": 1,
    });
    expect(merged.nodes).toHaveLength(4);
  });

  test("refuses what is no channel, and what is watched already", async () => {
    const { channel, connection, adapter, flow, picture } = await setUp();
    // @ts-expect-error: whatever an application without types gives.
    expect(() => amqplibSource({ publish() {} })).toThrow(ActuatorError);
    // @ts-expect-error
    expect(() => adapter.watch(null)).toThrow(ActuatorError);
    expect(() => adapter.watch(channel)).toThrow("watched");
    expect(() => adapter.watch(connection)).toThrow("watched");
    expect(() => flow.attach(amqplibSource(channel))).toThrow("watched");
    expect(() => flow.attach(adapter)).toThrow("attached already");
    await channel.assertQueue("work");
    expect(picture().nodes).toEqual({ "queue work": "0 ok, 0 failed" });
  });

  test("adds only topology where another adapter counts the messages", async () => {
    const { connection, vhost } = await setUp({ attach: false });
    const flow = integrationGraph({ app: "shop" });
    flow.attach({ name: "other", attach: (host) => both(host.counts("rabbitmq"), () => {}) });
    flow.attach(amqplibSource(connection, { vhost }));
    const channel = await connection.createConfirmChannel();
    await channel.assertQueue("work");
    let seen = 0;
    await channel.consume("work", (message) => both(seen++, channel.ack(message!)));
    channel.sendToQueue("work", body);
    await until(() => seen === 1);
    await channel.waitForConfirms();
    const plain = await connection.createChannel();
    plain.sendToQueue("work", body);
    await until(() => seen === 2);
    expect(picture(flow.graph.snapshot())).toEqual({
      nodes: { "queue work": "0 ok, 0 failed", "consumer work.consumer": "0 ok, 0 failed" },
      links: { "queue work -input-> consumer work.consumer": 0 },
    });
  });
});

/** The reasons of the rejections that nobody handles until the test is over. */
function unhandledRejections(): unknown[] {
  const reasons: unknown[] = [];
  const others = process.listeners("unhandledRejection");
  process.removeAllListeners("unhandledRejection");
  process.on("unhandledRejection", (reason) => reasons.push(reason));
  onTestFinished(() => {
    process.removeAllListeners("unhandledRejection");
    for (const other of others) process.on("unhandledRejection", other);
  });
  return reasons;
}

function thrown(): never {
  throw new Error("no");
}

/** The second, once the first has happened. */
function both<T>(_: unknown, then: T): T {
  return then;
}

function later(act: () => void): void {
  setTimeout(act, 5);
}

function tick(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
