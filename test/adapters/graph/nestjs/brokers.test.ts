// @module-tag slow
import { createRequire } from "node:module";
import { getQueueToken } from "@nestjs/bullmq";
import type { DynamicModule } from "@nestjs/common";
import { NestFactory } from "@nestjs/core";
import { type MicroserviceOptions, Transport } from "@nestjs/microservices";
import type { Queue } from "bullmq";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { bullmqSource } from "../../../../src/adapters/graph/bullmq/index.ts";
import { nestjsSource } from "../../../../src/adapters/graph/nestjs/index.ts";
import type { GraphAdapter } from "../../../../src/integration-graph/adapter.ts";
import { integrationGraph } from "../../../../src/integration-graph/builder.ts";
import { type RabbitmqServer, rabbitmqFound, startRabbitmq } from "../../../support/rabbitmq-server.ts";
import { type RedisServer, redisFound, startRedis } from "../../../support/redis-server.ts";
import { requirement } from "../../../support/requirement.ts";
import { nodeOf, picture } from "../in-process/support.ts";
import { mailShop, rabbitShop } from "./mail-shop.ts";
import { Journal } from "./shop.ts";

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 5));
}

async function setUp(module: DynamicModule, server?: MicroserviceOptions) {
  const app = await NestFactory.create(module, { logger: false });
  onTestFinished(() => app.close());
  if (server !== undefined) app.connectMicroservice(server);
  const flow = integrationGraph({ app: "shop" });
  return {
    app,
    flow,
    graph: flow.graph,
    journal: app.get(Journal),
    picture: () => picture(flow.graph),
    async start() {
      await app.startAllMicroservices();
      await app.listen(0, "127.0.0.1");
      const url = await app.getUrl();
      return async (path: string) => (await fetch(`${url}${path}`, { method: "POST" })).status;
    },
  };
}

describe.runIf(requirement("redis-server", redisFound))("queues of BullMQ", () => {
  let redis: RedisServer;
  beforeAll(async () => {
    redis = await startRedis();
  });
  afterAll(() => redis?.stop());

  test("are drawn with their processors, before any job and after some", async () => {
    const { app, flow, picture, graph, start, journal } = await setUp(mailShop(redis.port));
    flow.attach(nestjsSource(app));
    const idle = {
      "bullmq:queue emails": "0 ok, 0 failed",
      "bullmq:worker EmailProcessor": "0 ok, 0 failed",
      "route OrdersController.mail": "",
      "route OrdersController.bulk": "",
    };
    expect(picture()).toEqual({
      nodes: idle,
      links: { "bullmq:queue emails -input-> bullmq:worker EmailProcessor": 0 },
    });
    expect(nodeOf(graph, "bullmq:queue emails").key).toBe(
      `channel:bullmq:127.0.0.1%3A${redis.port}/0:queue:bull:emails`,
    );
    const request = await start();
    for (const path of ["/orders/1/mail", "/orders/bad/mail", "/orders/bulk"]) expect(await request(path)).toBe(201);
    await until(() => journal.count("job") === 5);
    await until(() => picture().nodes["bullmq:worker EmailProcessor"] === "4 ok, 1 failed");
    expect(picture()).toEqual({
      nodes: { ...idle, "bullmq:queue emails": "5 ok, 0 failed", "bullmq:worker EmailProcessor": "4 ok, 1 failed" },
      links: {
        "route OrdersController.mail -output-> bullmq:queue emails": 2,
        "route OrdersController.bulk -output-> bullmq:queue emails": 3,
        "bullmq:queue emails -input-> bullmq:worker EmailProcessor": 5,
      },
    });
  });

  test("count once where the adapter of BullMQ watches them too, on the same nodes", async () => {
    const { app, flow, picture, start, journal } = await setUp(mailShop(redis.port));
    const jobs = bullmqSource(app.get<Queue>(getQueueToken("emails")));
    flow.attach(counting("bullmq", "bullmq"));
    flow.attach(jobs);
    flow.attach(nestjsSource(app));
    const request = await start();
    await request("/orders/1/mail");
    await until(() => journal.count("job") === 1);
    expect(picture()).toEqual({
      nodes: {
        "bullmq:queue emails": "1 ok, 0 failed",
        "bullmq:worker EmailProcessor": "0 ok, 0 failed",
        "route OrdersController.mail": "",
        "route OrdersController.bulk": "",
      },
      links: {
        "route OrdersController.mail -output-> bullmq:queue emails": 1,
        "bullmq:queue emails -input-> bullmq:worker EmailProcessor": 0,
      },
    });
  });
});

const managed = requirement("amqp-connection-manager", isInstalled("amqp-connection-manager"));

describe.runIf(requirement("rabbitmq-server", rabbitmqFound) && managed)("RabbitMQ", () => {
  let broker: RabbitmqServer;
  beforeAll(async () => {
    broker = await startRabbitmq({ clusterName: "main" });
  });
  afterAll(() => broker?.stop());

  const idle = {
    "amqp:queue orders": "0 ok, 0 failed",
    "pattern orders.order.placed": "0 ok, 0 failed",
    'pattern orders.{"cmd":"price"}': "0 ok, 0 failed",
    "event-pattern RabbitController.placed": "0 ok, 0 failed",
    "message-pattern RabbitController.priced": "0 ok, 0 failed",
    "route RabbitController.place": "",
    "route RabbitController.price": "",
  };
  const links = {
    "amqp:queue orders -route-> pattern orders.order.placed": 0,
    'amqp:queue orders -route-> pattern orders.{"cmd":"price"}': 0,
    "pattern orders.order.placed -input-> event-pattern RabbitController.placed": 0,
    'pattern orders.{"cmd":"price"} -input-> message-pattern RabbitController.priced': 0,
  };

  test.each([true, false])("leads patterns through a queue; counted here: %s", async (counted) => {
    const options = { urls: [broker.url], queue: "orders", queueOptions: { durable: false } };
    const { app, flow, picture, graph, start, journal } = await setUp(rabbitShop(options), {
      transport: Transport.RMQ,
      options,
    });
    if (!counted) flow.attach(counting("amqplib", "rabbitmq"));
    flow.attach(nestjsSource(app));
    expect(picture()).toEqual({ nodes: idle, links });
    const request = await start();
    for (const path of ["/orders/1", "/orders/bad", "/orders/1/price"]) expect(await request(path)).toBe(201);
    await until(() => journal.count("placed") === 2);
    expect(picture()).toEqual({
      nodes: {
        ...idle,
        "amqp:queue orders": counted ? "3 ok, 0 failed" : "0 ok, 0 failed",
        "event-pattern RabbitController.placed": "1 ok, 1 failed",
        "message-pattern RabbitController.priced": "1 ok, 0 failed",
      },
      links: {
        ...(counted && {
          "route RabbitController.place -output-> amqp:queue orders": 2,
          "route RabbitController.price -output-> amqp:queue orders": 1,
        }),
        "amqp:queue orders -route-> pattern orders.order.placed": 2,
        'amqp:queue orders -route-> pattern orders.{"cmd":"price"}': 1,
        "pattern orders.order.placed -input-> event-pattern RabbitController.placed": 2,
        'pattern orders.{"cmd":"price"} -input-> message-pattern RabbitController.priced': 1,
      },
    });
    expect(nodeOf(graph, "amqp:queue orders").key).toBe("channel:rabbitmq:main:queue://orders");
    expect(nodeOf(graph, "pattern orders.order.placed").key).toBe(
      "channel:rabbitmq:main:pattern://orders/order.placed",
    );
    expect(JSON.stringify(graph.snapshot())).not.toContain("guest");
  });
});

/** The first adapter that asks whether it counts does: here the library's own, as if a message had gone through it before. */
function counting(name: string, system: string): GraphAdapter {
  return {
    name,
    attach(host) {
      host.counts(system);
      return () => {};
    },
  };
}

function isInstalled(name: string): boolean {
  try {
    createRequire(import.meta.url).resolve(name);
    return true;
  } catch {
    return false;
  }
}
