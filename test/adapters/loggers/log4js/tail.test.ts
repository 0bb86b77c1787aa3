import { format } from "node:util";
import fc from "fast-check";
import log4js from "log4js";
import { afterEach, expect, onTestFinished, test } from "vitest";
import { log4jsLoggers } from "../../../../src/adapters/loggers/log4js/index.ts";
import { LEVELS, type Level, levelVerbosity } from "../../../../src/loggers/level.ts";
import { Loggers } from "../../../../src/loggers/loggers.ts";
import { hear } from "../../../support/heard.ts";

afterEach(() => log4js.shutdown());

/** log4js with an appender that keeps the text of each record, as `category LEVEL text`, and calls `then`. */
function application(level = "info", then: (event: log4js.LoggingEvent) => void = () => {}, rest: object = {}) {
  const written: string[] = [];
  const append = (event: log4js.LoggingEvent) => {
    written.push(`${event.categoryName} ${event.level.levelStr} ${format(...event.data)}`);
    then(event);
  };
  log4js.configure({
    appenders: { memory: { type: { configure: () => append } } },
    categories: { default: { appenders: ["memory"], level, ...rest } },
    levels: { NOTICE: { value: 25_000, colour: "blue" } },
  } as unknown as log4js.Configuration);
  const loggers = new Loggers();
  onTestFinished(loggers.attach(log4jsLoggers(log4js)));
  return { written, loggers };
}

function owners() {
  const logger = log4js.getLogger("orders");
  const clustering = Object.values(require.cache).find((module) =>
    module?.filename.endsWith("log4js/lib/clustering.js"),
  );
  return [logger, Object.getPrototypeOf(logger) as object, clustering!.exports as object];
}

const descriptors = () => owners().map((owner) => Object.getOwnPropertyDescriptors(owner));
const keys = () => owners().map((owner) => Reflect.ownKeys(owner));

test("what is heard is what the appenders got", () => {
  const { written, loggers } = application();
  const logger = log4js.getLogger("orders");
  logger.warn("before");
  const { heard } = hear(loggers);
  logger.fatal("one");
  logger.error("%s of %d", "two", 3);
  logger.log("info", "three", 4, true);
  logger.log("four");
  logger.debug("no");
  log4js.getLogger().warn("five");
  const records = heard();
  expect(records.map(({ logger, nativeLevel, message }) => `${logger} ${nativeLevel} ${message}`)).toEqual(
    written.slice(1).map((line) => line.replace("default", "ROOT")),
  );
  expect(records).toMatchObject([
    { level: "FATAL", hidden: false, fields: {}, error: undefined },
    { level: "ERROR" },
    { level: "INFO" },
    { level: "INFO" },
    { level: "WARN" },
  ]);
});

test("levels of the application's own and marks are heard at the least verbose level that writes them", () => {
  const { loggers } = application();
  const logger = log4js.getLogger("orders") as log4js.Logger & { notice(text: string): void };
  const { heard } = hear(loggers);
  logger.notice("n");
  logger.mark("m");
  expect(heard()).toMatchObject([
    { level: "INFO", nativeLevel: "NOTICE" },
    { level: "FATAL", nativeLevel: "MARK" },
  ]);
});

test("the context and objects are fields, and an error is the record's", () => {
  const { loggers } = application();
  const logger = log4js.getLogger("orders");
  logger.addContext("tenant", "acme");
  const order = { id: 7, buyer: { token: "secret" } };
  const { heard } = hear(loggers);
  const cause = new TypeError("because");
  logger.info("paid %s", "now", order, [1]);
  order.id = 8;
  logger.error("failed", new RangeError("too far", { cause }));
  logger.error(new Error("alone"));
  logger.info(order);
  const [paid, failed, alone, object] = heard();
  const tenant = "acme";
  expect(paid).toMatchObject({
    message: "paid now",
    fields: { tenant, id: 7, buyer: { token: "secret" }, values: [[1]] },
  });
  expect(failed).toMatchObject({ message: "failed", fields: { tenant } });
  expect(failed!.error).toMatchObject({ type: "RangeError", message: "too far" });
  expect(failed!.error!.stack).toContain("caused by: TypeError: because");
  expect(alone).toMatchObject({ message: "alone", error: { type: "Error", message: "alone" } });
  expect(object).toMatchObject({ message: "", fields: { tenant, id: 8 } });
});

test("only wanted loggers and levels are heard, also if an operator changes a level meanwhile", () => {
  const { loggers } = application();
  const { heard } = hear(loggers, { names: ["orders"], level: "DEBUG" });
  loggers.setLevel("ROOT", "TRACE");
  for (const category of ["orders", "users"])
    for (const level of ["debug", "trace"]) log4js.getLogger(category).log(level, level);
  expect(heard()).toMatchObject([{ logger: "orders", message: "debug" }]);
});

test("a hidden record is heard and not written, and questions are answered as before", () => {
  const { written, loggers } = application();
  const { heard } = hear(loggers, { hidden: "DEBUG" });
  const logger = log4js.getLogger("orders");
  logger.debug("hidden");
  logger.log("debug", "hidden", { a: 1 });
  logger.trace("no");
  logger.info("written");
  expect([logger.isDebugEnabled(), logger.isLevelEnabled(log4js.levels.DEBUG as unknown as string)]).toEqual([
    false,
    false,
  ]);
  expect(heard()).toMatchObject([
    { level: "DEBUG", hidden: true, message: "hidden" },
    { level: "DEBUG", hidden: true, fields: { a: 1 } },
    { level: "INFO", hidden: false },
  ]);
  expect(written).toEqual(["orders INFO written"]);
  expect(log4js.getLogger("orders").level).toBe(log4js.levels.INFO);
});

test("what an appender gets is the same with hidden records, whatever happens meanwhile", () => {
  const level = fc.constantFrom<Level>(...LEVELS);
  const step = fc.record({
    category: fc.constantFrom("orders", "orders.http", "users"),
    level,
    hidden: level,
    act: fc.constantFrom("write", "write", "write", "application", "operator", "hear"),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
      const run = (hears: boolean) => {
        const { written, loggers } = application();
        let border: Level = "OFF";
        let ears = hears ? hear(loggers) : undefined;
        const expected: string[] = [];
        const told: string[] = [];
        for (const [at, { category, level, hidden, act }] of steps.entries()) {
          const logger = log4js.getLogger(category);
          if (act === "application") logger.level = level;
          else if (act === "operator") loggers.setLevel(category, level);
          else if (act === "hear") {
            border = hidden;
            ears?.stop();
            ears = hears ? hear(loggers, { hidden }) : undefined;
          } else if (level !== "OFF") {
            const verbosity = levelVerbosity(level);
            const isWritten = logger.isLevelEnabled(level);
            if (isWritten || verbosity <= levelVerbosity(border)) expected.push(`${at} ${!isWritten}`);
            logger.log(level, `${at}`);
          }
          told.push(...(ears?.heard() ?? []).map(({ message, hidden }) => `${message} ${hidden}`));
        }
        ears?.stop();
        return { written, expected, told };
      };
      const [without, heard] = [run(false), run(true)];
      expect(heard.written).toEqual(without.written);
      expect(heard.told).toEqual(heard.expected);
    }),
  );
});

test("the places of calls stay the application's", () => {
  const places: string[] = [];
  const place = ({ fileName, callStack }: log4js.LoggingEvent) => void places.push(`${fileName} ${callStack}`);
  const { loggers } = application("info", place, { enableCallStack: true });
  const logger = log4js.getLogger("orders");
  const call = () => {
    logger.info("x");
    logger.log("info", "x");
    logger.log("x");
  };
  for (let round = 0; round < 2; round++) {
    if (round === 1) hear(loggers, { hidden: "TRACE" });
    call();
  }
  const before = places.splice(0, 3);
  const first = (place: string) => place.split("\n")[0];
  expect(places.map(first)).toEqual(before.map(first));
});

test("an appender that logs or throws, and a sink that does, change nothing", () => {
  const { written, loggers } = application("info", ({ data }) => {
    if (data[0] === "outer") log4js.getLogger("inner").info("within");
    if (data[0] === "fails") throw new Error("full");
  });
  const logger = log4js.getLogger("orders");
  const take = () => {
    log4js.getLogger("orders").info("from the sink");
    throw new Error("sink");
  };
  const { heard } = hear(loggers, { take, hidden: "DEBUG" });
  logger.info("outer");
  expect(() => logger.info("fails")).toThrow("full");
  logger.info("after", {
    get fails() {
      throw new Error("getter");
    },
  });
  logger.debug("hidden");
  expect(heard().map(({ message }) => message)).toEqual(["outer", "within", "fails", "after", "hidden"]);
  expect(written.filter((line) => line.endsWith("from the sink"))).toHaveLength(5);
});

test("after 50 rounds everything is as before", () => {
  const { written, loggers } = application();
  const logger = log4js.getLogger("orders");
  const [before, order] = [descriptors(), keys()];
  for (let round = 0; round < 50; round++) {
    const { heard, stop } = hear(loggers, { hidden: round % 2 === 0 ? "DEBUG" : "OFF" });
    expect(descriptors()).not.toEqual(before);
    logger.info("x");
    logger.debug("x");
    expect(heard()).toHaveLength(round % 2 === 0 ? 2 : 1);
    stop();
    logger.info("x");
  }
  expect([descriptors(), keys()]).toEqual([before, order]);
  expect(written).toHaveLength(100);
});

test("two actuators hear the same, in any order, and a method that the application wrapped meanwhile tells once", () => {
  const { loggers } = application();
  const other = new Loggers();
  onTestFinished(other.attach(log4jsLoggers(log4js)));
  const logger = log4js.getLogger("orders");
  const before = descriptors();
  const [one, two] = [hear(loggers, { hidden: "DEBUG" }), hear(other)];
  for (const level of ["info", "debug"]) logger.log(level, "x");
  expect([one.heard().length, two.heard().length]).toEqual([2, 1]);
  one.stop();
  logger.info("x");
  expect([one.heard().length, two.heard().length]).toEqual([0, 1]);
  two.stop();
  expect(descriptors()).toEqual(before);
  const clustering = owners()[2] as { send: (event: unknown) => void };
  const own = clustering.send;
  onTestFinished(() => void Object.assign(clustering, { send: own }));
  const earlier = hear(loggers);
  const inner = clustering.send;
  clustering.send = (event) => inner(event);
  earlier.stop();
  const { heard } = hear(loggers);
  logger.info("x");
  expect(heard()).toHaveLength(1);
});

test("without log4js/lib/clustering it cannot be heard, and says why", () => {
  const { categories } = { categories: Object.assign(new Map(), { setLevelForCategory() {} }) };
  const bundled = { ...log4js };
  const adapter = log4jsLoggers(bundled, { categories });
  expect(adapter.tail).toBeUndefined();
  expect(adapter.hides).toContain("clustering");
});
