import log4js from "log4js";
import { afterEach, beforeEach, expect, onTestFinished, test } from "vitest";
import { log4jsLoggers } from "../../../../src/adapters/loggers/log4js/index.ts";
import { LEVELS } from "../../../../src/loggers/level.ts";
import { Loggers } from "../../../../src/loggers/loggers.ts";
import type { CallReport } from "../../../../src/loggers/measurement.ts";
import { configure, type Memory, memory } from "./memory.ts";

let out: Memory;
beforeEach(() => {
  out = memory();
  configure(out, { default: "info" });
});
afterEach(() => log4js.shutdown());

function attach(): Loggers {
  const loggers = new Loggers();
  onTestFinished(loggers.attach(log4jsLoggers(log4js)));
  return loggers;
}

function measure(loggers: Loggers) {
  const measurement = loggers.measure({});
  onTestFinished(() => measurement.end());
  return measurement;
}

/** The calls of each logger, as `LEVEL emitted+suppressed`. */
function counts({ loggers }: CallReport): Record<string, readonly string[]> {
  const found: Record<string, readonly string[]> = {};
  for (const { name, emitted, suppressed } of loggers) {
    const calls = LEVELS.map((level, at) => `${level} ${emitted[at]}+${suppressed[at]}`);
    found[name] = calls.filter((call) => !call.endsWith(" 0+0"));
  }
  return found;
}

const prototype = () => Object.getPrototypeOf(log4js.getLogger()) as object;

test("calls are counted once each, at the levels that are disabled too", () => {
  const measurement = measure(attach());
  const logger = log4js.getLogger("orders");
  logger.fatal("1");
  logger.error("2", new Error("x"));
  logger.info("3");
  logger.log("info", "4");
  logger.log("5");
  logger.debug("no");
  logger.log(log4js.levels.TRACE, "no");
  logger.mark("6");
  expect(counts(measurement.report())).toMatchObject({
    orders: ["FATAL 1+0", "ERROR 1+0", "INFO 3+0", "DEBUG 0+1", "TRACE 0+1"],
  });
  expect(out.written).toEqual(["1", "2", "3", "4", "5", "6"].map((text) => `orders ${text}`));
});

test("asking whether a level is enabled is not counted", () => {
  const measurement = measure(attach());
  const logger = log4js.getLogger("orders");
  if (logger.isDebugEnabled()) logger.debug("no");
  if (logger.isInfoEnabled()) logger.info("yes");
  logger.isLevelEnabled("debug");
  expect(counts(measurement.report())).toMatchObject({ orders: ["INFO 1+0"] });
});

test("a level that changes meanwhile is counted as it is", () => {
  const loggers = attach();
  const measurement = measure(loggers);
  const logger = log4js.getLogger("orders");
  logger.debug("no");
  loggers.setLevel("orders", "DEBUG");
  logger.debug("yes");
  logger.level = "error";
  logger.info("no");
  expect(counts(measurement.report())).toMatchObject({ orders: ["INFO 0+1", "DEBUG 1+1"] });
});

test("the lines of call stacks stay the application's", () => {
  const files: (string | undefined)[] = [];
  const appender = { type: { configure: () => (event: log4js.LoggingEvent) => void files.push(event.fileName) } };
  log4js.configure({
    appenders: { memory: appender },
    categories: { default: { appenders: ["memory"], level: "info", enableCallStack: true } },
  } as unknown as log4js.Configuration);
  const measurement = measure(attach());
  log4js.getLogger("orders").info("x");
  measurement.end();
  log4js.getLogger("orders").info("x");
  expect(files.map((file) => file?.endsWith("measure.test.ts"))).toEqual([true, true]);
});

test("a call counts once although the application wrapped a method during an earlier measurement", () => {
  const original = Object.getOwnPropertyDescriptor(prototype(), "isLevelEnabled")!;
  onTestFinished(() => void Object.defineProperty(prototype(), "isLevelEnabled", original));
  const loggers = attach();
  const earlier = measure(loggers);
  const inner = Reflect.get(prototype(), "isLevelEnabled") as (...values: unknown[]) => unknown;
  const value = function (this: unknown, ...values: unknown[]) {
    return inner.apply(this, values);
  };
  Object.defineProperty(prototype(), "isLevelEnabled", { ...original, value });
  earlier.end();
  const measurement = measure(loggers);
  log4js.getLogger("orders").info("x");
  expect(counts(measurement.report())).toMatchObject({ orders: ["INFO 1+0"] });
});

test("afterwards everything is as before, also after two measurements at once", () => {
  const before = Object.getOwnPropertyDescriptors(prototype());
  const [one, other] = [measure(attach()), measure(attach())];
  expect(Object.getOwnPropertyDescriptors(prototype())).not.toEqual(before);
  const logger = log4js.getLogger("orders");
  logger.info("1");
  one.end();
  logger.info("2");
  expect(counts(other.report())).toMatchObject({ orders: ["INFO 2+0"] });
  other.end();
  logger.info("3");
  expect(Object.getOwnPropertyDescriptors(prototype())).toEqual(before);
  expect(Object.getOwnPropertyNames(logger)).not.toContain("isLevelEnabled");
});
