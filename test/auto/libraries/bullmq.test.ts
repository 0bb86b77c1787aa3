import * as bullmq6 from "bullmq";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { bullmq } from "../../../src/auto/libraries/bullmq.ts";
import { integrationGraph } from "../../../src/integration-graph/builder.ts";
import { expectGraphOfWiring } from "../../support/auto-graph.ts";
import { collected } from "../../support/collected.ts";
import { findingsOf } from "../../support/findings.ts";
import { type RedisServer, redisFound, startRedis } from "../../support/redis-server.ts";
import { requirement } from "../../support/requirement.ts";

let server: RedisServer;
let databases = 0;

const SHOP = `
const connection = { host: "127.0.0.1", port: Number(process.env.REDIS_PORT), db: Number(process.env.REDIS_DB) + Number(process.env.RUN) };
const orders = new Queue("orders", { connection, defaultJobOptions: { attempts: 2 } });
const emails = new Queue("emails", { connection });
const events = new QueueEvents("emails", { connection, lastEventId: "0" });
const flows = new FlowProducer({ connection });
const worker = new Worker("orders", async function charge(job) {
  await emails.add("receipt", {});
}, { connection, concurrency: 3 });
const mailer = new Worker("emails", async () => {}, { connection });
const all = [orders, emails, events, flows, worker, mailer];
async function run() {
  const done = new Promise((resolve) => {
    let left = 5;
    events.on("completed", () => --left === 0 && resolve());
  });
  await orders.add("first", {});
  await orders.addBulk([{ name: "second", data: {} }, { name: "third", data: {} }]);
  await flows.add({ name: "sum", queueName: "orders", children: [{ name: "part", queueName: "emails", data: {} }] });
  await done;
}
`;
const FORMS = {
  "shop.mjs": `import { FlowProducer, Queue, QueueEvents, Worker } from "bullmq"; ${SHOP} export { all, run };`,
  "shop.cjs": `const { FlowProducer, Queue, QueueEvents, Worker } = require("bullmq"); ${SHOP} module.exports = { all, run };`,
};

/** The classes whose methods are replaced. */
const CLASSES = [bullmq6.QueueBase, bullmq6.Queue, bullmq6.Worker, bullmq6.QueueEvents, bullmq6.FlowProducer];

function watchAll() {
  const flow = integrationGraph({ app: "shop" });
  const findings = findingsOf(flow);
  const undo = CLASSES.map((made) => bullmq.watch({ [made.name]: made }, findings, ""));
  const end = () => {
    findings.end();
    for (const each of undo.toReversed()) each();
  };
  onTestFinished(end);
  const counts = () =>
    Object.fromEntries(flow.graph.snapshot().nodes.map(({ name, sendTimers }) => [name, sendTimers?.successes.count]));
  return { flow, findings, counts, end };
}

describe.runIf(requirement("redis-server", redisFound))("BullMQ without a line of ours", () => {
  beforeAll(async () => {
    server = await startRedis();
  });
  afterAll(() => server?.stop());

  function connection() {
    databases += 2;
    return { host: "127.0.0.1", port: server.port, db: databases };
  }

  function closing<T extends { close(): Promise<unknown> }>(made: T): T {
    onTestFinished(() => made.close().then(() => undefined));
    return made;
  }

  for (const [script, text] of Object.entries(FORMS)) {
    for (const version of ["5", "6"]) {
      const tags = version === "5" || script.endsWith(".cjs") ? ["slow"] : [];
      test(`${version} shows the graph of explicit wiring, ${script}`, { tags }, async () => {
        const { found, graph } = await expectGraphOfWiring({
          script,
          text,
          adapter: {
            path: "adapters/graph/bullmq/index.ts",
            name: "bullmqSource",
            adapters: "[bullmqSource(app.all)]",
          },
          packages: version === "5" ? { bullmq: "bullmq5" } : {},
          env: { REDIS_PORT: `${server.port}`, REDIS_DB: `${connection().db}` },
        });
        expect(graph.links).toContain("bullmq:queue orders -input-> bullmq:worker orders.charge");
        expect((await found.describe()).shows.integrationGraph).toEqual(["bullmq"]);
        expect(found.output().stderr).toBe("");
      });
    }
  }

  test("counts the job that is added where a queue is made, and those of what existed before", async () => {
    const at = connection();
    const [before, flows] = [
      closing(new bullmq6.Queue("before", { connection: at })),
      new bullmq6.FlowProducer({ connection: at }),
    ];
    closing(flows);
    const worker = closing(new bullmq6.Worker("before", async () => {}, { connection: at, drainDelay: 0.1 }));
    await worker.waitUntilReady();
    const { counts } = watchAll();
    await closing(new bullmq6.Queue("made", { connection: at })).add("first", {});
    await before.addBulk([{ name: "second", data: {} }]);
    await flows.add({ name: "third", queueName: "before" });
    await expect.poll(counts).toEqual({ made: 1, before: 2, "before.worker": 2, "shop.producer": undefined });
  });

  test("leaves classes and objects as they were", async () => {
    const own = () => CLASSES.map(({ prototype }) => Object.getOwnPropertyDescriptors(prototype));
    const before = own();
    const { end } = watchAll();
    expect(own()).not.toEqual(before);
    const queue = closing(new bullmq6.Queue("undone", { connection: connection() }));
    await queue.add("first", {});
    end();
    expect(own()).toEqual(before);
    expect(Object.getOwnPropertyNames(queue)).not.toContain("add");
  });

  test("holds no queue that was closed", async () => {
    watchAll();
    const at = connection();
    async function addAndClose() {
      const queue = new bullmq6.Queue("short", { connection: at });
      await queue.add("first", {});
      await queue.close();
      return new WeakRef<object>(queue);
    }
    const refs = [await addAndClose(), await addAndClose(), await addAndClose()];
    await collected(refs);
  });
});
