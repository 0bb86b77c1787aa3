// @module-tag slow
import { once } from "node:events";
import { readdirSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { applicationFolder, type RunOptions, runApplication } from "../support/auto-application.ts";

/** Says everything that the preload could have left. */
const SHOP = `
const Module = require("module");
const proto = require("pino/lib/proto.js");
const { pino } = require("pino");
const log = pino({ base: null, timestamp: false });
log.child({ module: "shop.orders" }).info("sold");
const look = (object) => Reflect.ownKeys(object).map((key) => {
  const { value, get, ...flags } = Object.getOwnPropertyDescriptor(object, key);
  return [key.toString(), typeof value === "function" ? value.toString() : typeof value, JSON.stringify(flags)].join();
});
setTimeout(() => {
  console.log(look(Object.getPrototypeOf(proto())), look(log), look(Object.getPrototypeOf(log)));
  console.log(Object.getOwnPropertyDescriptor(Module.prototype, "_compile"));
  console.log(Object.getOwnPropertySymbols(globalThis), process.listenerCount("exit"));
}, 200);
`;

const faults: Readonly<Record<string, readonly [options: RunOptions, line: RegExp]>> = {
  "a port that is no number": [
    { env: { ACTUATOR_LISTEN_PORT: "abc" } },
    /^connect-actuator: switched off after a fault: .*ACTUATOR_LISTEN_PORT.*\n$/,
  ],
  "an unknown variable": [
    { env: { ACTUATOR_NAMEE: "shop" } },
    /^connect-actuator: switched off after a fault: .*"ACTUATOR_NAME".*\n$/,
  ],
  "a file that is not there": [
    { env: { ACTUATOR_CONFIG: "nowhere.json" } },
    /^connect-actuator: switched off after a fault: .*nowhere.json.*\n$/,
  ],
  "no folder for the socket": [
    { nodeArgs: ["--permission", "--allow-fs-read=*"] },
    /^connect-actuator: switched off after a fault: no folder for the socket .*CONNECT_ACTUATOR_RUNTIME_DIR.*\n$/,
  ],
  "a Node.js that cannot require ES modules": [
    { nodeArgs: ["--no-experimental-require-module"] },
    /^connect-actuator: not active: .*require.*\n$/,
  ],
};

test.each(Object.entries(faults))("%s: one line, and everything is taken out", async (_, [options, line]) => {
  const folder = applicationFolder({ "shop.cjs": SHOP });
  const [preloaded, without] = [true, false].map((preload) => {
    return runApplication(folder, "shop.cjs", { ...options, preload });
  });
  expect([await preloaded!.exit(), await without!.exit()]).toEqual([0, 0]);
  expect(preloaded!.output().stdout).toBe(without!.output().stdout);
  expect(preloaded!.output().stderr).toMatch(line);
  expect(readdirSync(folder.env.XDG_RUNTIME_DIR!)).toEqual([]);
});

test("a fault does no harm where nothing reads the standard error", async () => {
  const text = `
    process.stdin.once("data", () => {
      require("pino")();
      setTimeout(() => console.log("goes on"), 200);
      process.stdin.destroy();
    });
    console.log("ready");`;
  const shop = runApplication(applicationFolder({ "shop.cjs": text }), "shop.cjs", { env: { ACTUATOR_NAMEE: "shop" } });
  await shop.said("ready");
  shop.child.stderr!.destroy();
  shop.child.stdin!.write("go");
  expect(await shop.exit()).toBe(0);
  expect(shop.output().stdout).toBe("ready\ngoes on\n");
});

test("a level can be set where nothing reads the standard error", async () => {
  const text = `const log = require("pino")(); setInterval(() => log, 1000); console.log("ready");`;
  const shop = runApplication(applicationFolder({ "shop.cjs": text }), "shop.cjs", {
    env: { ACTUATOR_AUDIT: "false" },
  });
  await shop.said("ready");
  shop.child.stderr!.destroy();
  expect(await shop.post("/loggers/ROOT", { configuredLevel: "DEBUG" })).toBe(204);
  expect((await shop.get("/loggers/ROOT")).configuredLevel).toBe("DEBUG");
});

test("a port that is taken: one line, and the socket answers", async () => {
  const other = createServer().listen(0, "127.0.0.1");
  await once(other, "listening");
  onTestFinished(() => void other.close());
  const port = String((other.address() as AddressInfo).port);
  const shop = runApplication(
    applicationFolder({ "shop.cjs": `require("pino")(); setInterval(() => {}, 1000);` }),
    "shop.cjs",
    { env: { ACTUATOR_LISTEN_PORT: port } },
  );
  expect(await shop.describe()).toMatchObject({ addresses: [] });
  expect(Object.keys((await shop.get("/loggers")).loggers)).toContain("ROOT");
  await expect
    .poll(() => shop.output().stderr)
    .toMatch(new RegExp(`^connect-actuator: cannot listen: .*${port}.*\\n$`));
});

/** What stands where the library's file is expected, and whether that is a fault. */
const shapes: Readonly<Record<string, string>> = {
  "a number": "module.exports = 42;",
  nothing: "module.exports = null;",
  "a class": "module.exports = class {};",
  "a function that throws": "module.exports = () => { throw new Error('no'); };",
  "a function that makes nothing": "module.exports = () => undefined;",
  "a frozen prototype": `
    const prototype = Object.freeze({ [Symbol("pino.setLevel")]() {} });
    module.exports = () => Object.create(prototype);`,
  "a prototype that cannot be looked at": `
    const trap = () => { throw new Error("no"); };
    const prototype = new Proxy({}, { ownKeys: trap, get: trap, getOwnPropertyDescriptor: trap, getPrototypeOf: trap });
    module.exports = () => Object.create(prototype);`,
};

test.each(Object.entries(shapes))("%s in place of the library does no harm", async (_, text) => {
  const folder = applicationFolder(
    { "shop.cjs": `const proto = require("pino/lib/proto.js"); console.log(typeof proto);` },
    { pino: "pino" },
  );
  writeFileSync(join(folder.folder, "node_modules/pino/lib/proto.js"), text);
  const shop = runApplication(folder, "shop.cjs");
  expect(await shop.exit()).toBe(0);
  expect(shop.output().stdout).toMatch(/^(number|object|function)\n$/);
  expect(shop.output().stderr).toMatch(/^(connect-actuator: (not active|switched off after a fault): .*\n)?$/);
});
