import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { bundledLibraries } from "../../src/auto/bundle.ts";
import { LINES } from "../../src/processes/description.ts";
import { applicationFolder, runApplication } from "../support/auto-application.ts";
import { bundled } from "../support/bundled-application.ts";

const SHOP = `
import express from "express";
import session from "express-session";
import { Queue } from "bullmq";
import { pino } from "pino";
const log = pino();
const orders = log.child({ module: "shop.orders" });
const queue = new Queue("orders", { connection: { host: "127.0.0.1", port: 1, retryStrategy: () => null } });
queue.on("error", () => {});
const app = express();
app.use(session({ secret: "x", resave: false, saveUninitialized: true }));
app.get("/", (req, res) => {
  req.session.user = { username: "ada" };
  orders.debug("served");
  res.end(typeof Queue);
});
const server = app.listen(0, async () => {
  const url = "http://127.0.0.1:" + server.address().port;
  console.log(await (await fetch(url)).text());
});
process.once("SIGTERM", () => {
  server.close();
  queue.disconnect().catch(() => {});
});
`;

for (const [format, minify] of [
  ["cjs", true],
  ["cjs", false],
  ["esm", false],
  ["esm", true],
] as const) {
  const tags = format === "cjs" && minify ? [] : ["slow"];
  const name = `${format}, minified: ${minify}`;
  test(`a bundle (${name}) runs unchanged and is said to be one; the heap has its objects`, { tags }, async () => {
    const folder = await bundled(SHOP, format, minify);
    const shop = runApplication(folder, `shop.${format === "cjs" ? "cjs" : "mjs"}`);
    await shop.said("function");
    const { shows, notices } = await shop.describe();
    expect(shows).toEqual({ loggers: [], sessions: [], integrationGraph: [] });
    expect(notices).toEqual([
      `this application is a bundle with bullmq, express-session, ioredis, pino inside; "connect-actuator attach ${shop.child.pid} --search-heap" finds what they made`,
    ]);
    expect(shop.output()).toEqual({ stdout: "function\n", stderr: "" });

    expect(await shop.line(LINES.heap)).toEqual({ expectedPauseMs: expect.any(Number) });
    const found = { "express-session": 1, bullmq: 1, pino: 2 };
    expect(await shop.line(LINES.searchHeap)).toEqual({ pauseMs: expect.any(Number), found });
    expect(await shop.line(LINES.searchHeap)).toMatchObject({ found: { pino: 2 } });
    expect((await shop.describe()).shows).toEqual({
      loggers: ["pino"],
      sessions: ["express-session"],
      integrationGraph: ["bullmq"],
    });
    expect((await shop.get("/integrationgraph")).nodes).toMatchObject([
      { name: "orders", componentType: "bullmq:queue" },
    ]);
    expect(Object.keys((await shop.get("/loggers")).loggers)).toEqual(["ROOT", "shop", "shop.orders"]);
    expect((await shop.get("/sessions?username=ada")).sessions).toHaveLength(1);

    shop.child.kill("SIGTERM");
    expect(await shop.exit()).toBe(0);
  });
}

test("a bundle without a library that is recognised is left alone", async () => {
  const folder = await bundled(`import express from "express"; console.log(typeof express())`, "cjs");
  expect(statSync(join(folder.folder, "shop.cjs")).size).toBeGreaterThan(100_000);
  const shop = runApplication(folder, "shop.cjs");
  expect(await shop.exit()).toBe(0);
  expect(shop.output()).toEqual({ stdout: "function\n", stderr: "" });
  expect(readdirSync(folder.env.XDG_RUNTIME_DIR!)).toEqual([]);
});

test("a bundle that makes its own actuator is not said to be one", async () => {
  const own = new URL("../../src/index.ts", import.meta.url).href;
  const folder = await bundled(
    `import { pino } from "pino";
     const { createActuator } = await import(String(process.env.OWN));
     createActuator({ name: "mine" });
     console.log(pino().level);
     setInterval(() => {}, 1000);`,
    "esm",
  );
  const shop = runApplication(folder, "shop.mjs", { env: { OWN: own } });
  await shop.said("info");
  expect(await shop.describe()).toMatchObject({ name: "mine", notices: [] });
  expect(await shop.line(LINES.searchHeap)).toEqual({ error: expect.stringMatching(/created its actuator itself/) });
});

test("programs in packages, small scripts and missing ones are not looked at", () => {
  const large = `"pino.setLevel"; ${"x;".repeat(20_000)}`;
  const { folder } = applicationFolder({
    "app.js": `console.log("pino.setLevel")`,
    "large.js": large,
    "tools/node_modules/tool/bin.js": large,
  });
  const librariesOf = (path: string) => bundledLibraries(join(folder, path));
  expect(librariesOf("app.js")).toEqual([]);
  expect(librariesOf("tools/node_modules/tool/bin.js")).toEqual([]);
  expect(librariesOf("missing.js")).toEqual([]);
  expect(librariesOf("large.js")).toEqual(["pino"]);
});
