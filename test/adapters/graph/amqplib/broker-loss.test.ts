// @module-tag slow
import { setTimeout as delay } from "node:timers/promises";
import * as amqp from "amqplib";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { type AmqplibAdapter, amqplibSource } from "../../../../src/adapters/graph/amqplib/index.ts";
import { integrationGraph } from "../../../../src/integration-graph/builder.ts";
import { type RabbitmqServer, rabbitmqFound, startRabbitmq } from "../../../support/rabbitmq-server.ts";
import { requirement } from "../../../support/requirement.ts";
import { nodeOf, picture, until } from "./support.ts";

let broker: RabbitmqServer;
const body = Buffer.from("x");

/** What both applications do with every connection that they get. */
async function setUp(connection: amqp.ChannelModel, handle: (message: amqp.ConsumeMessage) => Promise<void>) {
  const channel = await connection.createConfirmChannel();
  channel.on("error", () => {});
  await channel.assertExchange("orders", "topic");
  // Not durable: a killed broker may have forgotten acknowledgements, and nobody knows which.
  await channel.assertQueue("work", { durable: false });
  await channel.bindQueue("work", "orders", "#");
  await channel.assertQueue("", { exclusive: true });
  await channel.consume("work", async function work(message) {
    await handle(message!);
    try {
      channel.ack(message!);
    } catch {
      // The channel is gone.
    }
  });
  return channel;
}

/** An application with reconnect code of its own: one line of it is for the graph. */
async function reconnecting(rabbit: AmqplibAdapter, handle: (message: amqp.ConsumeMessage) => Promise<void>) {
  let over = false;
  let current: amqp.ChannelModel | undefined;
  const application = {
    channel: undefined as amqp.ConfirmChannel | undefined,
    end(): Promise<void> | undefined {
      over = true;
      return current?.close();
    },
  };
  async function connect(): Promise<void> {
    while (!over) {
      try {
        const connection = rabbit.watch(await amqp.connect(broker.url));
        current = connection;
        connection.on("error", () => {});
        connection.on("close", () => {
          application.channel = undefined;
          void connect();
        });
        application.channel = await setUp(connection, handle);
        return;
      } catch {
        await delay(50);
      }
    }
  }
  await connect();
  return application;
}

describe.runIf(requirement("rabbitmq-server", rabbitmqFound))("a broker that is killed", () => {
  beforeAll(async () => {
    broker = await startRabbitmq();
  }, 120_000);
  afterAll(() => broker?.stop());

  test("costs no numbers, and what was open counts as failed", async () => {
    const flow = integrationGraph({ app: "shop" });
    const rabbit = amqplibSource();
    flow.attach(rabbit);
    const stuck = Promise.withResolvers<void>();
    let begun = 0;
    const application = await reconnecting(rabbit, async () => {
      begun++;
      if (begun === 3) await stuck.promise;
    });
    onTestFinished(() => application.end());
    const send = () => application.channel!.publish("orders", "new", body);
    for (let sent = 0; sent < 3; sent++) send();
    await application.channel!.waitForConfirms();
    await until(() => begun === 3);
    const before = flow.graph.snapshot();
    expect(picture(flow.graph.snapshot()).nodes["consumer work.work"]).toBe("2 ok, 0 failed");

    broker.freeze();
    send();
    await broker.kill();
    await until(() => application.channel === undefined);
    expect(picture(flow.graph.snapshot()).nodes).toEqual({
      "exchange orders": "3 ok, 1 failed",
      "queue work": "0 ok, 0 failed",
      "queue amq.gen-*": "0 ok, 0 failed",
      "consumer work.work": "2 ok, 1 failed",
      "gateway shop.producer": expect.any(String),
    });
    await flow.graph.rebuild();
    expect(nodeOf(flow.graph, "consumer work.work").properties).toEqual({ consumers: 0, noAck: false });

    await broker.restart();
    await until(() => application.channel !== undefined);
    send();
    await until(() => nodeOf(flow.graph, "consumer work.work").sendTimers!.successes.count === 3);
    await application.channel!.waitForConfirms();
    const now = picture(flow.graph.snapshot());
    expect(now).toEqual({
      nodes: {
        "exchange orders": "4 ok, 1 failed",
        "queue work": "0 ok, 0 failed",
        "queue amq.gen-*": "0 ok, 0 failed",
        "consumer work.work": "3 ok, 1 failed",
        "gateway shop.producer": expect.any(String),
      },
      links: {
        "exchange orders -route-> queue work": 4,
        "queue work -input-> consumer work.work": 4,
        "gateway shop.producer -output-> exchange orders": 5,
      },
    });
    expect(nodeOf(flow.graph, "consumer work.work").properties).toEqual({ consumers: 1, noAck: false });
    const ids = (graph: typeof before) => graph.nodes.map(({ nodeId }) => nodeId);
    expect(ids(flow.graph.snapshot())).toEqual(ids(before));
    // The function that was stuck goes on, and cannot acknowledge any more: it has counted already.
    stuck.resolve();
    await delay(0);
    expect(picture(flow.graph.snapshot())).toEqual(now);
  });

  test("is watched again through the library's own recovery", async () => {
    const flow = integrationGraph({ app: "shop" });
    const rabbit = amqplibSource();
    flow.attach(rabbit);
    let handled = 0;
    let channel!: amqp.ConfirmChannel;
    const connection = await amqp.connect(broker.url, {
      recovery: {
        initialDelay: 20,
        maxDelay: 50,
        setup: async (model: amqp.ChannelModel) => {
          channel = await setUp(rabbit.watch(model), async () => void handled++);
        },
      },
    });
    connection.on("error", () => {});
    rabbit.watch(connection);
    onTestFinished(() => connection.close());
    channel.publish("orders", "new", body);
    await until(() => handled === 1);
    const again = new Promise((resolve) => connection.once("connect", resolve));
    await broker.kill();
    await broker.restart();
    await again;
    channel.publish("orders", "new", body);
    await until(() => handled === 2);
    await until(() => nodeOf(flow.graph, "consumer work.work").sendTimers!.successes.count === 2);
    const other = await connection.createChannel();
    await other.assertQueue("other", { exclusive: true });
    expect(Object.keys(picture(flow.graph.snapshot()).nodes)).toContain("queue other");
  });
});
