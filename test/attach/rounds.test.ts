// @module-tag slow
import { expect, test } from "vitest";
import { runPlain } from "../support/attach-command.ts";
import { applicationFolder } from "../support/auto-application.ts";

const TARGET = new URL("../../src/attach/target.ts", import.meta.url).href;
const ROUNDS = 50;

/** Attaches to itself and detaches again, and writes what is left of that. */
const ROUNDS_OF_ITSELF = `
import { once } from "node:events";
import { createRequire } from "node:module";
import express from "express";
import session from "express-session";
import { pino } from "pino";
import winston from "winston";
import { attach } from ${JSON.stringify(TARGET)};

const require = createRequire(import.meta.url);
const log = pino({ level: "info" }, { write() {} });
const children = Array.from({ length: 200 }, (_, at) => log.child({ module: "orders." + at }));
const other = winston.createLogger({ transports: [new winston.transports.Console({ silent: true })] });
const app = express();
app.use(session({ secret: "x", resave: false, saveUninitialized: false }));
app.get("/", (req, res) => {
  for (const child of children) child.info("seen");
  other.info("seen");
  res.end(String(req.sessionID.length));
});
const server = app.listen(0, "127.0.0.2");
await once(server, "listening");

const patched = {
  pino: Object.getPrototypeOf(require("pino/lib/proto.js")()),
  logger: log,
  child: children[0],
  Store: session.Store.prototype,
  Session: session.Session.prototype,
  MemoryStore: session.MemoryStore.prototype,
  winston: winston.Logger.prototype,
  root: other,
  Module: require("node:module").prototype,
  global: globalThis,
};
// The first call defines globals of Node.js.
await (await fetch("http://127.0.0.2:" + server.address().port)).text();
const look = () =>
  Object.fromEntries(Object.entries(patched).map(([name, object]) => [name, Object.getOwnPropertyDescriptors(object)]));
const listeners = () => process.eventNames().map((name) => [String(name), process.listenerCount(name)]);
const same = (one, other) =>
  Reflect.ownKeys({ ...one, ...other }).flatMap((name) =>
    Reflect.ownKeys({ ...one[name], ...other[name] })
      .filter((key) => {
        const [a, b] = [one[name][key], other[name][key]];
        return ["value", "get", "set", "writable", "enumerable", "configurable"].some((part) => !Object.is(a?.[part], b?.[part]));
      })
      .map((key) => name + "." + String(key)),
  );

const AUTO = Symbol.for("connect-actuator.auto");
async function round() {
  await attach({ who: "test" });
  const application = globalThis[AUTO].application();
  await (await fetch("http://127.0.0.2:" + server.address().port)).text();
  application.detach("restore");
  await new Promise((resolve) => setImmediate(resolve));
}
async function heap() {
  for (let at = 0; at < 5; at++) {
    await new Promise((resolve) => setTimeout(resolve, 20));
    gc();
  }
  return process.memoryUsage().heapUsed;
}

// What is loaded, compiled and cached once.
const before = { objects: look(), listeners: listeners() };
for (let at = 0; at < 10; at++) await round();
const start = await heap();
for (let at = 0; at < ${ROUNDS}; at++) await round();
const end = await heap();
console.log(JSON.stringify({
  changed: same(before.objects, look()),
  listeners: [before.listeners, listeners()],
  bytesEachRound: Math.round((end - start) / ${ROUNDS}),
}));
server.close();
server.closeAllConnections();
`;

test(`${ROUNDS} times attached and detached, the application is as it was`, async () => {
  const folder = applicationFolder({ "rounds.mjs": ROUNDS_OF_ITSELF });
  const rounds = runPlain(folder, "rounds.mjs", { nodeArgs: ["--expose-gc"], env: { ACTUATOR_AUDIT: "false" } });
  const code = await rounds.exit();
  const { stdout, stderr } = rounds.output();
  expect(code, stderr).toBe(0);
  const { changed, listeners, bytesEachRound } = JSON.parse(stdout);
  expect(changed).toEqual([]);
  expect(listeners[1]).toEqual(listeners[0]);
  // Loggers that kept what managed them would hold 130 KB each round. What stays is a field that is empty.
  expect(bytesEachRound).toBeLessThan(60_000);
});
