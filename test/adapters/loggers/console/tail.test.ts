import { Console } from "node:console";
import { hasSubscribers } from "node:diagnostics_channel";
import { Writable } from "node:stream";
import { configureSync, getConsoleSink, getLogger, reset } from "@logtape/logtape";
import * as nest from "@nestjs/common";
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { consoleLogger } from "../../../../src/adapters/loggers/console/index.ts";
import { debugLoggers } from "../../../../src/adapters/loggers/debug/index.ts";
import { log4jsLoggers } from "../../../../src/adapters/loggers/log4js/index.ts";
import { logtapeLoggers } from "../../../../src/adapters/loggers/logtape/index.ts";
import { nestjsLoggers } from "../../../../src/adapters/loggers/nestjs/index.ts";
import type { LoggerAdapter } from "../../../../src/loggers/adapter.ts";
import { Loggers } from "../../../../src/loggers/loggers.ts";
import { hear } from "../../../support/heard.ts";
import { borrowNest } from "../../../support/nest-versions.ts";
import { debugCopy } from "../debug/debug-copy.ts";

/** What the console wrote. */
const written: string[] = [];
const stream = new Writable({
  decodeStrings: false,
  write(text: string, _, done) {
    written.push(text.trimEnd());
    done();
  },
});
const { console: given } = globalThis;
// log4js keeps the one that there is when it is loaded.
globalThis.console = new Console(stream, stream);
const { default: log4js } = await import("log4js");
globalThis.console = given;

beforeEach(() => {
  globalThis.console = new Console(stream, stream);
  written.length = 0;
});
afterEach(() => {
  globalThis.console = given;
});

function attach(...adapters: LoggerAdapter[]): Loggers {
  const loggers = new Loggers();
  for (const adapter of [consoleLogger(), ...adapters]) onTestFinished(loggers.attach(adapter));
  return loggers;
}

test("what is heard is what was written, each at the level of its method", () => {
  const loggers = attach();
  console.log("before");
  written.length = 0;
  const { heard } = hear(loggers);
  console.error("one");
  console.warn("%s of %d", "two", 2);
  console.log("three", 4, true);
  console.info("%o", { a: 1 });
  console.debug("five");
  console.trace("six");
  console.table([1]);
  const records = heard();
  expect(records.map(({ message }) => message)).toEqual(written);
  expect(records.map(({ level, nativeLevel }) => `${level} ${nativeLevel}`)).toEqual([
    "ERROR error",
    "WARN warn",
    "INFO log",
    "INFO info",
    "DEBUG debug",
    "ERROR error",
    "INFO log",
  ]);
  expect(new Set(records.map(({ logger }) => logger))).toEqual(new Set(["console"]));
});

test("objects are fields, copied at once, and an error is the record's", () => {
  const { heard } = hear(attach());
  const order = { id: 7, buyer: { token: "secret" } };
  console.log("paid", order);
  order.id = 8;
  console.error("failed", new TypeError("because"));
  console.error(new RangeError("alone"));
  console.log(new Map([["a", 1]]));
  console.log();
  expect(heard()).toMatchObject([
    { message: "paid", fields: { id: 7, buyer: { token: "secret" } }, error: undefined },
    { message: "failed", fields: {}, error: { type: "TypeError", message: "because" } },
    { message: "alone", error: { type: "RangeError" } },
    { message: "[Map]" },
    { message: "", fields: {} },
  ]);
});

test("it has no level: one that is set changes nothing, and the answer says so", () => {
  const loggers = attach();
  const { heard } = hear(loggers);
  const levels = () => loggers.get("console");
  expect(levels()).toMatchObject({ effectiveLevel: "TRACE" });
  loggers.setLevel("ROOT", "ERROR");
  expect(levels()).toMatchObject({ effectiveLevel: "TRACE" });
  const { notices } = loggers.setLevel("console", "OFF");
  expect(notices).toMatchObject([{ code: "PARTLY_APPLIED", message: expect.stringContaining("has no level") }]);
  expect(levels()).toMatchObject({ effectiveLevel: "TRACE" });
  console.debug("written");
  expect([written, heard().length]).toEqual([["written"], 1]);
  loggers.setLevel("console", undefined);
  expect(levels()).toMatchObject({ effectiveLevel: "TRACE" });
});

test("it can have another name, and hides nothing", () => {
  const adapter = consoleLogger({ name: "stdout" });
  const loggers = new Loggers();
  onTestFinished(loggers.attach(adapter));
  const { heard, unheard } = hear(loggers, { hidden: "TRACE" });
  console.log("x");
  expect(heard()).toMatchObject([{ logger: "stdout", hidden: false }]);
  expect([unheard, adapter.hides]).toEqual([[], expect.stringContaining("has no level")]);
});

test("only wanted levels, and a sink that logs and throws changes nothing", () => {
  const take = () => {
    console.log("from the sink");
    throw new Error("sink");
  };
  const { heard } = hear(attach(), { level: "WARN", take });
  console.log("no");
  console.warn("yes", {
    get fails() {
      console.log("from the getter");
      throw new Error("getter");
    },
  });
  expect(heard()).toMatchObject([{ message: "yes", fields: { fails: "[cannot be read]" } }]);
  expect(written[0]).toBe("no");
  expect(written).toContain("from the sink");
});

test("after 50 rounds Node.js has nothing to tell, and a call finds the console as it was", () => {
  const loggers = attach();
  const channels = ["log", "info", "debug", "warn", "error"].map((name) => `console.${name}`);
  const before = Object.getOwnPropertyDescriptors(console);
  for (let round = 0; round < 50; round++) {
    const { heard, stop } = hear(loggers);
    console.log("x");
    expect(heard()).toHaveLength(1);
    stop();
    console.log("x");
    expect([heard(), channels.filter((channel) => hasSubscribers(channel))]).toEqual([[], []]);
  }
  expect(Object.getOwnPropertyDescriptors(console)).toEqual(before);
});

describe("what a library writes to the console is heard once, as the library's", () => {
  test("log4js", () => {
    log4js.configure({
      appenders: { out: { type: "console", layout: { type: "messagePassThrough" } } },
      categories: { default: { appenders: ["out"], level: "info" } },
    });
    onTestFinished(() => log4js.shutdown());
    const { heard } = hear(attach(log4jsLoggers(log4js)));
    log4js.getLogger("orders").info("x");
    console.log("y");
    expect(heard()).toMatchObject([{ logger: "orders" }, { logger: "console" }]);
    expect(written).toEqual(["x", "y"]);
  });

  test("LogTape", async () => {
    const loggers = [{ category: [], sinks: ["out"], lowestLevel: "info" as const }];
    configureSync({ reset: true, sinks: { out: getConsoleSink() }, loggers });
    onTestFinished(() => reset());
    const { heard } = hear(attach(logtapeLoggers()), { names: ["orders", "console"] });
    getLogger(["orders"]).info("x");
    expect([heard().map(({ logger }) => logger), written.filter((line) => line.includes("orders x"))]).toEqual([
      ["orders"],
      [expect.stringContaining("orders x")],
    ]);
  });

  test("NestJS", () => {
    borrowNest(nest);
    nest.Logger.overrideLogger(new nest.ConsoleLogger({ forceConsole: true }));
    const { heard } = hear(attach(nestjsLoggers(nest)));
    new nest.Logger("Orders").error("x", new Error("y").stack);
    expect(heard().map(({ logger }) => logger)).toEqual(["Orders"]);
    expect(written).toHaveLength(2);
  });

  test("debug, also by a function of one logger", () => {
    const { debug } = debugCopy("app");
    debug.log = console.info.bind(console);
    const { heard } = hear(attach(debugLoggers(debug)));
    const log = debug("app");
    log("x %d", 1);
    log.log = console.log.bind(console);
    log("y");
    console.log("y");
    expect(heard().map(({ logger, message }) => `${logger} ${message}`)).toEqual(["app x 1", "app y", "console y"]);
    expect(written).toHaveLength(3);
  });
});
