// node --import connect-actuator/auto preloaded.mjs: asks this process at its socket for its loggers.
import assert from "node:assert/strict";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { get } from "node:http";
import { createRequire } from "node:module";
import { setTimeout as delay } from "node:timers/promises";

// Imported and required: Node.js has a way of its own for each.
const { pino } = await import("pino");
const required = createRequire(import.meta.url)("pino");
const loggers = [pino({ level: "silent" }), required({ level: "silent" })].map((root) =>
  root.child({ module: "orders" }),
);

const socketPath = `${process.env.CONNECT_ACTUATOR_RUNTIME_DIR}/connect-actuator/${process.pid}.sock`;
for (let tries = 0; tries < 200 && !existsSync(socketPath); tries++) await delay(50);
const [response] = await once(get({ socketPath, path: "/actuator/loggers", agent: false }), "response");
let text = "";
for await (const chunk of response) text += chunk;
assert.equal(loggers.length, 2);
assert.ok("orders" in JSON.parse(text).loggers, text);
console.log(`Node.js ${process.versions.node}: preloaded`);
