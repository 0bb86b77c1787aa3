import { readdirSync } from "node:fs";
import { dirname } from "node:path";
import { expect, test } from "vitest";
import { LINES } from "../../src/processes/description.ts";
import { applicationFolder, runApplication } from "../support/auto-application.ts";
import { until } from "../support/until.ts";

const SHOP = `
import express from "express";
import session from "express-session";
import { pino } from "pino";
const log = pino();
const orders = log.child({ module: "shop.orders" });
const app = express();
app.use(session({ secret: "x", resave: false, saveUninitialized: true }));
app.get("/", (req, res) => {
  orders.debug("held, so that it is not collected");
  req.session.user = { username: "ada" };
  res.end("ok");
});
const server = app.listen(0, async () => {
  await (await fetch("http://127.0.0.1:" + server.address().port)).text();
  console.log("ready");
  process.once("SIGUSR2", () => server.close());
});
`;

test("an application without a line of ours shows its loggers, its sessions and its graph, and ends by itself", async () => {
  const shop = runApplication(applicationFolder({ "shop.mjs": SHOP }), "shop.mjs");
  await shop.said("ready");
  expect(await shop.describe()).toMatchObject({
    pid: shop.child.pid,
    thread: 0,
    name: "shop",
    version: "1.2.3",
    origin: "preloaded",
    shows: { loggers: ["pino"], sessions: ["express-session"], integrationGraph: [] },
    addresses: [],
    notices: [],
  });
  expect(Object.keys((await shop.get("/loggers")).loggers)).toEqual(["ROOT", "shop", "shop.orders"]);
  expect((await shop.get("/sessions?username=ada")).sessions).toHaveLength(1);
  expect(await shop.get("/integrationgraph")).toMatchObject({ nodes: [], links: [] });
  expect(await shop.post("/loggers/shop.orders", { configuredLevel: "DEBUG" })).toBe(204);
  shop.child.kill("SIGUSR2");
  expect(await shop.exit()).toBe(0);
  expect(readdirSync(dirname(shop.socket))).toEqual(["key"]);
});

test("a script without anything to manage behaves as without us", async () => {
  const folder = applicationFolder({ "hello.mjs": `console.log("hello"); process.exitCode = 3;` });
  for (const preload of [true, false]) {
    const hello = runApplication(folder, "hello.mjs", { preload });
    expect(await hello.exit()).toBe(3);
    expect(hello.output()).toEqual({ stdout: "hello\n", stderr: "" });
  }
  expect(readdirSync(folder.env.XDG_RUNTIME_DIR!)).toEqual([]);
});

test("an application that makes its own actuator keeps what it said, and is reached at the socket", async () => {
  const own = `
    import { pino } from "pino";
    import { createActuator } from ${JSON.stringify(new URL("../../src/index.ts", import.meta.url).href)};
    import { pinoLoggers } from ${JSON.stringify(new URL("../../src/adapters/loggers/pino/index.ts", import.meta.url).href)};
    const log = pino();
    pino({ name: "other" });
    createActuator({ name: "mine", loggers: { adapters: [pinoLoggers(log)] } });
    const late = log.child({ module: "late" });
    setInterval(() => late, 1000);
    console.log("ready");
  `;
  const shop = runApplication(applicationFolder({ "shop.mjs": own }), "shop.mjs");
  await shop.said("ready");
  expect(await shop.describe()).toMatchObject({ name: "mine", origin: "created by the application" });
  expect(Object.keys((await shop.get("/loggers")).loggers)).toEqual(["ROOT", "late"]);
  expect(await shop.get("/sessions?username=ada")).toMatchObject({ status: 404 });
});

test("of several actuators that an application makes, the socket shows the last", async () => {
  const own = `
    import { createActuator } from ${JSON.stringify(new URL("../../src/index.ts", import.meta.url).href)};
    await createActuator({ name: "gone", loggers: {} }).close();
    createActuator({ name: "mine", loggers: {} });
    setInterval(() => {}, 1000);
    console.log("ready");
  `;
  const shop = runApplication(applicationFolder({ "shop.mjs": own }), "shop.mjs");
  await shop.said("ready");
  expect(await shop.describe()).toMatchObject({ name: "mine" });
  expect(Object.keys((await shop.get("/loggers")).loggers)).toEqual(["ROOT"]);
});

test("the folders of the application may have any name, and be removed", async () => {
  const files = {
    "100%/shop.cjs": `
      process.chdir(require("fs").mkdtempSync(__dirname + "/"));
      require("fs").rmdirSync(process.cwd());
      require("debug")("shop");
      const { pino } = require("pino");
      const logs = [pino(), pino()];
      setInterval(() => logs, 1000);`,
  };
  const shop = runApplication(applicationFolder(files), "100%/shop.cjs");
  expect(await shop.describe()).toMatchObject({ name: "shop", shows: { loggers: ["debug", "pino"] } });
  expect(Object.keys((await shop.get("/loggers")).loggers)).toContain("100%.shop");
  expect(shop.output().stderr).toBe("");
});

test("an application may freeze what code is made of", async () => {
  const text = `
    Object.freeze(Error);
    const debug = require("debug")("shop");
    const { pino } = require("pino");
    const logs = [pino(), pino()];
    setInterval(() => [debug, logs], 1000);`;
  const shop = runApplication(applicationFolder({ "shop.cjs": text }), "shop.cjs");
  expect(await shop.describe()).toMatchObject({ shows: { loggers: ["debug", "pino"] } });
  expect(shop.output().stderr).toBe("");
});

test("what is detached leaves, and the socket with it", async () => {
  const shop = runApplication(applicationFolder({ "shop.mjs": SHOP }), "shop.mjs");
  await shop.said("ready");
  expect(await shop.line(LINES.detachRestoring)).toEqual({});
  shop.child.kill("SIGUSR2");
  expect(await shop.exit()).toBe(0);
  expect(readdirSync(dirname(shop.socket))).toEqual([]);
});

test("debug alone, which another package uses, is nothing to manage; with a logger of the application it is", async () => {
  const load = `
    const debug = require("debug");
    require("express");
    if (process.argv[2]) debug("shop");
    setTimeout(() => console.log("ready"), 100);
    process.stdin.resume();`;
  const folder = applicationFolder({ "tool.cjs": load });
  const tool = runApplication(folder, "tool.cjs");
  await tool.said("ready");
  expect(readdirSync(folder.env.XDG_RUNTIME_DIR!)).toEqual([]);
  const shop = runApplication(folder, "tool.cjs", { args: ["use"] });
  expect((await shop.describe()).shows).toMatchObject({ loggers: ["debug"] });
  expect(shop.output().stderr).toBe("");
});

test.each(["cjs", "mjs"])("paths with any characters name root loggers of .%s", async (format) => {
  const load = format === "cjs" ? "const { pino } = require('pino');" : "import { pino } from 'pino';";
  const folder = applicationFolder({
    [`first.${format}`]: `${load} pino(); import("./50%25 off (shop) Größe %231/pay.${format}"); setTimeout(() => {}, 60_000);`,
    [`50% off (shop) Größe #1/pay.${format}`]: `${load} globalThis.held = pino();`,
  });
  const shop = runApplication(folder, `first.${format}`);
  await until(async () => (await shop.get("/loggers")).loggers["50% off (shop) Größe #1.pay"] !== undefined);
  expect(shop.output().stderr).toBe("");
});
