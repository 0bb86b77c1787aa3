// @module-tag slow
import { SpanKind, trace } from "@opentelemetry/api";
import { FlowProducer, type Job, Queue, Worker } from "bullmq";
import { BullMQOtel } from "bullmq-otel";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { bullmqSource } from "../../../../src/adapters/graph/bullmq/index.ts";
import { openTelemetrySource } from "../../../../src/adapters/graph/opentelemetry/index.ts";
import { integrationGraph } from "../../../../src/integration-graph/builder.ts";
import { type RedisServer, redisFound, startRedis } from "../../../support/redis-server.ts";
import { requirement } from "../../../support/requirement.ts";
import { picture, register, until } from "./support.ts";

let redis: RedisServer;

function setUp({ tracerName }: { tracerName?: string } = {}) {
  const address = `127.0.0.1:${redis.port}/0`;
  const tracing = openTelemetrySource({ brokers: { bullmq: address } });
  register({ spanProcessors: [tracing.spanProcessor] });
  const flow = integrationGraph({ app: "shop" });
  flow.attach(tracing);
  const telemetry = new BullMQOtel(tracerName === undefined ? {} : { tracerName });
  const connection = { host: "127.0.0.1", port: redis.port };
  const close = <T extends { close(): Promise<void> }>(closed: T): T => {
    onTestFinished(() => closed.close());
    return closed;
  };
  const options = { connection, telemetry };
  return {
    flow,
    queue: (name: string) => close(new Queue(name, options)),
    worker: (name: string, work: (job: Job) => Promise<void>, more = {}) =>
      close(new Worker(name, work, { ...options, ...more })),
    flows: () => close(new FlowProducer(options)),
    key: (name: string) => `bullmq:${address.replaceAll(":", "%3A")}:queue:bull:${name}`,
    picture: () => picture(flow.graph),
    numbers: (name: string) => {
      const timers = flow.graph.snapshot().nodes.find((node) => node.name === name)?.sendTimers;
      return (timers?.successes.count ?? 0) + (timers?.failures.count ?? 0);
    },
  };
}

describe.runIf(requirement("redis-server", redisFound))("spans of BullMQ", () => {
  beforeAll(async () => {
    redis = await startRedis();
  });
  afterAll(() => redis?.stop());

  test.each([["bullmq"], ["a name of the application's"]])(
    "draw a whole application, under the scope %s",
    async (tracerName) => {
      const suffix = tracerName.length;
      const names = {
        orders: `orders${suffix}`,
        mails: `mails${suffix}`,
        parent: `parent${suffix}`,
        child: `child${suffix}`,
      };
      const { queue, worker, flows, key, picture, numbers } = setUp({ tracerName });
      const [orders, mails] = [queue(names.orders), queue(names.mails)];
      worker(names.orders, async (job) => {
        await new Promise((resolve) => setTimeout(resolve, 1));
        if (job.data.bad) throw new Error("secret");
        await trace.getTracer("test").startActiveSpan("inner", async (span) => {
          await mails.add("mail", {});
          span.end();
        });
      });
      worker(names.mails, async () => {}, { name: "sender" });
      worker(names.child, async () => {});
      worker(names.parent, async () => {});
      await trace.getTracer("test").startActiveSpan("POST /orders", { kind: SpanKind.SERVER }, async (span) => {
        await orders.add("order", {});
        await orders.addBulk([
          { name: "order", data: {} },
          { name: "order", data: {} },
        ]);
        span.end();
      });
      await orders.add("order", { bad: true }, { attempts: 2 });
      await flows().add({
        name: "all",
        queueName: names.parent,
        children: [
          { name: "one", queueName: names.child },
          { name: "two", queueName: names.child },
        ],
      });
      const consumer = (name: string, word = "worker") => `${name}.${word}`;
      await until(
        () =>
          numbers(consumer(names.orders)) === 5 &&
          numbers(consumer(names.mails, "sender")) === 3 &&
          numbers(consumer(names.parent)) === 1,
      );
      const endpoint = (name: string) => `shop:service_activator:${name}`;
      expect(picture()).toEqual({
        nodes: {
          [key(names.orders)]: "4 ok, 0 failed",
          [key(names.mails)]: "3 ok, 0 failed",
          [key(names.parent)]: "1 ok, 0 failed",
          [key(names.child)]: "2 ok, 0 failed",
          [endpoint(consumer(names.orders))]: "3 ok, 2 failed",
          [endpoint(consumer(names.mails, "sender"))]: "3 ok, 0 failed",
          [endpoint(consumer(names.parent))]: "1 ok, 0 failed",
          [endpoint(consumer(names.child))]: "2 ok, 0 failed",
          "shop:inbound_gateway:POST /orders": "",
          "shop:inbound_gateway:shop.producer": "",
        },
        links: {
          [`shop:inbound_gateway:POST /orders -output-> ${key(names.orders)}`]: 3,
          [`shop:inbound_gateway:shop.producer -output-> ${key(names.orders)}`]: 1,
          [`shop:inbound_gateway:shop.producer -output-> ${key(names.parent)}`]: 1,
          [`shop:inbound_gateway:shop.producer -output-> ${key(names.child)}`]: 2,
          [`${key(names.orders)} -input-> ${endpoint(consumer(names.orders))}`]: 5,
          [`${endpoint(consumer(names.orders))} -output-> ${key(names.mails)}`]: 3,
          [`${key(names.mails)} -input-> ${endpoint(consumer(names.mails, "sender"))}`]: 3,
          [`${key(names.parent)} -input-> ${endpoint(consumer(names.parent))}`]: 1,
          [`${key(names.child)} -input-> ${endpoint(consumer(names.child))}`]: 2,
        },
      });
    },
  );

  test("count nothing that the library's adapter counts", async () => {
    const { flow, queue, worker, key, picture, numbers } = setUp();
    const orders = queue("both");
    const processed = worker("both", async function ship() {});
    flow.attach(bullmqSource([orders, processed]));
    for (let index = 0; index < 3; index++) {
      await trace.getTracer("test").startActiveSpan("POST /orders", { kind: SpanKind.SERVER }, async (span) => {
        await orders.add("order", {});
        span.end();
      });
    }
    await until(() => numbers("both.ship") === 3);
    expect(picture()).toEqual({
      nodes: {
        [key("both")]: "3 ok, 0 failed",
        "shop:service_activator:both.ship": "3 ok, 0 failed",
        "shop:inbound_gateway:shop.producer": "",
        "shop:inbound_gateway:POST /orders": "",
      },
      links: {
        [`shop:inbound_gateway:shop.producer -output-> ${key("both")}`]: 3,
        [`shop:inbound_gateway:POST /orders -output-> ${key("both")}`]: 0,
        [`${key("both")} -input-> shop:service_activator:both.ship`]: 3,
      },
    });
  });
});
