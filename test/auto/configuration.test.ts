// @module-tag slow
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createToken } from "../../src/access/token.ts";
import { redisFleet } from "../../src/adapters/fleet/redis/index.ts";
import { Fleet } from "../../src/fleet/fleet.ts";
import { LINES, type ProcessDescription } from "../../src/processes/description.ts";
import { answerTo } from "../../src/processes/line-client.ts";
import { placeOf } from "../../src/processes/socket-name.ts";
import {
  type ApplicationFolder,
  applicationFolder,
  type RunningApplication,
  runApplication,
} from "../support/auto-application.ts";
import { redisFound, startRedis } from "../support/redis-server.ts";
import { requirement } from "../support/requirement.ts";
import { until } from "../support/until.ts";

const soon = { timeout: 20_000 };

const ORDERS = `
const log = require("pino")();
globalThis.orders = log.child({ module: "shop.orders" });
const work = setInterval(() => {}, 1000);
process.once("SIGUSR2", () => clearInterval(work));
console.log("ready");
`;

/** Resolves to the URL of its port. */
async function urlOf(shop: RunningApplication): Promise<string> {
  await shop.said("ready");
  await expect.poll(async () => (await shop.describe()).addresses).toHaveLength(1);
  return (await shop.describe()).addresses[0]!;
}

test("a file and the environment say what an application without a line of ours shows, and where", async () => {
  const { id, hash, token } = createToken();
  const tokens = { version: 1, tokens: [{ name: "ops", id, hash, permissions: ["*"] }] };
  const file = {
    name: "orders",
    loggers: { groups: { sales: ["shop.orders"] }, state: "levels.json" },
    access: { tokens: "tokens.json" },
  };
  const folder = applicationFolder({ "shop.cjs": ORDERS, "actuator.json": JSON.stringify(file) });
  writeFileSync(join(folder.folder, "tokens.json"), JSON.stringify(tokens), { mode: 0o600 });
  const env = { ACTUATOR_CONFIG: join(folder.folder, "actuator.json"), ACTUATOR_LISTEN_PORT: "0" };
  const shop = runApplication(folder, "shop.cjs", { env });
  const url = `${await urlOf(shop)}/actuator/loggers/sales`;
  expect(await shop.describe()).toMatchObject({ name: "orders" });
  expect((await fetch(url)).status).toBe(401);
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const body = JSON.stringify({ configuredLevel: "DEBUG" });
  expect((await fetch(url, { method: "POST", headers, body })).status).toBe(204);
  await until(() => readdirSync(folder.folder).includes("levels.json"));
  await until(() => readFileSync(join(folder.folder, "levels.json"), "utf8").includes("DEBUG"));
  // A client of the port that keeps its connection, and the files that are followed, do not keep the process.
  shop.child.kill("SIGUSR2");
  expect(await shop.exit()).toBe(0);
  const again = runApplication(folder, "shop.cjs", { env });
  const restored = await fetch(`${await urlOf(again)}/actuator/loggers/shop.orders`, { headers });
  expect(await restored.json()).toMatchObject({ effectiveLevel: "DEBUG" });
});

test.runIf(requirement("redis-server", redisFound))(
  "the environment makes an application part of a fleet",
  async () => {
    await using server = await startRedis();
    const folder = applicationFolder({ "shop.cjs": ORDERS });
    const env = { ACTUATOR_FLEET_REDIS: server.url, ACTUATOR_FLEET_LABELS: '{"zone":"eu"}', ACTUATOR_LISTEN_PORT: "0" };
    const shop = runApplication(folder, "shop.cjs", { env });
    const url = await urlOf(shop);
    const fleet = new Fleet(
      { engine: redisFleet(server.url), name: "shop", role: "reader" },
      { startTime: 0, loggers: undefined, ttl: {} },
    );
    onTestFinished(() => fleet.close());
    await expect
      .poll(() => fleet.instances().catch(() => []), soon)
      .toMatchObject([{ labels: { zone: "eu" }, address: url }]);
    await fleet.setLevel("shop.orders", "ERROR", { selector: "application=shop" });
    const level = async () => (await fetch(`${url}/actuator/loggers/shop.orders`)).text();
    await expect.poll(level, soon).toContain('"effectiveLevel":"ERROR"');
  },
);

const index = JSON.stringify(new URL("../../src/index.ts", import.meta.url).href);

test.each([
  ["at once", ""],
  ["later", `await new Promise((resolve) => setTimeout(resolve, 700));`],
])("an application that makes its own actuator %s gets the port that the environment names", async (_, wait) => {
  const text = `
    import { configuration, createActuator } from ${index};
    import { pino } from "pino";
    pino();
    ${wait}
    const { options, listen } = configuration({});
    const { port } = await createActuator({ ...options, loggers: {} }).listen({ ...listen, unref: true });
    console.log("port", port);
  `;
  const folder = applicationFolder({ "shop.mjs": text, "free.cjs": FREE });
  const free = runApplication(folder, "free.cjs", { preload: false });
  await free.exit();
  const port = free.output().stdout.trim();
  const shop = runApplication(folder, "shop.mjs", { env: { ACTUATOR_LISTEN_PORT: port } });
  expect(await shop.exit()).toBe(0);
  expect(shop.output().stdout).toBe(`port ${port}\n`);
  expect(shop.output().stderr).not.toContain("connect-actuator:");
});

/** Says a port that is free. */
const FREE = `const s = require("net").createServer().listen(0, "127.0.0.1", () => { console.log(s.address().port); s.close(); });`;

/** The processes and threads of an application, once there are so many. */
async function processes({ env }: ApplicationFolder, count: number): Promise<readonly ProcessDescription[]> {
  const folder = join(env.XDG_RUNTIME_DIR!, "connect-actuator");
  const names = () => (existsSync(folder) ? readdirSync(folder) : []).filter((name) => placeOf(name) !== undefined);
  await expect.poll(names).toHaveLength(count);
  const answers = names().map((name) => answerTo(join(folder, name), LINES.describe, 10_000));
  const all = (await Promise.all(answers)) as ProcessDescription[];
  return all.toSorted((a, b) => a.thread - b.thread || a.pid - b.pid);
}

test("each thread has a socket of its own, and only the main thread the port", async () => {
  const text = `
    const { isMainThread, Worker } = require("worker_threads");
    if (isMainThread) new Worker(__filename);
    ${ORDERS}
  `;
  const folder = applicationFolder({ "shop.cjs": text });
  const shop = runApplication(folder, "shop.cjs", { env: { ACTUATOR_LISTEN_PORT: "0" } });
  await urlOf(shop);
  const [main, thread] = await processes(folder, 2);
  expect(main).toMatchObject({ pid: shop.child.pid, thread: 0, notices: [] });
  expect(thread).toMatchObject({
    pid: shop.child.pid,
    thread: 1,
    shows: { loggers: ["pino"] },
    addresses: [],
    notices: ["a worker thread does not listen at the configured address; use its socket"],
  });
  expect(shop.output().stderr).not.toContain("connect-actuator:");
});

test("each worker of a cluster says which it is, and that it does not listen, once", async () => {
  const text = `
    const cluster = require("cluster");
    if (cluster.isPrimary) for (const _ of [1, 2]) cluster.fork();
    else { ${ORDERS} }
  `;
  const folder = applicationFolder({ "shop.cjs": text });
  const shop = runApplication(folder, "shop.cjs", { env: { ACTUATOR_LISTEN_PORT: "0" } });
  const workers = await processes(folder, 2);
  expect(workers.map(({ clusterWorker }) => clusterWorker).toSorted()).toEqual([1, 2]);
  for (const worker of workers) {
    expect(worker).toMatchObject({ name: "shop", addresses: [], shows: { loggers: ["pino"] } });
    expect(worker.notices).toHaveLength(1);
  }
  expect(shop.output().stderr).toMatch(/^connect-actuator: the workers of a cluster do not listen .*\n$/);
});

test("a process that is forked has a socket of its own", async () => {
  const text = `
    if (process.send === undefined) require("child_process").fork(__filename);
    else process.once("disconnect", () => process.exit());
    ${ORDERS}
  `;
  const folder = applicationFolder({ "shop.cjs": text });
  const shop = runApplication(folder, "shop.cjs");
  const shops = await processes(folder, 2);
  expect(shops.map(({ pid }) => pid)).toContain(shop.child.pid);
  expect(shops.map(({ thread }) => thread)).toEqual([0, 0]);
});
