import { NestFactory } from "@nestjs/core";
import { expect, onTestFinished, test, vi } from "vitest";
import { nestjsMessaging } from "../../../src/auto/libraries/nestjs-messaging.ts";
import { integrationGraph } from "../../../src/integration-graph/builder.ts";
import { applicationFolder, runApplication } from "../../support/auto-application.ts";
import { expectGraphOfWiring, graphOf } from "../../support/auto-graph.ts";
import { collected } from "../../support/collected.ts";
import { findingsOf } from "../../support/findings.ts";
import { redisFound, startRedis } from "../../support/redis-server.ts";
import { requirement } from "../../support/requirement.ts";

const imports = {
  "@nestjs/common": "{ Controller, Inject, Injectable, Module, Post }",
  "@nestjs/core": "{ NestFactory }",
  "@nestjs/cqrs": "{ CommandBus, CommandHandler, CqrsModule, EventBus, EventsHandler }",
};
const IMPORTS = `import "reflect-metadata";${Object.entries(imports)
  .map(([from, names]) => `import ${names} from "${from}";`)
  .join("")}`;
const REQUIRES = `require("reflect-metadata");${Object.entries(imports)
  .map(([from, names]) => `const ${names} = require("${from}");`)
  .join("")}`;

const SHOP = `
function inject(type, ...tokens) { tokens.forEach((token, at) => Inject(token)(type, undefined, at)); }
class PlaceOrder {}
class OrderPlaced {}
class OrdersController {
  constructor(commands) { this.commands = commands; }
  place() { return this.commands.execute(new PlaceOrder()); }
}
Post()(OrdersController.prototype, "place", Object.getOwnPropertyDescriptor(OrdersController.prototype, "place"));
inject(OrdersController, CommandBus);
Controller("orders")(OrdersController);
class PlaceOrderHandler {
  constructor(events) { this.events = events; }
  async execute() { this.events.publish(new OrderPlaced()); return "placed"; }
}
inject(PlaceOrderHandler, EventBus);
CommandHandler(PlaceOrder)(PlaceOrderHandler);
class Mailer { handle() {} }
EventsHandler(OrderPlaced)(Mailer);
`;
const PLAIN = `${SHOP}
class AppModule {}
Module({ imports: [CqrsModule.forRoot()], controllers: [OrdersController], providers: [PlaceOrderHandler, Mailer] })(AppModule);
const app = NestFactory.create(AppModule, { logger: false });
async function run() {
  const made = await app;
  await made.listen(0);
  const url = "http://127.0.0.1:" + made.getHttpServer().address().port + "/orders";
  for (let i = 0; i < 3; i++) await (await fetch(url, { method: "POST" })).text();
}
`;
const FORMS = {
  "shop.mjs": `${IMPORTS}${PLAIN} export { app, run };`,
  "shop.cjs": `${REQUIRES}${PLAIN} module.exports = { app, run };`,
};

for (const [script, text] of Object.entries(FORMS)) {
  const tags = script.endsWith(".cjs") ? ["slow"] : [];
  test(`NestJS shows the graph of explicit wiring, ${script}`, { tags }, async () => {
    const { found, graph } = await expectGraphOfWiring({
      script,
      text,
      adapter: {
        path: "adapters/graph/nestjs/index.ts",
        name: "nestjsSource",
        adapters: "[nestjsSource(await app.app)]",
      },
    });
    const counts = Object.fromEntries(graph.nodes.map(({ name, sendTimers }) => [name, sendTimers?.successes.count]));
    expect(counts).toMatchObject({ PlaceOrder: 3, PlaceOrderHandler: 3, OrderPlaced: 3, Mailer: 3 });
    expect((await found.describe()).shows.integrationGraph).toEqual(["nestjs-messaging"]);
    expect(found.output().stderr).toBe("");
  });
}

test.runIf(requirement("redis-server", redisFound))(
  "an application of NestJS with BullMQ, pino and Express shows all of them",
  async () => {
    await using server = await startRedis();
    const text = `${IMPORTS}
      import { BullModule, getQueueToken, Processor, WorkerHost } from "@nestjs/bullmq";
      import { Logger, LoggerModule } from "nestjs-pino";
      ${SHOP.replace('return "placed";', 'await this.jobs.add("bill", {}); return "placed";').replace("constructor(events) {", "constructor(events, jobs) { this.jobs = jobs;").replace("inject(PlaceOrderHandler, EventBus)", 'inject(PlaceOrderHandler, EventBus, getQueueToken("bills"))')}
      let billed;
      const done = new Promise((resolve) => (billed = resolve));
      class BillProcessor extends WorkerHost { async process() { setImmediate(billed); } }
      Processor("bills")(BillProcessor);
      class AppModule {}
      Module({
        imports: [
          CqrsModule.forRoot(),
          LoggerModule.forRoot({ pinoHttp: { level: "error" } }),
          BullModule.forRoot({ connection: { host: "127.0.0.1", port: ${server.port} } }),
          BullModule.registerQueue({ name: "bills" }),
        ],
        controllers: [OrdersController],
        providers: [PlaceOrderHandler, Mailer, BillProcessor],
      })(AppModule);
      const app = await NestFactory.create(AppModule, { bufferLogs: true });
      app.useLogger(app.get(Logger));
      await app.listen(0);
      await (await fetch("http://127.0.0.1:" + app.getHttpServer().address().port + "/orders", { method: "POST" })).text();
      await done;
      console.log("ready");
      process.once("SIGUSR2", () => app.close());
    `;
    const shop = runApplication(applicationFolder({ "shop.mjs": text }), "shop.mjs");
    const { nodes, links } = await graphOf(shop);
    const counts = Object.fromEntries(nodes.map(({ name, sendTimers }) => [name, sendTimers?.successes.count]));
    expect(counts).toMatchObject({ PlaceOrder: 1, PlaceOrderHandler: 1, Mailer: 1, bills: 1, "bills.process": 1 });
    expect(links).toContain("nest:command-handler PlaceOrderHandler -output-> bullmq:queue bills");
    const { shows } = await shop.describe();
    expect(shows.integrationGraph.toSorted()).toEqual(["bullmq", "nestjs-messaging"]);
    expect(shows.loggers).toContain("pino");
    expect(shop.output().stderr).toBe("");
    shop.child.kill("SIGUSR2");
    expect(await shop.exit()).toBe(0);
  },
);

test("an application that was taken out of one graph is shown in the next", async () => {
  class Empty {}
  const application = await NestFactory.createApplicationContext({ module: Empty }, { logger: false });
  onTestFinished(() => application.close());
  const shown = [1, 2].map(() => {
    const flow = integrationGraph({ app: "shop" });
    const findings = findingsOf(flow);
    const messaging = vi.spyOn(findings, "messaging");
    expect(nestjsMessaging.recognize!(application, findings, "")).toBe(true);
    expect(nestjsMessaging.recognize!(application, findings, "")).toBe(true);
    findings.end();
    return messaging.mock.calls.length;
  });
  expect(shown).toEqual([1, 1]);
});

test("an application that was closed is not held, and the factory is left as it was", async () => {
  const factory = Object.getPrototypeOf(NestFactory) as { constructor: { prototype: object } };
  const { NestApplicationContext } = await import("@nestjs/core");
  const own = () => [factory, NestApplicationContext.prototype].map((each) => Object.getOwnPropertyDescriptors(each));
  const before = own();
  const flow = integrationGraph({ app: "shop" });
  const findings = findingsOf(flow);
  const undo = nestjsMessaging.watch({ NestFactoryStatic: factory.constructor, NestApplicationContext }, findings, "");
  onTestFinished(() => {
    findings.end();
    undo();
  });
  class Empty {}
  async function makeAndClose() {
    const application = await NestFactory.createApplicationContext({ module: Empty }, { logger: false });
    await application.close();
    return new WeakRef(Reflect.get(application, "container") as object);
  }
  await collected([await makeAndClose()]);
  findings.end();
  undo();
  expect(own()).toEqual(before);
});
