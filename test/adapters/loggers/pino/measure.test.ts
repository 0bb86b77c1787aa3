import { execFileSync } from "node:child_process";
import { join } from "node:path";
import fastify from "fastify";
import { afterEach, describe, expect, test } from "vitest";
import { pinoLoggers } from "../../../../src/adapters/loggers/pino/index.ts";
import { LEVELS, type Level, levelVerbosity } from "../../../../src/loggers/level.ts";
import { Loggers } from "../../../../src/loggers/loggers.ts";
import type { CallReport, Measurement } from "../../../../src/loggers/measurement.ts";
import { messages, PINO_VERSIONS } from "../../../support/pino-versions.ts";

const cleanups: (() => unknown)[] = [];
afterEach(() => {
  for (const cleanup of cleanups.splice(0).reverse()) cleanup();
});

/** The levels with calls of each logger: `emitted+suppressed`. */
function counts({ loggers }: CallReport): Record<string, Partial<Record<Level, string>>> {
  const found: Record<string, Partial<Record<Level, string>>> = {};
  for (const { name, emitted, suppressed } of loggers) {
    const calls = LEVELS.map((level, at) => [level, `${emitted[at]}+${suppressed[at]}`] as const);
    found[name] = Object.fromEntries(calls.filter(([, count]) => count !== "0+0"));
  }
  return found;
}

describe.each(PINO_VERSIONS)("a measurement of pino %s", (version, pino) => {
  const follows = version === "10";

  function application(options: Parameters<typeof pino>[0] = {}) {
    const lines: string[] = [];
    const root = pino({ base: null, timestamp: false, ...options }, { write: (line) => void lines.push(line) });
    const loggers = new Loggers();
    cleanups.push(loggers.attach(pinoLoggers(root)));
    const measure = (namePrefix = ""): Measurement => {
      const measurement = loggers.measure({ namePrefix });
      cleanups.push(() => measurement.end());
      return measurement;
    };
    return { lines, root, loggers, measure };
  }

  test("counts each level, both enabled and disabled calls", () => {
    const { root, measure } = application({ level: "warn" });
    const measurement = measure();
    const calls = { trace: 1, debug: 2, info: 3, warn: 4, error: 5, fatal: 6 };
    for (const [label, times] of Object.entries(calls)) {
      for (let time = 0; time < times; time++) root[label as keyof typeof calls]("x");
    }
    root.silent("never counted: no level lets it through");
    const expected = { TRACE: "0+1", DEBUG: "0+2", INFO: "0+3", WARN: "4+0", ERROR: "5+0", FATAL: "6+0" };
    expect(counts(measurement.report())).toEqual({ ROOT: expected });
  });

  test("counts children by their name, and children without a name for the logger that they follow", () => {
    const { root, loggers, measure } = application();
    const orders = root.child({ name: "orders" });
    const payment = orders.child({ name: "orders:payment" });
    const request = payment.child({ reqId: 1 });
    const own = root.child({ name: "own" }, { level: "error" });
    loggers.setLevel("orders.payment", "DEBUG");
    const measurement = measure();
    root.child({ reqId: 2 }).debug("x");
    orders.debug("x");
    orders.child({ reqId: 3 }).child({ step: 1 }).info("x");
    request.debug("x");
    own.info("x");
    // Made meanwhile.
    root.child({ name: "late" }).info("x");
    root.child({ name: "late.own" }, { level: "trace" }).trace("x");
    payment.child({ reqId: 4 }, {}).trace("x");
    expect(counts(measurement.report())).toEqual({
      ROOT: { DEBUG: "0+1" },
      orders: { INFO: "1+0", DEBUG: "0+1" },
      "orders.payment": { DEBUG: "1+0", TRACE: "0+1" },
      own: { INFO: "0+1" },
      late: { INFO: "1+0" },
      "late.own": { TRACE: "1+0" },
    });
  });

  test("does not count a logger without a name that has a level of its own", () => {
    const { root, measure } = application();
    const before = root.child({ reqId: 1 }, { level: "trace" });
    const measurement = measure();
    before.trace("x");
    root.child({ reqId: 2 }, { level: "trace" }).debug("x");
    expect(counts(measurement.report())).toEqual({});
  });

  test("counts only names with the prefix", () => {
    const { root, measure } = application();
    const measurement = measure("orders");
    for (const name of ["orders", "orders/payment", "users"]) root.child({ name }).debug("x");
    root.debug("x");
    expect(Object.keys(counts(measurement.report())).sort()).toEqual(["orders", "orders.payment"]);
  });

  test("stays right when operators and the application change levels meanwhile", () => {
    const { lines, root, loggers, measure } = application();
    const child = root.child({ name: "a" });
    const request = child.child({ reqId: 1 });
    const measurement = measure();
    request.debug("suppressed");
    loggers.setLevel("ROOT", "DEBUG");
    request.debug("emitted");
    loggers.setLevel("a", "INFO");
    request.debug("suppressed");
    child.level = "trace";
    // Before pino 10 a child does not follow what the application sets on its parent.
    request.debug(follows ? "emitted" : "suppressed");
    loggers.setLevel("a", "OFF");
    request.debug("suppressed");
    const expected = { a: { DEBUG: follows ? "2+3" : "1+4" } };
    expect(counts(measurement.report())).toEqual(expected);
    expect(lines).toHaveLength(follows ? 2 : 1);
    measurement.end();
    loggers.setLevel("a", "DEBUG");
    request.debug("x");
    expect(lines).toHaveLength(follows ? 3 : 2);
    expect(counts(measurement.report())).toEqual(expected);
  });

  test("counts levels of the application's own for the least verbose level that lets them through", () => {
    const { lines, root, measure } = application({ customLevels: { notice: 35, silly: 5, alarm: 70 } });
    const measurement = measure();
    const custom = root as typeof root & Record<"notice" | "silly" | "alarm", (text: string) => void>;
    custom.notice("x");
    custom.alarm("x");
    custom.silly("no level lets it through");
    const child = root.child({ name: "c" }, { customLevels: { detail: 15 } });
    (child as typeof child & { detail(text: string): void }).detail("x");
    expect(counts(measurement.report())).toEqual({ ROOT: { INFO: "1+0", FATAL: "1+0" }, c: { TRACE: "0+1" } });
    expect(lines).toHaveLength(2);
  });

  test("writes the same lines, whatever the application does with its loggers", () => {
    const calls = (root: ReturnType<typeof application>["root"]): void => {
      root.info({ a: 1 }, "with %s and %d", "text", 2);
      root.info(undefined);
      root.error(new Error("no stack"), "failed");
      root.fatal("last words");
      const child = root.child({ name: "child" }, { msgPrefix: "[c] ", serializers: { a: () => "serialized" } });
      child.warn({ a: 1 }, "x");
      child.debug("no");
      child.setBindings({ more: true });
      child.info("y");
      const { debug } = root;
      debug("a disabled method needs no logger");
    };
    const options: Parameters<typeof pino>[0] = {
      serializers: { err: (error: Error) => error.message },
      mixin: (_merged, level) => ({ mixed: level }),
      hooks: {
        logMethod(values, method, level) {
          method.apply(this, [...values, level] as never);
        },
      },
    };
    const [bare, measured] = [application(options), application(options)];
    calls(bare.root);
    const measurement = measured.measure();
    calls(measured.root);
    expect(measured.lines.length).toBeGreaterThan(5);
    expect(measured.lines).toEqual(bare.lines);
    expect(measurement.report().total.emitted.reduce((sum, count) => sum + count)).toBe(measured.lines.length);
  });

  test("leaves no trace: every logger has what it had", () => {
    const { root, loggers, measure } = application();
    const follower = root.child({ name: "follower" });
    const pushed = root.child({ name: "pushed" });
    const nameless = pushed.child({ reqId: 1 });
    const patched = root.child({ name: "patched" }, { level: "error" });
    patched.error = () => undefined;
    loggers.setLevel("pushed", "TRACE");
    const all = [root, follower, pushed, nameless, patched];
    const state = () => all.map((logger) => Object.getOwnPropertyDescriptors(logger));
    const prototypes = () => {
      const found: PropertyDescriptorMap[] = [];
      for (let at = root as object; at !== null; at = Object.getPrototypeOf(at) as object) {
        found.push(Object.getOwnPropertyDescriptors(at));
      }
      return found;
    };
    const [before, above] = [state(), prototypes()];
    const order = all.map((logger) => Reflect.ownKeys(logger));
    const measurement = measure();
    expect(state()).not.toEqual(before);
    // Those that follow have no methods, neither before nor meanwhile.
    if (follows) expect([1, 3].map((at) => state()[at])).toEqual([before[1], before[3]]);
    for (const logger of all) logger.debug("x");
    measurement.end();
    expect(state()).toEqual(before);
    expect(prototypes()).toEqual(above);
    expect(all.map((logger) => Reflect.ownKeys(logger))).toEqual(order);
  });

  test("of thousands of loggers leaves none of them changed", () => {
    const { root, measure } = application();
    const make = (index: number) => root.child({ name: `n${index}` }, { level: "error" });
    const early = Array.from({ length: 1_500 }, (_, index) => make(index));
    const { debug } = early[0]!;
    const errors = early.map(({ error }) => error);
    const measurement = measure();
    const late = Array.from({ length: 3_000 }, (_, index) => make(1_500 + index));
    const all = [...early, ...late];
    expect(all.filter((logger) => logger.debug === debug)).toEqual([]);
    for (const logger of all) logger.debug("x");
    measurement.end();
    expect(all.filter((logger) => logger.debug !== debug || logger.error.name === "intercepted")).toEqual([]);
    expect(early.map(({ error }) => error)).toEqual(errors);
    expect(measurement.report()).toMatchObject({ more: true, loggers: { length: 1_000 } });
    expect(measurement.report().total.suppressed[levelVerbosity("DEBUG")]).toBe(4_500);
  });

  test("keeps methods that the application put there or stored meanwhile", () => {
    const { lines, root, measure } = application();
    const measurement = measure();
    const kept = root.info.bind(root);
    const inner = root.error;
    const replaced = function (this: typeof root, text: string) {
      inner.call(this, `seen: ${text}`);
    } as typeof root.error;
    root.error = replaced;
    measurement.end();
    kept("kept");
    root.error("x");
    expect(root.error).toBe(replaced);
    expect(lines.map((line) => (JSON.parse(line) as { msg: string }).msg)).toEqual(["kept", "seen: x"]);
    expect(counts(measurement.report())).toEqual({});
  });

  test("is separate for each actuator: two may measure the same loggers, and the last one restores them", () => {
    const { root, loggers, measure } = application();
    const other = new Loggers();
    cleanups.push(other.attach(pinoLoggers(root)));
    const before = Object.getOwnPropertyDescriptors(root);
    const one = measure();
    root.debug("x");
    const two = other.measure();
    cleanups.push(() => two.end());
    root.debug("x");
    one.end();
    root.debug("x");
    other.setLevel("ROOT", "DEBUG");
    root.debug("x");
    expect([counts(one.report()), counts(two.report())]).toEqual([
      { ROOT: { DEBUG: "0+2" } },
      { ROOT: { DEBUG: "1+2" } },
    ]);
    loggers.setLevel("ROOT", "INFO");
    two.end();
    root.debug("x");
    expect(counts(two.report())).toEqual({ ROOT: { DEBUG: "1+2" } });
    const after = Object.getOwnPropertyDescriptors(root);
    expect(Object.keys(after)).toEqual(Object.keys(before));
    const functions = Object.values(after).filter(({ value }) => typeof value === "function");
    expect(functions.filter(({ value }) => (value as { name: string }).name === "counted")).toEqual([]);
  });

  test("ends with the adapter, and includes a new one", () => {
    const { root, loggers, measure } = application();
    const before = Object.getOwnPropertyDescriptors(root);
    const measurement = measure();
    const late = pino({}, messages());
    const adapter = pinoLoggers([late]);
    const detach = loggers.attach(adapter);
    late.debug("x");
    root.debug("x");
    expect(measurement.report().total.suppressed[levelVerbosity("DEBUG")]).toBe(2);
    detach();
    for (const cleanup of cleanups.splice(0, 1)) cleanup();
    expect(Object.getOwnPropertyDescriptors(root)).toEqual(before);
    root.debug("x");
    expect(measurement.report().total.suppressed[levelVerbosity("DEBUG")]).toBe(2);
  });
});

test("fastify's loggers of single requests count for the one that they follow, also in a request that is in flight", async () => {
  const lines: string[] = [];
  const app = fastify({ logger: { level: "info", stream: { write: (line: string) => void lines.push(line) } } });
  cleanups.push(() => app.close());
  const loggers = new Loggers();
  cleanups.push(loggers.attach(pinoLoggers(app.log)));
  const measurements: Measurement[] = [];
  app.get("/", async (request) => {
    request.log.debug("not counted the first time");
    if (measurements.length === 0) measurements.push(loggers.measure());
    request.log.debug("counted");
    request.log.child({ step: 1 }).warn("counted");
    return {};
  });
  await app.inject("/");
  await app.inject("/");
  await expect.poll(() => lines.length).toBe(6);
  const [measurement] = measurements;
  // Of its own, fastify tells of each request as it comes and when it is completed.
  expect(counts(measurement!.report())).toEqual({ ROOT: { WARN: "2+0", INFO: "3+0", DEBUG: "0+3" } });
  measurement!.end();
});

test.each(["pino8", "pino9", "pino"])("%s: loggers keep the engine's fast shape, and the very same one", (name) => {
  const child = join(import.meta.dirname, "..", "..", "..", "support", "measured-shape.ts");
  const output = execFileSync(process.execPath, ["--allow-natives-syntax", child, name], { encoding: "utf8" });
  const shape = { fast: [true, true, true], asTheTwin: [true, true] };
  expect(JSON.parse(output)).toEqual({ before: shape, meanwhile: shape, wrapped: true, after: shape });
});
