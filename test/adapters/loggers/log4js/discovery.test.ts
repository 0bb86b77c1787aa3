import { createRequire } from "node:module";
import log4js from "log4js";
import { afterEach, describe, expect, test } from "vitest";
import { log4jsLoggers } from "../../../../src/adapters/loggers/log4js/index.ts";
import { Loggers } from "../../../../src/loggers/loggers.ts";
import { configure, memory } from "./memory.ts";

const require = createRequire(import.meta.url);
const categories = require("log4js/lib/categories") as object;
const detaches: (() => void)[] = [];
afterEach(() => {
  for (const detach of detaches.splice(0)) detach();
  log4js.shutdown();
});

function attach(...of: Parameters<typeof log4jsLoggers>): Loggers {
  const loggers = new Loggers();
  detaches.push(loggers.attach(log4jsLoggers(...of)));
  return loggers;
}
const names = (loggers: Loggers): string[] => loggers.list().loggers.map(({ name }) => name);

test("before log4js is configured there is nothing; everything comes with its configuration", () => {
  const loggers = attach(log4js);
  expect(names(loggers)).toEqual(["ROOT"]);
  const out = memory();
  configure(out, { default: "warn", a: "debug" });
  expect(loggers.get("ROOT")).toMatchObject({ configuredLevel: "WARN", baselineLevel: "WARN", kind: "log4js" });
  expect(loggers.get("a")).toMatchObject({ configuredLevel: "DEBUG", baselineLevel: "DEBUG" });
});

test("code that took getLogger before is seen as well", () => {
  const { getLogger } = log4js;
  configure(memory(), { default: "info" });
  const loggers = attach(log4js);
  getLogger("captured");
  expect(names(loggers)).toEqual(["ROOT", "captured"]);
});

test("the category default may have a name of the tree that is not ROOT", () => {
  configure(memory(), { default: "warn", a: "debug" });
  const loggers = attach(log4js, { name: "legacy" });
  expect(loggers.get("ROOT")).toMatchObject({ configuredLevel: "INFO", kind: "" });
  expect(loggers.get("legacy")).toMatchObject({ configuredLevel: "WARN", kind: "log4js" });
  expect(names(loggers)).toEqual(["ROOT", "a", "legacy"]);
});

test("several copies of the library live side by side", () => {
  configure(memory(), { default: "info" });
  const loggers = attach(log4js);
  const cached = new Map(Object.entries(require.cache).filter(([path]) => path.includes("log4js")));
  for (const path of cached.keys()) delete require.cache[path];
  const other = require("log4js") as typeof log4js;
  try {
    expect(other).not.toBe(log4js);
    detaches.push(loggers.attach(log4jsLoggers(other, { name: "other" })));
    const logger = other.getLogger("of-the-other");
    expect(names(loggers)).toEqual(["ROOT", "of-the-other", "other"]);
    loggers.setLevel("of-the-other", "DEBUG");
    expect(logger.isDebugEnabled()).toBe(true);
  } finally {
    for (const [path, module] of cached) require.cache[path] = module;
  }
});

test("two actuators at once agree", () => {
  configure(memory(), { default: "info" });
  const [one, other] = [attach(log4js), attach(log4js)];
  const logger = log4js.getLogger("a");
  one.setLevel("a", "TRACE");
  expect(other.get("a")).toMatchObject({ configuredLevel: "TRACE" });
  other.setLevel("a", "WARN");
  expect(String(logger.level)).toBe("WARN");
  expect(one.get("a")).toMatchObject({ configuredLevel: "WARN" });
});

describe("after detaching", () => {
  test("everything is as it was", () => {
    configure(memory(), { default: "info" });
    const shapes = () =>
      [categories, log4js, Object.getPrototypeOf(log4js.getLogger())].map(Object.getOwnPropertyDescriptors);
    const before = shapes();
    const detach = new Loggers().attach(log4jsLoggers(log4js));
    log4js.getLogger("a").level = "debug";
    detach();
    expect(shapes()).toEqual(before);
  });

  test("levels stay as they are", () => {
    const out = memory();
    configure(out, { default: "info" });
    const loggers = new Loggers();
    const detach = loggers.attach(log4jsLoggers(log4js));
    const logger = log4js.getLogger("a");
    loggers.setLevel("a", "DEBUG");
    detach();
    logger.debug("1");
    logger.level = "warn";
    logger.info("no");
    expect(out.written).toEqual(["a 1"]);
    expect(loggers.get("a")).toMatchObject({ configuredLevel: "DEBUG" });
  });

  test("one of two actuators goes, the other one stays in charge", () => {
    configure(memory(), { default: "info" });
    const [one, other] = [new Loggers(), new Loggers()];
    const stops = [one, other].map((loggers) => loggers.attach(log4jsLoggers(log4js)));
    stops[0]!();
    log4js.getLogger("seen-by-the-other");
    expect([names(one), names(other)]).toEqual([["ROOT"], ["ROOT", "seen-by-the-other"]]);
    stops[1]!();
  });

  test("an adapter that is attached again finds its categories again", () => {
    configure(memory(), { default: "info", a: "warn" });
    const adapter = log4jsLoggers(log4js);
    new Loggers().attach(adapter)();
    const loggers = new Loggers();
    detaches.push(loggers.attach(adapter));
    expect(names(loggers)).toEqual(["ROOT", "a"]);
  });
});

test.each([undefined, null, {}, { levels: {} }, console, "log4js"])("%j is refused: it is not log4js", (value) => {
  expect(() => log4jsLoggers(value as never)).toThrow(/needs log4js 6/);
});

test("categories can be passed if they are not found, as in a bundle", () => {
  configure(memory(), { default: "info" });
  const bundled = { ...log4js };
  expect(() => log4jsLoggers(bundled)).toThrow(/options\.categories/);
  expect(() => log4jsLoggers(bundled, { categories: new Map() })).toThrow(/options\.categories/);
  const loggers = attach(bundled, { categories });
  log4js.getLogger("a");
  expect(names(loggers)).toEqual(["ROOT", "a"]);
});
