import { createServer } from "node:net";
import { once } from "node:events";
import type { INestApplication } from "@nestjs/common";
import { NestFactory } from "@nestjs/core";
import { CommandBus, EventBus } from "@nestjs/cqrs";
import { type MicroserviceOptions, Transport } from "@nestjs/microservices";
import { describe, expect, onTestFinished, test } from "vitest";
import { integrationGraph } from "../../src/integration-graph/builder.ts";
import { type NestjsMessagingOptions, nestjsMessaging } from "../../src/nestjs-messaging/index.ts";
import { nodeOf, picture } from "../in-process/support.ts";
import { Journal, ScopedController, ScopedHandler, ScopedModule, shop } from "./shop.ts";

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, "close");
  return port;
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 5));
}

/** The shop, attached where an application would do it, and not yet listening. */
async function setUp(options?: NestjsMessagingOptions) {
  const port = await freePort();
  const app = await NestFactory.create(shop(port), { logger: false });
  onTestFinished(() => app.close());
  app.connectMicroservice<MicroserviceOptions>({ transport: Transport.TCP, options: { host: "127.0.0.1", port } });
  const flow = integrationGraph({ app: "shop" });
  const detach = flow.attach(nestjsMessaging(app, options));
  const shown = () => {
    const { nodes, links } = picture(flow.graph);
    return { nodes, links };
  };
  async function start() {
    await app.startAllMicroservices();
    await app.listen(0, "127.0.0.1");
    const url = await app.getUrl();
    return async (method: string, path: string) => (await fetch(`${url}${path}`, { method })).status;
  }
  return { app, port, flow, graph: flow.graph, detach, picture: shown, start, journal: app.get(Journal) };
}

const handlers = {
  "command PlaceOrder": "0 ok, 0 failed",
  "command ShipOrder": "0 ok, 0 failed",
  "query GetOrders": "0 ok, 0 failed",
  "event OrderPlaced": "0 ok, 0 failed",
  "event OrderAudited": "0 ok, 0 failed",
  "command-handler PlaceOrderHandler": "0 ok, 0 failed",
  "command-handler ShipOrderHandler": "0 ok, 0 failed",
  "query-handler GetOrdersHandler": "0 ok, 0 failed",
  "event-handler OrderPlacedHandler": "0 ok, 0 failed",
  "saga ShippingSagas.ship": "0 ok, 0 failed",
  "emitter-event events.order.billed": "0 ok, 0 failed",
  "emitter-event events.order.placed": "0 ok, 0 failed",
  "emitter-event events.order.*": "0 ok, 0 failed",
  "listener Listeners.placed": "0 ok, 0 failed",
  "listener Listeners.any": "0 ok, 0 failed",
  "cron Jobs.nightly": "0 received, 0 failed",
  "interval Jobs.hourly": "0 received, 0 failed",
  "timeout Jobs.start": "0 received, 0 failed",
  "pattern stock": "0 ok, 0 failed",
  "pattern order.placed": "0 ok, 0 failed",
  "message-pattern WarehouseController.stock": "0 ok, 0 failed",
  "event-pattern WarehouseController.placed": "0 ok, 0 failed",
};
const routes = {
  "route OrdersController.place": "",
  "route OrdersController.list": "",
  "route OrdersController.stock": "",
};
const inputs = {
  "command PlaceOrder -input-> command-handler PlaceOrderHandler": 0,
  "command ShipOrder -input-> command-handler ShipOrderHandler": 0,
  "query GetOrders -input-> query-handler GetOrdersHandler": 0,
  "event OrderPlaced -input-> event-handler OrderPlacedHandler": 0,
  "event OrderAudited -input-> event-handler OrderPlacedHandler": 0,
  "emitter-event events.order.billed -input-> listener Listeners.placed": 0,
  "emitter-event events.order.placed -input-> listener Listeners.placed": 0,
  "emitter-event events.order.* -input-> listener Listeners.any": 0,
  "pattern stock -input-> message-pattern WarehouseController.stock": 0,
  "pattern order.placed -input-> event-pattern WarehouseController.placed": 0,
};

describe("an application of NestJS", () => {
  test("is drawn whole, before any message and after three requests", async () => {
    const { picture, start, journal, graph, port } = await setUp();
    expect(picture()).toEqual({ nodes: { ...handlers, ...routes }, links: inputs });
    expect(nodeOf(graph, "cron Jobs.nightly").properties).toEqual({
      cron: "0 0 2 * * *",
      timeZone: "Europe/Paris",
      injected: ["EventEmitter2"],
    });
    expect(nodeOf(graph, "route OrdersController.stock").properties).toEqual({
      method: "GET",
      paths: ["/orders/stock/:id", "/orders/store/:id"],
      injected: ["CommandBus", "QueryBus", "ClientTCP"],
    });
    expect(nodeOf(graph, "pattern stock").key).toBe(`channel:tcp:127.0.0.1%3A${port}:pattern:stock`);
    expect(nodeOf(graph, "command PlaceOrder").key).toBe("channel:node:shop:cqrs-command:PlaceOrder");

    const request = await start();
    expect(await request("POST", "/orders/good")).toBe(201);
    expect(await request("POST", "/orders/bad")).toBe(400);
    expect(await request("GET", "/orders/1")).toBe(200);
    expect(await request("GET", "/orders/stock/1")).toBe(200);
    expect(await request("GET", "/health")).toBe(200);
    await until(() => ["reserved", "shipped", "audited", "started"].every((entry) => journal.count(entry) > 0));
    expect(picture()).toEqual({});
  });
});
