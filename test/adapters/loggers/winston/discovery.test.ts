import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { afterEach, describe, expect, test, vi } from "vitest";
import winston, * as namespace from "winston";
import { winstonLoggers } from "../../../../src/adapters/loggers/winston/index.ts";
import { Loggers } from "../../../../src/loggers/loggers.ts";
import { Memory, memoryLogger, written } from "./memory.ts";

const detaches: (() => void)[] = [];
afterEach(() => {
  for (const detach of detaches.splice(0)) detach();
});

function attach(...of: Parameters<typeof winstonLoggers>): Loggers {
  const loggers = new Loggers();
  detaches.push(loggers.attach(winstonLoggers(...of)));
  return loggers;
}
const namedExports = (...keys: readonly (keyof typeof winston)[]) =>
  Object.fromEntries(keys.map((key) => [key, winston[key]]));
const names = (loggers: Loggers): string[] => loggers.list().loggers.map(({ name }) => name);
const configured = (loggers: Loggers): string[] =>
  loggers.list().loggers.map(({ name, configuredLevel }) => `${name}:${configuredLevel ?? "inherits"}`);

describe("winston's loggers are found", () => {
  test("from the moment winstonLoggers is called, before anything is attached", () => {
    const { root } = memoryLogger();
    const adapter = winstonLoggers(root);
    const child = root.child({ name: "early" });
    child.level = "debug";
    root.child({ name: "quiet" });
    root.level = "warn";
    winston.createLogger({ defaultMeta: { service: "billing" }, level: "error" });
    const loggers = new Loggers();
    detaches.push(loggers.attach(adapter));
    expect(configured(loggers)).toEqual(["ROOT:WARN", "billing:ERROR", "early:inherits", "quiet:inherits"]);
  });

  test("although they are older than the adapter, if the heap is searched", async () => {
    const { root, out } = memoryLogger();
    const orders = root.child({ module: "orders" });
    const items = orders.child({ module: "orders.items", request: 1 });
    const kept = [items, orders.child({ request: 2 }), root.child({ request: 3 })];
    const billing = winston.createLogger({ defaultMeta: { service: "billing" }, level: "error" });
    const own = Object.create(root, { write: { value: () => expect.unreachable() } }) as typeof root;
    expect(configured(attach(root))).not.toContain("orders:inherits");
    const loggers = attach(root, { findExisting: true });
    expect(configured(loggers)).toEqual(
      expect.arrayContaining(["orders:inherits", "orders.items:inherits", "billing:ERROR"]),
    );
    loggers.setLevel("orders", "DEBUG");
    for (const logger of kept) logger.debug(String(kept.indexOf(logger)));
    expect(billing.isDebugEnabled()).toBe(false);
    expect(await written(out, root)).toEqual(["0", "1"]);
    expect(Object.hasOwn(Object.getPrototypeOf(Object.getPrototypeOf(root)), "write")).toBe(false);
    expect(own).toBeDefined();
  });

  test("by the first name among their metadata, or by one of the application's own", () => {
    const { root } = memoryLogger();
    const loggers = attach(root);
    for (const metadata of [
      { name: "n", module: "m" },
      { component: 7, label: "only-text" },
      { service: "" },
      { requestId: 1 },
    ]) {
      root.child(metadata);
    }
    expect(names(loggers)).toEqual(["ROOT", "m", "only-text"]);

    const own = attach(root, { nameOf: ({ area }) => (typeof area === "string" ? area : undefined) });
    root.child({ name: "n", area: "shipping" });
    expect(names(own)).toEqual(["ROOT", "shipping"]);
  });

  test("as second loggers, given or made later", () => {
    const { root } = memoryLogger();
    const given = winston.createLogger({ defaultMeta: { service: "given" }, level: "error" });
    const same = winston.createLogger({ defaultMeta: { service: "same" } });
    const loggers = attach([root, given, same]);
    winston.createLogger({ defaultMeta: { service: "later" }, level: "debug" });
    winston.createLogger({ defaultMeta: { service: "plain" } });
    winston.createLogger({ level: "debug" });
    expect(configured(loggers)).toEqual(["ROOT:INFO", "given:ERROR", "later:DEBUG", "plain:inherits", "same:inherits"]);
  });

  test("in a container that is empty so far, also if nothing else is given", () => {
    const container = new winston.Container();
    const loggers = attach(container);
    container.add("db", { level: "warn" }).child({ name: "db.pool" });
    expect(configured(loggers)).toEqual(["ROOT:INFO", "db:WARN", "db.pool:inherits"]);
  });

  test("in containers by their ids, there already or added later, in any container of this copy", async () => {
    const container = new winston.Container();
    container.add("db", { level: "warn" });
    const { root } = memoryLogger();
    const loggers = attach([root, container]);
    const out = new Memory();
    loggers.setLevel("db.pool", "DEBUG");
    const pool = container.get("db.pool", { transports: [out], defaultMeta: { service: "not-by-this-name" } });
    new winston.Container().add("other", { level: "silly" });
    container.get("db");
    expect(configured(loggers)).toEqual(["ROOT:INFO", "db:WARN", "db.pool:DEBUG", "other:TRACE"]);
    pool.debug("yes");
    pool.silly("no");
    await Promise.resolve();
    pool.silly("no");
    expect(await written(out, pool)).toEqual(["yes"]);
  });

  test("at once: a level that was set for a new logger counts from its first call", async () => {
    const loggers = attach(memoryLogger().root);
    loggers.setLevel("late", "ERROR");
    const { root: late, out } = memoryLogger({ defaultMeta: { service: "late" } });
    late.warn("no");
    late.child({}).log("warn", "no");
    late.error("yes");
    expect(await written(out, late)).toEqual(["yes"]);
  });

  test.each([
    ["default", winston],
    ["namespace", namespace],
    ["namespace, as Node.js makes it,", { ...namedExports("loggers", "createLogger", "Logger"), default: winston }],
  ])("through the module's %s import: the default logger and winston.loggers", async (_, module) => {
    const out = new Memory();
    winston.configure({ transports: [out] });
    winston.loggers.add("kept", { level: "error" });
    try {
      const loggers = attach(module as typeof winston);
      expect(configured(loggers)).toEqual(["ROOT:INFO", "kept:ERROR"]);
      loggers.setLevel("ROOT", "DEBUG");
      winston.debug("1");
      winston.level = "warn";
      winston.info("no");
      expect(loggers.get("ROOT")).toMatchObject({ configuredLevel: "WARN" });
      await expect.poll(() => out.written).toEqual(["1"]);
    } finally {
      winston.loggers.close("kept");
      winston.configure({});
    }
  });

  test("through a child that was given instead of the logger itself", async () => {
    const { root, out } = memoryLogger();
    const application = root.child({ application: "shop" });
    const loggers = attach(application);
    loggers.setLevel("ROOT", "DEBUG");
    application.debug("1");
    root.debug("no");
    expect(await written(out, root)).toEqual(["1"]);
  });

  test("under a name of the tree that is not ROOT", () => {
    const { root } = memoryLogger({ level: "warn" });
    const loggers = attach(root, { name: "legacy" });
    root.child({ name: "legacy.orders" });
    expect(configured(loggers)).toEqual(["ROOT:INFO", "legacy:WARN", "legacy.orders:inherits"]);
  });

  test("in several copies of the library", async () => {
    vi.resetModules();
    const { createRequire } = await import("node:module");
    const require = createRequire(import.meta.url);
    for (const path of Object.keys(require.cache)) if (path.includes("winston")) delete require.cache[path];
    const other = require("winston") as typeof winston;
    expect(other.Logger).not.toBe(winston.Logger);
    const [one, two] = [memoryLogger().root, other.createLogger({ defaultMeta: { service: "two" } })];
    const loggers = attach([one, two]);
    other.createLogger({ defaultMeta: { service: "late" } });
    two.child({ name: "two.child" });
    expect(names(loggers)).toEqual(["ROOT", "late", "two", "two.child"]);
  });

  test("however many have one name", async () => {
    const { root, out } = memoryLogger();
    const loggers = attach(root);
    const others = [
      memoryLogger({ defaultMeta: { name: "orders" } }),
      memoryLogger({ defaultMeta: { name: "orders" } }),
    ];
    const children = Array.from({ length: 500 }, (_, at) => root.child({ name: "orders", at }));
    const enabled = () => [...children, ...others.map(({ root }) => root)].map((each) => each.isDebugEnabled());
    loggers.setLevel("orders", "DEBUG");
    expect(enabled()).not.toContain(false);
    for (const child of children) child.debug("yes");
    loggers.restoreLevel("orders");
    expect(enabled()).not.toContain(true);
    for (const child of children) child.debug("no");
    loggers.setLevel("ROOT", "ERROR");
    for (const child of children) child.warn("no");
    expect(new Set(await written(out, root))).toEqual(new Set(["yes"]));
    expect(out.written).toHaveLength(500);
  });

  test("by two actuators at once, which agree", () => {
    const { root } = memoryLogger();
    const [one, other] = [attach(root), attach(root)];
    const child = root.child({ name: "a" });
    one.setLevel("a", "TRACE");
    expect(other.get("a")).toMatchObject({ configuredLevel: "TRACE" });
    other.setLevel("a", "WARN");
    expect(child.level).toBe("warn");
    expect(one.get("a")).toMatchObject({ configuredLevel: "WARN" });
  });
});

describe("and released", () => {
  const shapes = (...of: object[]) => of.map((each) => Object.getOwnPropertyDescriptors(each));

  test("everything is as it was", () => {
    const out = new Memory();
    const kept = new Memory({ level: "debug" });
    const root = winston.createLogger({ transports: [out, kept] });
    const child = root.child({ name: "a" });
    child.level = "warn";
    const all = [root, child, winston.Logger.prototype, winston.Container.prototype, Object.getPrototypeOf(root)];
    const transports = () => shapes(out, kept).map(({ _write, _accept, level }) => [_write, _accept, level]);
    const before = [shapes(...all), transports()];
    const loggers = new Loggers();
    const detach = loggers.attach(winstonLoggers([root, winston.loggers]));
    root.child({ name: "b" });
    loggers.setLevel("b", "TRACE");
    expect(transports()).not.toEqual(before[1]);
    detach();
    expect([shapes(...all), transports()]).toEqual(before);
  });

  test("levels stay as they are", async () => {
    const { root, out } = memoryLogger();
    const before = shapes(root)[0]!;
    const loggers = new Loggers();
    const detach = loggers.attach(winstonLoggers(root));
    loggers.setLevel("ROOT", "DEBUG");
    detach();
    expect(shapes(root)[0]).toEqual({ ...before, level: { ...before.level, value: "debug" } });
    root.debug("1");
    root.silly("no");
    root.level = "off";
    root.error("no");
    expect(await written(out, root)).toEqual(["1"]);
  });

  test("one of two actuators goes, the other one stays in charge", () => {
    const { root } = memoryLogger();
    const [one, other] = [new Loggers(), new Loggers()];
    const stops = [one, other].map((loggers) => loggers.attach(winstonLoggers(root)));
    stops[0]!();
    root.child({ name: "seen-by-the-other" });
    root.level = "warn";
    expect([names(one), names(other)]).toEqual([["ROOT"], ["ROOT", "seen-by-the-other"]]);
    expect([one, other].map((loggers) => loggers.get("ROOT"))).toMatchObject([
      { configuredLevel: "INFO" },
      { configuredLevel: "WARN" },
    ]);
    stops[1]!();
    expect(Object.getOwnPropertyDescriptor(root, "level")).toMatchObject({ value: "warn" });
  });

  test("an adapter that is attached again finds its loggers again", () => {
    const { root } = memoryLogger();
    const adapter = winstonLoggers(root);
    const child = root.child({ name: "a" });
    const earlier = new Loggers();
    const detach = earlier.attach(adapter);
    earlier.setLevel("a", "TRACE");
    earlier.restoreLevel("a");
    detach();
    const loggers = new Loggers();
    detaches.push(loggers.attach(adapter));
    expect(configured(loggers)).toEqual(["ROOT:INFO", "a:inherits"]);
    loggers.setLevel("ROOT", "TRACE");
    expect(child.isSillyEnabled()).toBe(true);
    loggers.setLevel("a", "DEBUG");
    expect(child.isDebugEnabled()).toBe(true);
  });

  test("methods that the application replaced stay", () => {
    const { root } = memoryLogger();
    const detach = new Loggers().attach(winstonLoggers(root));
    const spy = vi.spyOn(root, "info");
    detach();
    root.info("x");
    expect(spy).toHaveBeenCalledOnce();
  });
});

test("the engine's fast shape of a logger is kept while it is managed", () => {
  setFlagsFromString("--allow-natives-syntax");
  const isFast = new Function("object", "return %HasFastProperties(object)") as (object: object) => boolean;
  const { root } = memoryLogger();
  const loggers = attach(root);
  expect(isFast(root)).toBe(true);
  const child = root.child({ name: "a" });
  loggers.setLevel("a", "DEBUG");
  loggers.setLevel("ROOT", "WARN");
  expect([root, child, Object.getPrototypeOf(root), winston.Logger.prototype].map(isFast)).not.toContain(false);
});

test("a name leaves the list with its last logger, with what was set for it", async () => {
  setFlagsFromString("--expose-gc");
  const gc = runInNewContext("gc") as () => void;
  const { root } = memoryLogger();
  const loggers = attach(root);
  const kept = root.child({ name: "kept" });
  loggers.setLevel("request", "TRACE");
  const request = () => {
    for (let index = 0; index < 100; index++) root.child({ name: `request.${index % 10}` }).silly("x");
  };
  request();
  expect(names(loggers)).toHaveLength(13);
  await expect
    .poll(() => {
      gc();
      return names(loggers);
    })
    .toEqual(["ROOT", "kept", "request"]);
  loggers.restoreAllLevels();
  expect(names(loggers)).toEqual(["ROOT", "kept"]);
  expect(kept.isDebugEnabled()).toBe(false);
});

test.each([undefined, null, {}, { level: "info" }, console, "logger", new Map()])(
  "%j is refused: it is not a winston logger",
  (value) => {
    expect(() => winstonLoggers(value as never)).toThrow(/made by winston 3/);
  },
);
