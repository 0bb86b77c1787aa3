import { AsyncLocalStorage } from "node:async_hooks";
import {
  configureSync,
  getLevelFilter,
  getLogger,
  lazy,
  type Sink,
  withCategoryPrefix,
  withConfig,
} from "@logtape/logtape";
import fc from "fast-check";
import { afterEach, expect, onTestFinished, test } from "vitest";
import { LEVELS, type Level, levelVerbosity } from "../../../../src/loggers/level.ts";
import { hear } from "../../../support/heard.ts";
import { LogTapeApplication, type Setup } from "./logtape-application.ts";

const application = new LogTapeApplication();
const { written } = application.all;
afterEach(() => application.end());

type AnyLogger = ReturnType<typeof getLogger>;

const usual: Setup = [{ category: [], sinks: ["all"], lowestLevel: "info" }];

function attached(setup: Setup = usual) {
  application.configure(setup, { level: getLevelFilter("warning") });
  return application.attach().loggers;
}

/** As the sink writes it. */
const line = ({ logger, nativeLevel, message }: { logger: string; nativeLevel: string; message: string }) =>
  `${logger === "ROOT" ? "" : logger} ${nativeLevel}: ${message}`;

const METHODS = ["fatal", "error", "warn", "info", "debug", "trace"] as const;
const LEVEL_OF = {
  fatal: "FATAL",
  error: "ERROR",
  warn: "WARN",
  info: "INFO",
  debug: "DEBUG",
  trace: "TRACE",
} as const;

test("what is heard is what the sinks got, from every way to write", async () => {
  const loggers = attached();
  getLogger(["app"]).info("before");
  written.length = 0;
  const { heard } = hear(loggers);
  for (const log of [getLogger(["app", "orders"]), getLogger(["app"]).with({ id: 1 }), getLogger()]) {
    log.fatal("text");
    log.error("with {a}", { a: 1 });
    log.error(new Error("failed"));
    log.warning`template ${1}`;
    log.info((l) => l`lazy ${2}`);
    await log.info("late {a}", async () => ({ a: 3 }));
    log.emit({ level: "info", message: ["emitted"], rawMessage: "emitted", timestamp: 0, properties: {} });
    log.debug("no");
  }
  const records = heard();
  expect(records.map(line)).toEqual(written);
  expect(records.every(({ hidden }) => !hidden)).toBe(true);
  expect(records.slice(0, 3)).toMatchObject([
    { level: "FATAL", logger: "app.orders", fields: {} },
    { level: "ERROR", fields: { a: 1 } },
    { level: "ERROR", message: "failed", fields: {}, error: { type: "Error", message: "failed" } },
  ]);
});

test("properties are copied at once, and not shown in the message", () => {
  const loggers = attached();
  const { heard } = hear(loggers);
  const order = { id: 7, buyer: { token: "secret" } };
  const log = getLogger(["app"]).with({ lazy: lazy(() => "now"), step: 1 });
  log.info({ order });
  log.info("paid {order.id}", { order });
  order.id = 8;
  const fields = { order: { id: 7, buyer: { token: "secret" } }, lazy: "now", step: 1 };
  expect(heard()).toMatchObject([
    { message: "", fields },
    { message: "paid 7", fields },
  ]);
});

test("objects in a message are fields, where secrets are found", () => {
  const { heard } = hear(attached());
  const buyer = { token: "secret" };
  const log = getLogger(["app"]);
  log.info("paid by {buyer}", { buyer });
  log.info`paid by ${buyer}, ${["a"]}, ${new Map([["token", "secret"]])} at ${new Date(0)}`;
  expect(heard()).toMatchObject([
    { message: "paid by [Object]", fields: { buyer } },
    { message: "paid by [Object], [Array], [Map] at 1970-01-01T00:00:00.000Z", fields: { values: [buyer, ["a"], {}] } },
  ]);
});

test("what filters drop is not heard, and each filter is asked once", () => {
  let asked = 0;
  configureSync({
    reset: true,
    sinks: { all: application.all.sink },
    filters: { odd: () => ++asked % 2 === 1 },
    loggers: [{ category: [], sinks: ["all"], filters: ["odd"], lowestLevel: "info" }],
  });
  const { heard } = hear(application.attach().loggers, { hidden: "DEBUG" });
  // LogTape asks the filters before it looks at the level of the sinks' own logger.
  application.all.written.length = asked = 0;
  const log = getLogger([]);
  for (let at = 0; at < 6; at++) {
    log.info(`${at}`);
    log.debug("hidden");
  }
  expect(asked).toBe(6);
  const records = heard();
  expect(records.filter(({ hidden }) => !hidden).map(line)).toEqual(written);
  expect(written).toHaveLength(3);
  expect(records.filter(({ hidden }) => hidden)).toHaveLength(6);
});

test("a level filter counts as a level", () => {
  const loggers = attached([{ category: [], sinks: ["all"], lowestLevel: "trace", filters: ["level"] }]);
  const { heard } = hear(loggers, { hidden: "INFO" });
  for (const method of METHODS) getLogger(["app"])[method](method);
  expect(heard().map(({ message, hidden }) => `${message} ${hidden}`)).toEqual([
    "fatal false",
    "error false",
    "warn false",
    "info true",
  ]);
});

test("a prefix and the configuration of one call are heeded", async () => {
  configureSync({
    reset: true,
    sinks: { all: application.all.sink },
    loggers: [{ category: [], sinks: ["all"], lowestLevel: "info" }],
    contextLocalStorage: new AsyncLocalStorage(),
  });
  const { loggers } = application.attach();
  getLogger(["lib"]);
  const { heard } = hear(loggers);
  const sinks = { other: application.other.sink };
  await withConfig({ sinks, loggers: [{ category: [], sinks: ["other"], lowestLevel: "debug" }] }, () => {
    getLogger(["app"]).debug("in a call");
    getLogger(["app"]).trace("no");
  });
  withCategoryPrefix("lib", () => getLogger(["app"]).error("under a prefix"));
  expect(heard().filter(({ logger }) => !logger.startsWith("logtape"))).toMatchObject([
    { logger: "app", message: "in a call", hidden: false },
    { logger: "lib", message: "under a prefix" },
  ]);
});

test("a hidden record is heard and not written, and questions are answered as before", () => {
  const loggers = attached();
  const { heard } = hear(loggers, { hidden: "DEBUG", names: ["app"] });
  const log = getLogger(["app"]);
  log.debug("text {a}", { a: 1 });
  log.with({ b: 2 }).debug((l) => l`lazy`);
  log.debug`template`;
  log.trace("no");
  expect([log.isEnabledFor("debug"), log.with({}).isEnabledFor("debug")]).toEqual([false, false]);
  log.info("written");
  expect(heard()).toMatchObject([
    { level: "DEBUG", hidden: true, message: "text 1", fields: { a: 1 } },
    { hidden: true, message: "lazy", fields: { b: 2 } },
    { hidden: true, message: "template" },
    { level: "INFO", hidden: false },
  ]);
  expect(written.filter((text) => text.startsWith("app "))).toEqual(["app info: written"]);
});

test("what a sink gets is the same with hidden records, whatever happens meanwhile", async () => {
  const level = fc.constantFrom<Level>(...LEVELS);
  const step = fc.record({
    category: fc.constantFrom([], ["app"], ["app", "http"], ["users"]),
    method: fc.constantFrom(...METHODS),
    level,
    act: fc.constantFrom("write", "write", "write", "configure", "operator", "hear"),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
      const run = async (hears: boolean) => {
        const loggers = attached();
        let border: Level = "OFF";
        let ears = hears ? hear(loggers) : undefined;
        const expected: string[] = [];
        const told: string[] = [];
        for (const [at, { category, method, level, act }] of steps.entries()) {
          const log = getLogger(category as [string]);
          if (act === "configure") {
            application.configure([
              { category: [], sinks: ["all"], lowestLevel: method === "warn" ? "warning" : method },
            ]);
            await Promise.resolve();
          } else if (act === "operator") loggers.setLevel(category.join(".") || "ROOT", level);
          else if (act === "hear") {
            border = level;
            ears?.stop();
            ears = hears ? hear(loggers, { hidden: level }) : undefined;
          } else {
            const isWritten = log.isEnabledFor(method === "warn" ? "warning" : method);
            const isHidden = !isWritten && levelVerbosity(LEVEL_OF[method]) <= levelVerbosity(border);
            if (isWritten || isHidden) expected.push(`${at} ${isHidden}`);
            log[method](`${at}`);
          }
          const ours = (ears?.heard() ?? []).filter(({ logger }) => !logger.startsWith("logtape"));
          told.push(...ours.map(({ message, hidden }) => `${message} ${hidden}`));
        }
        const lines = written.filter((text) => !text.startsWith("logtape"));
        await application.end();
        return { lines, expected, told };
      };
      const [without, heard] = [await run(false), await run(true)];
      expect(heard.lines).toEqual(without.lines);
      expect(heard.told).toEqual(heard.expected);
    }),
  );
});

test("a sink that logs or throws, one of ours that does, and values that throw change nothing", () => {
  const loggers = attached();
  const inner = getLogger(["inner"]);
  const sink: Sink = ({ message: [text] }) => {
    if (text === "outer") inner.info("within");
    if (text === "fails") throw new Error("full");
  };
  (getLogger() as AnyLogger & { sinks: Sink[] }).sinks.push(sink);
  const log = getLogger(["app"]);
  const take = () => {
    log.info("from the sink");
    throw new Error("sink");
  };
  const { heard } = hear(loggers, { take, hidden: "DEBUG", names: ["app", "inner"] });
  log.info("outer");
  log.info("fails");
  log.debug("{a}", {
    get a() {
      throw new Error("getter");
    },
  });
  expect(heard().map(({ message }) => message)).toEqual(["outer", "within", "fails"]);
  expect(written.filter((text) => text === "app info: from the sink")).toHaveLength(3);
  expect(written.filter((text) => text.startsWith("app info: "))).toHaveLength(5);
});

test("after 50 rounds everything is as before", () => {
  const loggers = attached();
  const log = getLogger(["app"]);
  const owners = [log, Object.getPrototypeOf(log) as object, Object.getPrototypeOf(log.with({})) as object];
  const state = () => owners.map((owner) => [Object.getOwnPropertyDescriptors(owner), Reflect.ownKeys(owner)]);
  const before = state();
  for (let round = 0; round < 50; round++) {
    const { heard, stop } = hear(loggers, { hidden: round % 2 === 0 ? "DEBUG" : "OFF", names: ["app"] });
    expect(state()).not.toEqual(before);
    log.info("x");
    log.debug("x");
    expect(heard()).toHaveLength(round % 2 === 0 ? 2 : 1);
    stop();
    expect(state()).toEqual(before);
    log.info("x");
  }
  expect(written.filter((text) => text.startsWith("app"))).toHaveLength(100);
});

test("everything is as before, whether a measurement ends before or after the records that are heard", () => {
  const loggers = attached();
  const prototype = Object.getPrototypeOf(getLogger(["app"])) as object;
  const before = Object.getOwnPropertyDescriptors(prototype);
  for (let round = 0; round < 3; round++) {
    const { stop } = hear(loggers);
    const measurement = loggers.measure();
    if (round === 0) measurement.end();
    stop();
    // Other records are heard while the measurement goes on.
    if (round === 2) hear(loggers).stop();
    measurement.end();
    expect(Object.getOwnPropertyDescriptors(prototype)).toEqual(before);
  }
});

test("two actuators hear the same, in any order, and a method that the application wrapped meanwhile tells once", () => {
  const loggers = attached();
  const { loggers: other } = application.attach();
  const log = getLogger(["app"]);
  const prototype = Object.getPrototypeOf(log) as AnyLogger;
  const before = Object.getOwnPropertyDescriptors(prototype);
  const names = ["app"];
  const [one, two] = [hear(loggers, { hidden: "DEBUG", names }), hear(other, { names })];
  log.info("x");
  log.debug("x");
  expect([one.heard().length, two.heard().length]).toEqual([2, 1]);
  one.stop();
  log.info("x");
  expect([one.heard().length, two.heard().length]).toEqual([0, 1]);
  two.stop();
  expect(Object.getOwnPropertyDescriptors(prototype)).toEqual(before);
  onTestFinished(() => void Object.defineProperty(prototype, "emit", before.emit));
  const earlier = hear(loggers);
  const inner = prototype.emit;
  prototype.emit = function (this: AnyLogger, ...values: Parameters<AnyLogger["emit"]>) {
    return Reflect.apply(inner, this, values);
  };
  earlier.stop();
  const { heard } = hear(loggers, { names });
  log.info("x");
  expect(heard()).toHaveLength(1);
});
