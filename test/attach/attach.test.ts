import { once } from "node:events";
import { existsSync } from "node:fs";
import { expect, test } from "vitest";
import { LINES } from "../../src/processes/description.ts";
import { attachTo, isInspectorOpen, runPlain, startAttach } from "../support/attach-command.ts";
import { applicationFolder, type RunningApplication } from "../support/auto-application.ts";
import { until } from "../support/until.ts";

const BODY = `
const log = pino({ level: "info" });
const orders = log.child({ module: "shop.orders" });
const app = express();
app.use(session({ secret: "x", resave: false, saveUninitialized: true }));
app.get("/", (req, res) => {
  orders.info("served");
  orders.debug("seen");
  req.session.user = { username: "ada" };
  res.end("ok");
});
const server = app.listen(0, "127.0.0.2", () => console.log("ready " + server.address().port));
process.once("SIGUSR2", () => {
  server.close();
  server.closeAllConnections();
});
`;
const MODULE = `import express from "express";
import session from "express-session";
import { pino } from "pino";
${BODY}`;
const COMMON_JS = `const express = require("express");
const session = require("express-session");
const { pino } = require("pino");
${BODY}`;

/** Sends requests one after another; the returned function ends that, and resolves to how many there were and how many failed. */
function traffic(port: string): () => Promise<{ sent: number; failed: number }> {
  const result = { sent: 0, failed: 0 };
  let live = true;
  const running = (async () => {
    while (live) {
      result.sent++;
      const isFine = await fetch(`http://127.0.0.2:${port}/`).then(
        async (response) => (await response.text()) === "ok",
        () => false,
      );
      if (!isFine) result.failed++;
    }
  })();
  return async () => {
    live = false;
    await running;
    return result;
  };
}

async function portOf(shop: RunningApplication): Promise<string> {
  await shop.said("ready");
  return /ready (\d+)/.exec(shop.output().stdout)![1]!;
}

test.each([
  ["ES modules", "shop.mjs", MODULE],
  ["CommonJS", "shop.cjs", COMMON_JS],
])("an application of %s is managed without a request that fails", async (_, script, text) => {
  const folder = applicationFolder({ [script]: text });
  const shop = runPlain(folder, script);
  const stop = traffic(await portOf(shop));
  const attached = await attachTo(folder, shop.child.pid!, "--json");
  expect(attached.code, attached.stderr).toBe(0);
  expect(JSON.parse(attached.stdout)).toMatchObject({
    pid: shop.child.pid,
    socket: shop.socket,
    libraries: expect.arrayContaining([
      { library: "pino", path: expect.stringContaining("pino/lib/proto.js") },
      { library: "express-session", path: expect.stringContaining("express-session/index.js") },
    ]),
    unseen: [],
    bundled: [],
    inspectorMs: expect.any(Number),
  });
  await until(async () => (await shop.get("/loggers")).loggers["shop.orders"] !== undefined);
  expect(await shop.post("/loggers/shop.orders", { configuredLevel: "DEBUG" })).toBe(204);
  await until(() => shop.output().stdout.includes('"msg":"seen"'));
  await until(async () => (await shop.get("/sessions?username=ada")).sessions?.length > 0);
  expect(await shop.describe()).toMatchObject({ name: "shop", origin: "attached" });
  const { sent, failed } = await stop();
  expect(sent).toBeGreaterThan(0);
  expect(failed).toBe(0);
  expect(shop.output().stderr).toMatch(/"msg":"audit","who":"uid \d+[^"]*","operation":"attach","result":"OK"/);

  expect(await shop.line(LINES.detachRestoring)).toEqual({});
  await until(() => !existsSync(shop.socket));
  shop.child.kill("SIGUSR2");
  expect(await shop.exit()).toBe(0);
});

const IDLE = `setInterval(() => {}, 1000); console.log("ready");`;

test("says in words what was done, and how to go on", async () => {
  const folder = applicationFolder({ "idle.mjs": IDLE });
  const idle = runPlain(folder, "idle.mjs");
  await idle.said("ready");
  const pid = idle.child.pid!;
  const { stdout, stderr, code } = await attachTo(folder, pid);
  expect(code, stderr).toBe(0);
  expect(stdout).toMatch(new RegExp(`^process ${pid} is managed; its inspector was open for \\d+ ms\\n`));
  expect(stdout).toContain(idle.socket);
  expect(stderr).toContain("it has loaded none of the libraries that are recognised yet\n");
  expect(stderr).toContain(`next: connect-actuator loggers list --pid ${pid}\n`);
  expect(isInspectorOpen(idle)).toBe(false);
});

test("an inspector that is open already is used, and stays open", async () => {
  const folder = applicationFolder({ "idle.mjs": IDLE });
  const idle = runPlain(folder, "idle.mjs", { nodeArgs: ["--inspect=0"] });
  await idle.said("ready");
  const { stdout, stderr, code } = await attachTo(folder, idle.child.pid!);
  expect(code, stderr).toBe(0);
  expect(stdout).toContain("its inspector was open before, and stays open");
  expect(isInspectorOpen(idle)).toBe(true);
  expect(await idle.describe()).toMatchObject({ origin: "attached" });
});

test("an actuator that the application has made itself is shown, and nothing is added to it", async () => {
  const folder = applicationFolder({
    "shop.mjs": `
      import { pino } from "pino";
      import { createActuator } from ${JSON.stringify(new URL("../../src/index.ts", import.meta.url).href)};
      import { pinoLoggers } from ${JSON.stringify(new URL("../../src/adapters/loggers/pino/index.ts", import.meta.url).href)};
      const log = pino({}, { write() {} });
      const other = pino({ name: "other" }, { write() {} });
      createActuator({ name: "gone", loggers: {} }).close();
      createActuator({ name: "mine", loggers: { adapters: [pinoLoggers(log)] } });
      setInterval(() => other.info("used"), 10);
      console.log("ready");`,
  });
  const shop = runPlain(folder, "shop.mjs");
  await shop.said("ready");
  const { stderr, code } = await attachTo(folder, shop.child.pid!);
  expect(code, stderr).toBe(0);
  expect(await shop.describe()).toMatchObject({ name: "mine", origin: "created by the application" });
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(Object.keys((await shop.get("/loggers")).loggers)).toEqual(["ROOT"]);
});

/** It is in a loop, so what has to wait for a turn of its own waits. */
const BUSY = `
console.log("ready");
setTimeout(() => {
  const end = Date.now() + Number(process.argv[2]);
  while (Date.now() < end) Math.sqrt(2);
  console.log("free");
}, 50);
setInterval(() => {}, 1000);
`;

test("the inspector of a process that is busy for too long is closed again, and nothing is changed", {
  tags: ["slow"],
}, async () => {
  const folder = applicationFolder({ "busy.mjs": BUSY });
  const busy = runPlain(folder, "busy.mjs", { args: ["9000"] });
  await busy.said("ready");
  const { stderr, code } = await attachTo(folder, busy.child.pid!);
  expect(code).toBe(1);
  expect(stderr).toContain("cannot attach: it did not answer in time");
  expect(isInspectorOpen(busy)).toBe(false);
  expect(busy.output().stdout).not.toContain("free");
  await busy.said("free");
  await new Promise((resolve) => setTimeout(resolve, 500));
  expect(existsSync(busy.socket)).toBe(false);
});

test.each(["SIGINT", "SIGTERM"] as const)("after %s the inspector is closed", async (signal) => {
  const folder = applicationFolder({ "busy.mjs": BUSY });
  const busy = runPlain(folder, "busy.mjs", { args: ["60000"] });
  await busy.said("ready");
  const command = startAttach(folder, busy.child.pid!);
  await until(() => isInspectorOpen(busy));
  command.child.kill(signal);
  const { stderr, code } = await command.ended;
  expect(code).toBe(signal === "SIGINT" ? 130 : 143);
  expect(stderr).toContain("interrupted; the inspector");
  expect(isInspectorOpen(busy)).toBe(false);
});

test("after kill -9 of the command the process closes its inspector itself", { tags: ["slow"] }, async () => {
  const folder = applicationFolder({ "busy.mjs": BUSY });
  const busy = runPlain(folder, "busy.mjs", { args: ["4000"] });
  await busy.said("ready");
  const { child } = startAttach(folder, busy.child.pid!);
  await until(() => busy.output().stderr.includes("Debugger attached"));
  // The timer is set by the first message of the command, which follows at once.
  await new Promise((resolve) => setTimeout(resolve, 500));
  child.kill("SIGKILL");
  await once(child, "close");
  expect(isInspectorOpen(busy)).toBe(true);
  await until(() => !isInspectorOpen(busy));
});
