import { createRequire } from "node:module";
import * as amqp from "amqplib";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { amqplib } from "../../src/amqplib/index.ts";
import { integrationGraph } from "../../src/integration-graph/builder.ts";
import { type RabbitmqServer, rabbitmqFound, startRabbitmq } from "../support/rabbitmq-server.ts";
import { requirement } from "../support/requirement.ts";
import { nodeOf, picture, until } from "./support.ts";

const vhosts = Array.from({ length: 40 }, (_, index) => `v${index}`);
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
  const adapter = amqplib([], { vhost });
  const detach = options.attach === false ? () => {} : flow.attach(adapter);
  if (options.attach !== false) adapter.watch(connection);
  const channel = await (options.confirm ? connection.createConfirmChannel() : connection.createChannel());
  channel.on("error", () => {});
  return { vhost, connection, flow, graph, adapter, detach, channel, picture: () => picture(graph) };
}

const body = Buffer.from("secret");

describe.runIf(requirement("rabbitmq-server", rabbitmqFound))("amqplib", () => {
  beforeAll(async () => {
    broker = await startRabbitmq({ vhosts, clusterName: "main" });
  }, 60_000);
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
});
