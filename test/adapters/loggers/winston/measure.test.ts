import { PassThrough } from "node:stream";
import { setFlagsFromString } from "node:v8";
import { afterEach, expect, test } from "vitest";
import winston from "winston";
import { winstonLoggers } from "../../../../src/adapters/loggers/winston/index.ts";
import { LEVELS, type Level, levelVerbosity } from "../../../../src/loggers/level.ts";
import { Loggers } from "../../../../src/loggers/loggers.ts";
import type { CallReport, Measurement } from "../../../../src/loggers/measurement.ts";
import { memoryLogger, written } from "./memory.ts";

const cleanups: (() => unknown)[] = [];
afterEach(() => {
  for (const cleanup of cleanups.splice(0).reverse()) cleanup();
});

function application(options: winston.LoggerOptions = {}) {
  const { root, out } = memoryLogger(options);
  const loggers = new Loggers();
  cleanups.push(loggers.attach(winstonLoggers(root)));
  const measure = (namePrefix = ""): Measurement => {
    const measurement = loggers.measure({ namePrefix });
    cleanups.push(() => measurement.end());
    return measurement;
  };
  return { root, loggers, measure, written: () => written(out, root) };
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

type Custom = winston.Logger & Record<string, (...values: unknown[]) => void>;

const LEVEL_SETS: readonly (readonly [string, winston.LoggerOptions, Partial<Record<Level, string>>])[] = [
  // error; warn; info; http, verbose and debug; silly
  ["npm", { level: "info" }, { ERROR: "1+0", WARN: "1+0", INFO: "1+0", DEBUG: "0+3", TRACE: "0+1" }],
  // emerg, alert and crit; error; warning; notice and info; debug
  [
    "syslog",
    { levels: winston.config.syslog.levels, level: "notice" },
    { FATAL: "3+0", ERROR: "1+0", WARN: "1+0", INFO: "1+1", DEBUG: "0+1" },
  ],
  [
    "one whose most verbose level no name is known for",
    { levels: { error: 0, info: 1, chatty: 2 }, level: "chatty" },
    { ERROR: "1+0", INFO: "1+0", DEBUG: "1+0" },
  ],
  [
    "one with a level that no level of ours lets through",
    { levels: { error: 0, trace: 1, beyond: 2 }, level: "beyond" },
    { ERROR: "1+0", TRACE: "1+0" },
  ],
];

test.each(LEVEL_SETS)("each level is counted, of the levels of %s", (_, options, expected) => {
  const { root, measure } = application(options);
  const measurement = measure();
  for (const label of Object.keys(root.levels)) (root as Custom)[label]!("x");
  expect(counts(measurement.report())).toEqual({ ROOT: expected });
});

test.each<[string, (root: winston.Logger) => void]>([
  ["one text", (root) => root.info("x")],
  ["nothing", (root) => (root as unknown as { info(): void }).info()],
  ["a text and metadata", (root) => root.info("x", { a: 1 })],
  ["a record", (root) => root.info({ message: "x" })],
  ["log() of a text", (root) => root.log("info", "x")],
  ["log() of a text and metadata", (root) => root.log("info", "x", { a: 1 })],
  ["log() of a record", (root) => root.log({ level: "info", message: "x" })],
])("a call with %s counts once, let through or not", async (_, call) => {
  const { root, loggers, measure, written } = application();
  const measurement = measure();
  call(root);
  loggers.setLevel("ROOT", "WARN");
  call(root);
  call(root.child({ a: 1 }));
  expect(counts(measurement.report())).toEqual({ ROOT: { INFO: "1+2" } });
  expect(await written()).toHaveLength(1);
});

test("a call from inside a call counts too", () => {
  const loggers: winston.Logger[] = [];
  const nested = winston.format((info) => {
    if (info.message === "outer") loggers[0]!.log("info", "inner");
    return info;
  });
  const { root, measure } = application({ format: nested() });
  loggers.push(root);
  const measurement = measure();
  root.info("outer", { a: 1 });
  root.log("info", "outer");
  root.warn("outer");
  expect(counts(measurement.report())).toEqual({ ROOT: { WARN: "1+0", INFO: "5+0" } });
});

test("a word that is not a level is not counted", () => {
  const { root, measure } = application();
  const measurement = measure();
  root.isLevelEnabled("info");
  root.on("error", () => {});
  root.log("toString", "x");
  expect(counts(measurement.report())).toEqual({});
});

test("children count by their name, and children without a name for the nearest logger that has one", () => {
  const { root, loggers, measure } = application();
  const orders = root.child({ name: "orders" });
  const payment = orders.child({ name: "orders:payment" });
  const request = payment.child({ requestId: 1 });
  loggers.setLevel("orders.payment", "DEBUG");
  const measurement = measure();
  root.child({ requestId: 2 }).debug("x");
  orders.debug("x");
  orders.child({ requestId: 3 }).child({ step: 1 }).info("x");
  request.debug("x");
  payment.silly("x");
  // Made meanwhile.
  root.child({ name: "late" }).info("x");
  loggers.setLevel("later", "TRACE");
  root.child({ name: "later" }).child({ requestId: 4 }).silly("x");
  expect(counts(measurement.report())).toEqual({
    ROOT: { DEBUG: "0+1" },
    orders: { INFO: "1+0", DEBUG: "0+1" },
    "orders.payment": { DEBUG: "1+0", TRACE: "0+1" },
    late: { INFO: "1+0" },
    later: { TRACE: "1+0" },
  });
});

test("loggers made meanwhile are counted, and restored", async () => {
  const { measure } = application();
  const make = () => winston.createLogger({ defaultMeta: { name: "late" }, level: "warn", silent: true });
  const twin = make();
  await Promise.resolve();
  const measurement = measure();
  const late = make();
  await Promise.resolve();
  for (const logger of [twin, late]) {
    logger.info("x");
    logger.error("x", { a: 1 });
  }
  expect(counts(measurement.report())).toEqual({ late: { ERROR: "2+0", INFO: "0+2" } });
  measurement.end();
  late.error("x");
  expect(counts(measurement.report())).toEqual({ late: { ERROR: "2+0", INFO: "0+2" } });
  expect(Reflect.ownKeys(late)).toEqual(Reflect.ownKeys(twin));
});

test("only names with the prefix are counted", () => {
  const { root, measure } = application();
  const measurement = measure("orders");
  for (const name of ["orders", "orders/payment", "users"]) root.child({ name }).debug("x");
  root.debug("x");
  expect(Object.keys(counts(measurement.report())).sort()).toEqual(["orders", "orders.payment"]);
});

test("counts and levels stay right when operators and the application change levels meanwhile", async () => {
  const { root, loggers, measure, written } = application();
  const child = root.child({ name: "a" });
  const request = child.child({ requestId: 1 });
  const measurement = measure();
  request.debug("suppressed");
  loggers.setLevel("ROOT", "DEBUG");
  request.debug("1");
  loggers.setLevel("a", "INFO");
  request.debug("suppressed");
  loggers.setLevel("a", "TRACE");
  request.debug("2");
  loggers.restoreLevel("a");
  root.level = "off";
  request.debug("suppressed");
  expect(counts(measurement.report())).toEqual({ a: { DEBUG: "2+3" } });
  measurement.end();
  loggers.setLevel("ROOT", "DEBUG");
  request.debug("3");
  expect(await written()).toEqual(["1", "2", "3"]);
  expect(counts(measurement.report())).toEqual({ a: { DEBUG: "2+3" } });
});

test("levels that configure() brings are counted", () => {
  const { root, measure } = application();
  const measurement = measure();
  root.configure({ levels: { error: 0, notice: 1 }, level: "error", transports: root.transports });
  root.log("notice", "x");
  root.error("x");
  expect(counts(measurement.report())).toEqual({ ROOT: { ERROR: "1+0", WARN: "0+1" } });
});

test("the same lines are written, whatever the application does with its loggers", () => {
  const format = winston.format.combine(
    winston.format.errors({ stack: false }),
    winston.format.splat(),
    winston.format.json(),
  );
  const run = (measured: boolean): readonly string[] => {
    const stream = new PassThrough();
    const transports = [new winston.transports.Stream({ stream, eol: "\n" })];
    const root = winston.createLogger({ format, transports, defaultMeta: { app: "shop" } });
    const loggers = new Loggers();
    cleanups.push(loggers.attach(winstonLoggers(root)));
    const measurement = measured ? loggers.measure({}) : undefined;
    root.info("with %s and %d", "text", 2, { a: 1 });
    root.info({ message: "record", a: 1 });
    root.log({ level: "warn", message: "record" });
    root.error(new Error("failed"));
    root.error("failed", Object.assign(new Error("because"), { stack: "no stack" }));
    root.info("").warn("chained").debug("no").error("chained");
    const { info } = root;
    info("a method needs no logger");
    const child = root.child({ name: "child", more: true });
    child.warn("x", { a: 1 });
    child.debug("no");
    measurement?.end();
    if (measurement !== undefined) {
      const { total } = measurement.report();
      expect(total.emitted.reduce((sum, count) => sum + count)).toBe(10);
      expect(total.suppressed.reduce((sum, count) => sum + count)).toBe(2);
    }
    return String(stream.read()).trimEnd().split("\n");
  };
  const bare = run(false);
  expect(bare).toHaveLength(10);
  expect(run(true)).toEqual(bare);
});

test.each([false, true])("no trace is left: every logger has what it had, with a level that was set: %s", (isSet) => {
  const { root, loggers, measure } = application();
  const follower = root.child({ name: "follower" });
  const pushed = root.child({ name: "pushed" });
  const nameless = pushed.child({ requestId: 1 });
  if (isSet) loggers.setLevel("pushed", "TRACE");
  const all = [root, follower, pushed, nameless];
  const above: object[] = [];
  for (let at = Object.getPrototypeOf(root); at !== null; at = Object.getPrototypeOf(at)) above.push(at);
  const state = () => [...all, ...above].map((object) => Object.getOwnPropertyDescriptors(object));
  const keys = () => all.map((logger) => Reflect.ownKeys(logger));
  const [before, order] = [state(), keys()];
  const measurement = measure();
  const meanwhile = state();
  expect(Object.hasOwn(before[0]!, "debug")).toBe(isSet);
  expect(Object.hasOwn(meanwhile[0]!, "debug")).toBe(true);
  // Children have no methods, neither before nor meanwhile; and winston itself is not touched.
  for (const at of before.keys()) if (at !== 0) expect(meanwhile[at]).toEqual(before[at]);
  for (const logger of all) logger.silly("x");
  measurement.end();
  expect(state()).toEqual(before);
  expect(keys()).toEqual(order);
});

test("methods that the application put there or stored meanwhile stay", async () => {
  const { root, measure, written } = application();
  const measurement = measure();
  const kept = root.info.bind(root);
  const inner = root.error;
  const replaced = ((text: string) => inner.call(root, `seen: ${text}` as never)) as typeof root.error;
  root.error = replaced;
  measurement.end();
  kept("kept");
  root.error("x");
  expect(root.error).toBe(replaced);
  expect(await written()).toEqual(["kept", "seen: x"]);
  expect(counts(measurement.report())).toEqual({});
  const again = measure();
  root.error("y");
  expect(counts(again.report())).toEqual({ ROOT: { ERROR: "1+0" } });
  again.end();
  expect(root.error).toBe(replaced);
});

test("two actuators measure the same loggers, and the last one restores them", () => {
  const { root, loggers, measure } = application();
  const other = new Loggers();
  cleanups.push(other.attach(winstonLoggers(root)));
  const { debug, log } = root;
  const one = measure();
  root.debug("x");
  const two = other.measure({});
  cleanups.push(() => two.end());
  root.debug("x");
  one.end();
  root.debug("x");
  loggers.setLevel("ROOT", "DEBUG");
  root.debug("x", { a: 1 });
  two.end();
  expect([counts(one.report()), counts(two.report())]).toEqual([
    { ROOT: { DEBUG: "0+2" } },
    { ROOT: { DEBUG: "1+2" } },
  ]);
  loggers.restoreLevel("ROOT");
  expect(root.debug === debug && root.log === log).toBe(true);
});

test("a measurement ends with the adapter, which leaves the logger as winston made it", () => {
  const { root } = memoryLogger();
  const own = Object.getOwnPropertyDescriptors(root);
  const loggers = new Loggers();
  const detach = loggers.attach(winstonLoggers(root));
  const measurement = loggers.measure({});
  root.debug("x");
  detach();
  expect(Object.keys(Object.getOwnPropertyDescriptors(root))).toEqual(Object.keys(own));
  expect(Object.hasOwn(root, "debug") || Object.hasOwn(root, "log")).toBe(false);
  root.debug("x");
  expect(measurement.report().total.suppressed[levelVerbosity("DEBUG")]).toBe(1);
  measurement.end();
});

test("all of a thousand loggers are restored", () => {
  const { root, loggers, measure } = application();
  const make = (index: number) =>
    winston.createLogger({ defaultMeta: { name: `n${index}` }, level: "error", silent: true });
  const measurement = measure();
  const all = Array.from({ length: 1_100 }, (_, index) => make(index));
  for (const logger of all) logger.log("debug", "x");
  expect(measurement.report().total.suppressed[levelVerbosity("DEBUG")]).toBe(1_100);
  measurement.end();
  for (const logger of [root, ...all]) logger.log("debug", "x");
  expect(measurement.report().total.suppressed[levelVerbosity("DEBUG")]).toBe(1_100);
  const again = loggers.measure({});
  for (const logger of all) logger.log("debug", "x");
  expect(again.report().total.suppressed[levelVerbosity("DEBUG")]).toBe(1_100);
  again.end();
});

test("the engine's fast shape of a logger is kept while and after it is measured", () => {
  setFlagsFromString("--allow-natives-syntax");
  const isFast = new Function("object", "return %HasFastProperties(object)") as (object: object) => boolean;
  const { root, loggers, measure } = application();
  const child = root.child({ name: "a" });
  loggers.setLevel("a", "DEBUG");
  const shapes = () => [root, child, Object.getPrototypeOf(root), winston.Logger.prototype].map(isFast);
  expect(shapes()).not.toContain(false);
  const measurement = measure();
  for (const logger of [root, child]) logger.silly("x");
  expect(shapes()).not.toContain(false);
  measurement.end();
  expect(shapes()).not.toContain(false);
});
