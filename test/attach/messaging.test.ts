// @module-tag slow
import { expect, test } from "vitest";
import { LINES } from "../../src/processes/description.ts";
import { attachTo, runPlain } from "../support/attach-command.ts";
import { applicationFolder } from "../support/auto-application.ts";
import { graphOf } from "../support/auto-graph.ts";
import { natsFound, startNats } from "../support/nats-server.ts";
import { redisFound, startRedis } from "../support/redis-server.ts";
import { requirement } from "../support/requirement.ts";

const SHOP = `
import { Queue, Worker } from "bullmq";
import { Redis } from "ioredis";
import { createClient } from "redis";
import { connect } from "@nats-io/transport-node";
import { jetstream, jetstreamManager } from "@nats-io/jetstream";
const port = Number(process.env.REDIS_PORT);
const connection = { host: "127.0.0.1", port };
const jobs = new Queue("jobs", { connection });
const worker = new Worker("jobs", async function work() { worked(); }, { connection });
const publisher = new Redis(port);
const subscriber = new Redis(port);
subscriber.on("message", function hear() { heard(); });
await subscriber.subscribe("news");
const other = await createClient({ url: "redis://127.0.0.1:" + port }).connect();
const nats = await connect({ servers: process.env.NATS });
nats.subscribe("orders", { callback: function take() { taken(); } });
await (await jetstreamManager(nats)).streams.add({ name: "BILLS", subjects: ["bills"] });
const bills = jetstream(nats);
await worker.waitUntilReady();
let worked, heard, taken;
process.once("SIGUSR2", async () => {
  const done = Promise.all([new Promise((r) => (worked = r)), new Promise((r) => (heard = r)), new Promise((r) => (taken = r))]);
  await jobs.add("job", {});
  await publisher.publish("news", "x");
  await other.xAdd("log", "*", { field: "x" });
  nats.publish("orders", "x");
  await bills.publish("bills", "x");
  await done;
  console.log("ready");
});
console.log("begun");
`;

test.runIf(requirement("redis-server", redisFound) && requirement("nats-server", natsFound))(
  "queues and connections from before are shown with their next message, and are left again",
  async () => {
    await using redis = await startRedis();
    await using nats = await startNats();
    const folder = applicationFolder({ "shop.mjs": SHOP });
    const shop = runPlain(folder, "shop.mjs", { env: { REDIS_PORT: `${redis.port}`, NATS: nats.url } });
    await shop.said("begun");
    const attached = await attachTo(folder, shop.child.pid!, "--json");
    expect(attached.code, attached.stderr).toBe(0);
    shop.child.kill("SIGUSR2");
    const { nodes } = await graphOf(shop);
    const counts = Object.fromEntries(nodes.map(({ name, sendTimers }) => [name, sendTimers?.successes.count]));
    expect(counts).toMatchObject({
      jobs: 1,
      "jobs.work": 1,
      news: 1,
      "news.hear": 1,
      log: 1,
      orders: 1,
      take: 1,
      bills: 1,
    });
    expect((await shop.describe()).shows.integrationGraph.toSorted()).toEqual(["bullmq", "nats", "redis"]);
    expect(await shop.line(LINES.detachRestoring)).toEqual({});
  },
);
