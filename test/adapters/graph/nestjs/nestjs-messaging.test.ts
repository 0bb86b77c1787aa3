import type { INestApplication } from "@nestjs/common";
import { NestFactory } from "@nestjs/core";
import { CommandBus, EventBus } from "@nestjs/cqrs";
import { EventEmitter2 } from "@nestjs/event-emitter";
import { type MicroserviceOptions, Transport } from "@nestjs/microservices";
import { describe, expect, onTestFinished, test } from "vitest";
import { eventEmitterSource } from "../../../../src/adapters/graph/in-process/index.ts";
import { type NestjsMessagingOptions, nestjsSource } from "../../../../src/adapters/graph/nestjs/index.ts";
import { integrationGraph } from "../../../../src/integration-graph/builder.ts";
import { freePort } from "../../../support/server-process.ts";
import { nodeOf, picture } from "../in-process/support.ts";
import { Journal, OrderPlaced, PlaceOrder, ScopedController, ScopedHandler, ScopedModule, shop } from "./shop.ts";

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 5));
}

/** The shop, attached where an application would do it, and not yet listening. */
async function setUp(options?: NestjsMessagingOptions, { connectFirst = true } = {}) {
  const port = await freePort();
  const app = await NestFactory.create(shop(port), { logger: false });
  onTestFinished(() => app.close());
  const connect = () =>
    app.connectMicroservice<MicroserviceOptions>({ transport: Transport.TCP, options: { host: "127.0.0.1", port } });
  if (connectFirst) connect();
  const flow = integrationGraph({ app: "shop" });
  const detach = flow.attach(nestjsSource(app, options));
  if (!connectFirst) connect();
  async function start() {
    await app.startAllMicroservices();
    await app.listen(0, "127.0.0.1");
    const url = await app.getUrl();
    return async (method: string, path: string) => (await fetch(`${url}${path}`, { method })).status;
  }
  return {
    app,
    port,
    flow,
    graph: flow.graph,
    detach,
    picture: () => picture(flow.graph),
    start,
    journal: app.get(Journal),
  };
}

const handlers = {
  "command PlaceOrder": "0 ok, 0 failed",
  "command ShipOrder": "0 ok, 0 failed",
  "command RemindOrder": "0 ok, 0 failed",
  "query GetOrders": "0 ok, 0 failed",
  "event OrderPlaced": "0 ok, 0 failed",
  "event OrderAudited": "0 ok, 0 failed",
  "command-handler PlaceOrderHandler": "0 ok, 0 failed",
  "command-handler ShipOrderHandler": "0 ok, 0 failed",
  "command-handler RemindOrderHandler": "0 ok, 0 failed",
  "query-handler GetOrdersHandler": "0 ok, 0 failed",
  "event-handler OrderPlacedHandler": "0 ok, 0 failed",
  "saga ShippingSagas.ship": "0 ok, 0 failed",
  "saga ShippingSagas.remind": "0 ok, 0 failed",
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
  "command RemindOrder -input-> command-handler RemindOrderHandler": 0,
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
    await until(() =>
      ["reserved", "shipped", "audited", "started", "reminded"].every((entry) => journal.count(entry) > 0),
    );
    expect(picture()).toEqual({
      nodes: {
        ...handlers,
        ...routes,
        "command PlaceOrder": "1 ok, 1 failed",
        "command-handler PlaceOrderHandler": "1 ok, 1 failed",
        "event OrderPlaced": "1 ok, 0 failed",
        "event-handler OrderPlacedHandler": "4 ok, 0 failed",
        "emitter-event events.order.placed": "1 ok, 0 failed",
        "listener Listeners.placed": "1 ok, 0 failed",
        "listener Listeners.any": "0 ok, 1 failed",
        "event OrderAudited": "3 ok, 0 failed",
        "saga ShippingSagas.ship": "1 ok, 0 failed",
        "saga ShippingSagas.remind": "1 ok, 0 failed",
        "command RemindOrder": "1 ok, 0 failed",
        "command-handler RemindOrderHandler": "1 ok, 0 failed",
        "command ShipOrder": "1 ok, 0 failed",
        "command-handler ShipOrderHandler": "1 ok, 0 failed",
        "pattern order.placed": "1 ok, 0 failed",
        "event-pattern WarehouseController.placed": "1 ok, 0 failed",
        "query GetOrders": "1 ok, 0 failed",
        "query-handler GetOrdersHandler": "1 ok, 0 failed",
        "pattern stock": "1 ok, 0 failed",
        "message-pattern WarehouseController.stock": "1 ok, 0 failed",
        "timeout Jobs.start": "1 received, 0 failed",
        "emitter-event events.started": "1 ok, 0 failed",
      },
      links: {
        ...inputs,
        "route OrdersController.place -output-> command PlaceOrder": 2,
        "command PlaceOrder -input-> command-handler PlaceOrderHandler": 2,
        "command-handler PlaceOrderHandler -output-> event OrderPlaced": 1,
        "event OrderPlaced -input-> event-handler OrderPlacedHandler": 1,
        "event-handler OrderPlacedHandler -output-> emitter-event events.order.placed": 1,
        "emitter-event events.order.placed -input-> listener Listeners.placed": 1,
        "emitter-event events.order.placed -route-> emitter-event events.order.*": 1,
        "emitter-event events.order.* -input-> listener Listeners.any": 1,
        "listener Listeners.placed -output-> event OrderAudited": 3,
        "event OrderAudited -input-> event-handler OrderPlacedHandler": 3,
        "event OrderPlaced -input-> saga ShippingSagas.ship": 1,
        "saga ShippingSagas.ship -output-> command ShipOrder": 1,
        "command ShipOrder -input-> command-handler ShipOrderHandler": 1,
        // By then nobody knows which event it is for.
        "saga ShippingSagas.remind -output-> command RemindOrder": 1,
        "command RemindOrder -input-> command-handler RemindOrderHandler": 1,
        "command-handler PlaceOrderHandler -output-> pattern order.placed": 1,
        "pattern order.placed -input-> event-pattern WarehouseController.placed": 1,
        "route OrdersController.list -output-> query GetOrders": 1,
        "query GetOrders -input-> query-handler GetOrdersHandler": 1,
        "route OrdersController.stock -output-> pattern stock": 1,
        "pattern stock -input-> message-pattern WarehouseController.stock": 1,
        "timeout Jobs.start -output-> emitter-event events.started": 1,
      },
    });
  });

  test("may connect its servers when it is attached", async () => {
    const { picture, start, journal } = await setUp({}, { connectFirst: false });
    expect(picture().links).toEqual(inputs);
    const request = await start();
    await request("POST", "/orders/good");
    await until(() => journal.count("reserved") === 1);
    expect(picture().links["pattern order.placed -input-> event-pattern WarehouseController.placed"]).toBe(1);
    expect(picture().nodes["event-pattern WarehouseController.placed"]).toBe("1 ok, 0 failed");
  });

  test.each([
    ["none", {}],
    ["senders", routes],
    ["all", { ...routes, "route HealthController.health": undefined }],
  ] as const)("shows routes: %s", async (option, expected) => {
    const { picture } = await setUp({ routes: option });
    const shown = Object.entries(picture().nodes).filter(([name]) => name.startsWith("route "));
    expect(shown.map(([name]) => name).sort()).toEqual(Object.keys(expected).sort());
  });

  test("counts what is sent outside of any handler for the application", async () => {
    const { app, picture, start } = await setUp();
    await start();
    app.get(EventBus).publish(new OrderPlaced("1"));
    await expect(app.get(CommandBus).execute(new PlaceOrder("bad"))).rejects.toThrow("no such article");
    expect(picture().links).toMatchObject({
      "gateway shop.producer -output-> event OrderPlaced": 1,
      "gateway shop.producer -output-> command PlaceOrder": 1,
    });
  });

  test("is left as it was", async () => {
    const port = await freePort();
    const app = await NestFactory.create(shop(port), { logger: false });
    onTestFinished(() => app.close());
    const holders = instancesOf(app);
    const shapes = () => holders.map((holder) => Reflect.ownKeys(holder));
    const before = shapes();
    const flow = integrationGraph({ app: "shop" });
    const adapter = nestjsSource(app);
    const detach = flow.attach(adapter);
    expect(shapes()).not.toEqual(before);
    expect(() => flow.attach(nestjsSource(app))).toThrow("this application is watched already");
    const emitter = eventEmitterSource(app.get(EventEmitter2), { name: "events" });
    expect(() => flow.attach(emitter)).toThrow("this emitter is watched already");
    detach();
    expect(shapes()).toEqual(before);
    expect(picture(flow.graph)).toEqual({ nodes: {}, links: {} });
    const detachEmitter = flow.attach(emitter);
    expect(() => flow.attach(adapter)).toThrow("this emitter is watched already");
    detachEmitter();
    flow.attach(adapter)();
    expect(shapes()).toEqual(before);
  });

  test("goes on when it is detached while it runs", async () => {
    const { start, journal, detach, picture } = await setUp();
    const request = await start();
    detach();
    expect(await request("POST", "/orders/good")).toBe(201);
    await until(() => ["reserved", "shipped", "audited"].every((entry) => journal.count(entry) > 0));
    expect(picture()).toEqual({ nodes: {}, links: {} });
  });
});

test("handlers that are made for each request are measured, with all their decorators", async () => {
  const app = await NestFactory.create(ScopedModule, { logger: false });
  onTestFinished(() => app.close());
  const flow = integrationGraph({ app: "shop" });
  const before = [ScopedController, ScopedHandler].map(({ prototype }) => Object.getOwnPropertyDescriptors(prototype));
  const detach = flow.attach(nestjsSource(app));
  await app.listen(0, "127.0.0.1");
  const answer = await fetch(`${await app.getUrl()}/orders/1`, { method: "POST" });
  expect(await answer.text()).toBe("marked");
  await until(() => app.get(Journal).count("audited") === 1);
  expect(picture(flow.graph)).toEqual({
    nodes: {
      "route ScopedController.place": "",
      "command PlaceOrder": "1 ok, 0 failed",
      "command-handler ScopedHandler": "1 ok, 0 failed",
      "event OrderAudited": "1 ok, 0 failed",
      "event-handler ScopedListener": "1 ok, 0 failed",
    },
    links: {
      "route ScopedController.place -output-> command PlaceOrder": 1,
      "command PlaceOrder -input-> command-handler ScopedHandler": 1,
      "command-handler ScopedHandler -output-> event OrderAudited": 1,
      "event OrderAudited -input-> event-handler ScopedListener": 1,
    },
  });
  detach();
  const after = [ScopedController, ScopedHandler].map(({ prototype }) => Object.getOwnPropertyDescriptors(prototype));
  expect(after).toEqual(before);
});

test.each([
  [Transport.TCP, { host: "localhost", port: 4000 }, "tcp:127.0.0.1%3A4000:pattern:stock"],
  [Transport.REDIS, { host: "localhost", port: 6390 }, "redis:127.0.0.1%3A6390:channel:stock"],
  [Transport.NATS, { servers: ["nats://user:pass@example.com:4222"] }, "nats:example.com%3A4222:subject:stock"],
  [Transport.MQTT, { url: "mqtt://example.com:1883" }, "mqtt:example.com%3A1883:topic:stock"],
  [Transport.KAFKA, { client: { brokers: ["example.com:9092"] } }, "kafka:example.com%3A9092:topic:stock"],
] as const)("transport %i has the keys of its system", async (transport, options, key) => {
  const app = await NestFactory.create(shop(1), { logger: false });
  app.connectMicroservice({ transport, options } as MicroserviceOptions);
  const flow = integrationGraph({ app: "shop" });
  flow.attach(nestjsSource(app));
  expect(flow.graph.snapshot().nodes.find(({ name }) => name === "stock")?.key).toBe(`channel:${key}`);
});

test.each([
  ["no application", {}, "expects an application of NestJS"],
  [
    "an unknown choice of routes",
    { routes: "some" as "all" },
    'nestjsSource.routes must be "senders", "all" or "none"',
  ],
])("refuses %s", (_, options, message) => {
  expect(() => nestjsSource({} as INestApplication, options)).toThrow(message);
});

/** All objects that the container of an application holds. */
function instancesOf(app: INestApplication): readonly object[] {
  const { container } = app as unknown as {
    container: { getModules(): Map<string, Record<"providers" | "controllers", Map<unknown, { instance?: unknown }>>> };
  };
  const wrappers = [...container.getModules().values()].flatMap(({ providers, controllers }) => [
    ...providers.values(),
    ...controllers.values(),
  ]);
  return wrappers
    .map(({ instance }) => instance)
    .filter((instance) => typeof instance === "object" && instance !== null);
}
