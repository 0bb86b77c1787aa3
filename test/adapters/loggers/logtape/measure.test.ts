import { AsyncLocalStorage } from "node:async_hooks";
import {
  configureSync,
  getLevelFilter,
  getLogger,
  reset,
  type Sink,
  withCategoryPrefix,
  withConfig,
} from "@logtape/logtape";
import { afterEach, expect, onTestFinished, test } from "vitest";
import { LEVELS, type Level } from "../../../../src/loggers/level.ts";
import type { Loggers } from "../../../../src/loggers/loggers.ts";
import type { CallReport } from "../../../../src/loggers/measurement.ts";
import { LogTapeApplication, type Setup } from "./logtape-application.ts";

const application = new LogTapeApplication();
const { written } = application.all;
afterEach(() => application.end());

const usual: Setup = [{ category: [], sinks: ["all"], lowestLevel: "info" }];

function attached(setup: Setup = usual, options: Parameters<LogTapeApplication["attach"]>[0] = {}): Loggers {
  application.configure(setup, { level: getLevelFilter("warning") });
  return application.attach(options).loggers;
}

function measure(loggers: Loggers, namePrefix = "") {
  const measurement = loggers.measure({ namePrefix });
  onTestFinished(() => measurement.end());
  return measurement;
}

/** The levels with calls of each logger: `emitted+suppressed`. */
function counts({ loggers }: CallReport): Record<string, Partial<Record<Level, string>>> {
  const found: Record<string, Partial<Record<Level, string>>> = {};
  for (const { name, emitted, suppressed } of loggers) {
    const calls = LEVELS.map((level, at) => [level, `${emitted[at]}+${suppressed[at]}`] as const);
    found[name] = Object.fromEntries(calls.filter(([, count]) => count !== "0+0"));
  }
  return found;
}

type AnyLogger = ReturnType<typeof getLogger>;

/** Every way to write, at a level that is let through and at one that is not. */
async function callAll(logger: AnyLogger): Promise<void> {
  logger.fatal("text");
  logger.error("with {a}", { a: 1 });
  logger.error(new Error("failed"));
  logger.warn("x");
  logger.warning`template ${1}`;
  logger.info((l) => l`lazy ${2}`);
  logger.info({ only: "properties" });
  await logger.info("late {a}", async () => ({ a: 3 }));
  const record = { level: "info", message: ["emitted"], rawMessage: "emitted", timestamp: 0, properties: {} } as const;
  logger.emit(record);
  logger.emit({ ...record, level: "debug" });
  logger.debug("no");
  logger.debug((l) => l`no`);
  await logger.debug("no {a}", async () => ({ a: 4 }));
  logger.trace("no");
}

const CALLED = { FATAL: "1+0", ERROR: "2+0", WARN: "2+0", INFO: "4+0", DEBUG: "0+4", TRACE: "0+1" };

test.each<[string, () => AnyLogger]>([
  ["a logger", () => getLogger(["app", "orders"])],
  ["one with properties", () => getLogger(["app", "orders"]).with({ id: 1 }).with({ step: 2 })],
])("counts every call of %s once, and leaves the lines alone", async (_, make) => {
  const loggers = attached();
  await callAll(make());
  const lines = written.splice(0);
  expect(lines).toHaveLength(9);
  const measurement = measure(loggers);
  await callAll(make());
  expect(written).toEqual(lines);
  expect(counts(measurement.report())).toEqual({ "app.orders": CALLED });
});

test("counts loggers made meanwhile, and only names with the prefix", () => {
  const loggers = attached();
  const measurement = measure(loggers);
  getLogger(["late"]).debug("x");
  getLogger().info("x");
  expect(counts(measurement.report())).toEqual({ ROOT: { INFO: "1+0" }, late: { DEBUG: "0+1" } });
  measurement.end();
  const ofOrders = measure(loggers, "orders");
  for (const category of ["orders", "users"]) getLogger([category]).info("x");
  expect(counts(ofOrders.report())).toEqual({ orders: { INFO: "1+0" } });
});

test("counts a logger that is not managed for the one that it follows, unless it has a level of its own", () => {
  const own: Setup[number] = { category: ["left", "own"], sinks: ["other"], lowestLevel: "trace" };
  const loggers = attached([...usual, own], {
    nameOf: ([first]) => (first === "left" ? undefined : (first ?? "ROOT")),
  });
  const measurement = measure(loggers);
  getLogger(["left", "alone"]).debug("x");
  getLogger(["left", "own"]).debug("x");
  expect(counts(measurement.report())).toEqual({ ROOT: { DEBUG: "0+1" } });
});

test("stays right when operators and the application change levels meanwhile", async () => {
  const loggers = attached();
  const log = getLogger(["app"]);
  // LogTape itself tells of its configuration.
  const measurement = measure(loggers, "app");
  log.debug("suppressed");
  loggers.setLevel("app", "DEBUG");
  log.debug("emitted");
  loggers.setLevel("app", undefined);
  log.debug("suppressed");
  application.configure([{ category: [], sinks: ["all"], lowestLevel: "debug" }]);
  await Promise.resolve();
  log.debug("emitted");
  await reset();
  await Promise.resolve();
  log.debug("suppressed: nothing is configured");
  expect(counts(measurement.report())).toEqual({ app: { DEBUG: "2+3" } });
  expect(written).toEqual(["app debug: emitted", "app debug: emitted"]);
});

test("counts what a level filter holds back as suppressed", () => {
  const loggers = attached([{ category: [], sinks: ["all"], lowestLevel: "trace", filters: ["level"] }]);
  const measurement = measure(loggers);
  getLogger(["app"]).info("x");
  getLogger(["app"]).warn("x");
  expect(written).toHaveLength(1);
  expect(counts(measurement.report())).toEqual({ app: { INFO: "0+1", WARN: "1+0" } });
});

test("goes by the configuration of one call, and by the logger that decides under a prefix", async () => {
  configureSync({
    reset: true,
    sinks: { all: application.all.sink },
    filters: { level: getLevelFilter("warning") },
    loggers: [{ category: [], sinks: ["all"], lowestLevel: "info", filters: ["level"] }],
    contextLocalStorage: new AsyncLocalStorage(),
  });
  const { loggers } = application.attach();
  const log = getLogger(["app"]);
  loggers.setLevel("app", "OFF");
  getLogger(["lib"]);
  const measurement = measure(loggers);
  const sinks = { other: application.other.sink };
  await withConfig({ sinks, loggers: [{ category: [], sinks: ["other"], lowestLevel: "debug" }] }, () => {
    log.debug("in a call");
    log.trace("in a call");
  });
  withCategoryPrefix("lib", () => log.error("under a prefix"));
  withCategoryPrefix("lib", () => getLogger(["logtape", "meta"]).debug("under no prefix"));
  log.error("no");
  const measured = measurement.report();
  expect([written, application.other.written]).toEqual([["lib.app error: under a prefix"], ["app debug: in a call"]]);
  expect(counts(measured)).toMatchObject({
    app: { ERROR: "0+1", DEBUG: "1+0", TRACE: "0+1" },
    lib: { ERROR: "1+0" },
    "logtape.meta": { DEBUG: "0+1" },
  });
});

test("counts what a sink writes to another logger", () => {
  const loggers = attached();
  const audit = getLogger(["audit"]);
  const record = { level: "info", message: ["seen"], rawMessage: "seen", timestamp: 0, properties: {} } as const;
  const sink: Sink = ({ category }) => void (category[0] === "app" && audit.emit(record));
  const all = getLogger() as AnyLogger & { sinks: Sink[] };
  all.sinks.push(sink);
  const measurement = measure(loggers);
  getLogger(["app"]).info("x");
  loggers.setLevel("audit", "OFF");
  audit.emit({ ...record, level: "no level" as "info" });
  expect(counts(measurement.report())).toEqual({ app: { INFO: "1+0" }, audit: { INFO: "1+0" } });
});

test("leaves no trace: loggers and their prototypes have what they had", () => {
  const loggers = attached();
  const log = getLogger(["app"]);
  const owners = [log, Object.getPrototypeOf(log) as object, Object.getPrototypeOf(log.with({})) as object];
  const state = () => owners.map((owner) => Object.getOwnPropertyDescriptors(owner));
  const keys = () => owners.map((owner) => Reflect.ownKeys(owner));
  const [before, order] = [state(), keys()];
  const measurement = measure(loggers);
  expect(state()).not.toEqual(before);
  log.with({}).info("x");
  measurement.end();
  expect(state()).toEqual(before);
  expect(keys()).toEqual(order);
  log.info("x");
  expect(counts(measurement.report())).toEqual({ app: { INFO: "1+0" } });
});

test("keeps methods that the application put there meanwhile, which count no more", () => {
  const loggers = attached();
  const prototype = Object.getPrototypeOf(getLogger(["app"])) as AnyLogger;
  const own = Object.getOwnPropertyDescriptor(prototype, "info")!;
  onTestFinished(() => void Object.defineProperty(prototype, "info", own));
  const measurement = measure(loggers);
  const inner = prototype.info;
  const replaced = function (this: AnyLogger, ...values: unknown[]) {
    Reflect.apply(inner, this, values);
  } as typeof inner;
  prototype.info = replaced;
  measurement.end();
  getLogger(["app"]).info("x");
  expect(prototype.info).toBe(replaced);
  expect([written, counts(measurement.report())]).toEqual([["app info: x"], {}]);
  const later = measure(loggers);
  getLogger(["app"]).info("y");
  expect(counts(later.report())).toEqual({ app: { INFO: "1+0" } });
  later.end();
});

test("is separate for each actuator, and ends with the adapter", () => {
  const loggers = attached();
  const { loggers: other, detach } = application.attach();
  const prototype = Object.getPrototypeOf(getLogger()) as object;
  const before = Object.getOwnPropertyDescriptors(prototype);
  const [one, two] = [measure(loggers), measure(other)];
  getLogger(["app"]).info("x");
  detach();
  getLogger(["app"]).info("x");
  expect([counts(one.report()), counts(two.report())]).toEqual([{ app: { INFO: "2+0" } }, { app: { INFO: "1+0" } }]);
  one.end();
  expect(Object.getOwnPropertyDescriptors(prototype)).toEqual(before);
});
