import { afterEach, describe, expect, test } from "vitest";
import { pinoLoggers } from "../../../../src/adapters/loggers/pino/index.ts";
import type { PinoAdapter } from "../../../../src/adapters/loggers/pino/pino-adapter.ts";
import { levelVerbosity } from "../../../../src/loggers/level.ts";
import { Loggers } from "../../../../src/loggers/loggers.ts";
import { hear, type Wanted } from "../../../support/heard.ts";
import { PINO_VERSIONS } from "../../../support/pino-versions.ts";

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const [INFO, DEBUG] = [levelVerbosity("INFO"), levelVerbosity("DEBUG")];

describe.each(PINO_VERSIONS)("records of pino %s", (_, pino) => {
  type Logger = ReturnType<typeof pino>;
  type Options = Parameters<typeof pino>[0];

  function application(options: Options = {}) {
    const lines: string[] = [];
    const root = pino({ base: null, timestamp: false, ...options }, { write: (line) => void lines.push(line) });
    return { lines, root, ...managed(root) };
  }

  function managed(root: Logger) {
    const loggers = new Loggers();
    cleanups.push(loggers.attach(pinoLoggers(root)));
    return { loggers, hear: (wanted?: Wanted) => hear(loggers, wanted) };
  }

  test("go to the sink of the nearest named logger, with what the line says", () => {
    const { lines, root, hear } = application({ base: { pid: 1, hostname: "h" }, timestamp: true });
    const orders = root.child({ module: "orders" });
    const request = orders.child({ reqId: 7 });
    const own = request.child({ step: 1 }, { level: "trace" });
    root.info("not heard yet");
    const sizes: number[] = [];
    const { heard, asked, stop } = hear({ take: ({ size }) => sizes.push(size) });
    root.warn("one");
    request.info({ a: { b: 1 }, level: "mine", time: "mine too" }, "two %d", 2);
    request.debug("no");
    own.trace("three");
    root.error({ only: "fields" });
    const found = heard();
    expect(
      found.map(({ logger, nativeLevel, level, hidden, message }) => [logger, nativeLevel, level, hidden, message]),
    ).toEqual([
      ["ROOT", "warn", "WARN", false, "one"],
      ["orders", "info", "INFO", false, "two 2"],
      ["orders", "trace", "TRACE", false, "three"],
      ["ROOT", "error", "ERROR", false, ""],
    ]);
    expect(found.map(({ fields }) => fields)).toEqual([
      { pid: 1, hostname: "h" },
      { pid: 1, hostname: "h", module: "orders", reqId: 7, a: { b: 1 }, level: "mine", time: "mine too" },
      { pid: 1, hostname: "h", module: "orders", reqId: 7, step: 1 },
      { pid: 1, hostname: "h", only: "fields" },
    ]);
    expect(sizes).toEqual(lines.slice(1).map((line) => line.length));
    expect(asked).toEqual(["ROOT", "orders"]);
    stop();
    root.info("no longer");
    expect(heard()).toEqual([]);
  });

  test("that no sink wants are left alone", () => {
    const { root, hear } = application({ level: "trace" });
    const { heard } = hear({ names: ["a"], level: "INFO" });
    const [a, b] = ["a", "b"].map((name) => root.child({ name }));
    for (const logger of [root, a!, b!]) {
      logger.info("info");
      logger.debug("debug");
    }
    expect(heard().map(({ logger, message }) => [logger, message])).toEqual([["a", "info"]]);
  });

  test("that the level drops are made for a sink alone, with redaction, mixins and hooks as ever", () => {
    const { lines, root, hear } = application({
      redact: ["password"],
      mixin: (_merged, level) => ({ mixed: level }),
      hooks: {
        logMethod(values, method) {
          method.apply(this, [...values, "hooked"] as never);
        },
      },
    });
    const orders = root.child({ name: "orders" }, { msgPrefix: "[o] ", serializers: { a: () => "serialized" } });
    const { heard, stop } = hear({ hidden: "DEBUG", names: ["orders"] });
    expect(["trace", "debug", "info"].map((label) => orders.isLevelEnabled(label))).toEqual([false, true, true]);
    expect(root.isLevelEnabled("debug")).toBe(false);
    orders.debug({ a: 1, password: "x" }, "with %s");
    orders.child({ reqId: 1 }).debug("of a request");
    orders.trace("no");
    root.debug("no");
    expect(lines).toEqual([]);
    orders.info("written");
    expect(lines).toHaveLength(1);
    const [first, second, third] = heard();
    expect(first).toMatchObject({
      hidden: true,
      level: "DEBUG",
      nativeLevel: "debug",
      message: "[o] with hooked",
      fields: { mixed: 20, a: "serialized", password: "[Redacted]" },
    });
    expect(second).toMatchObject({ hidden: true, fields: { reqId: 1 } });
    expect(third).toMatchObject({ hidden: false, message: "[o] written" });
    stop();
    orders.debug("no");
    expect([lines.length, heard()]).toEqual([1, []]);
  });

  test("that a hook makes for a sink alone disturb no logger of the application", () => {
    const kept: { child?: Logger } = {};
    const flushed: unknown[] = [];
    const { lines, root, hear } = application({
      hooks: {
        logMethod(values, method, level) {
          if (level === 20) {
            kept.child ??= this.child({ from: "hook" }) as unknown as Logger;
            this.setBindings({ seen: true });
            this.flush((error) => flushed.push(error));
            this.info("inside");
          }
          method.apply(this, values as never);
        },
      },
    });
    const events: unknown[] = [];
    root.on("level-change", (label) => events.push(label));
    const orders = root.child({ name: "orders" });
    const { heard, stop } = hear({ hidden: "DEBUG" });
    orders.debug("hidden");
    expect(lines).toEqual([]);
    expect(heard().map(({ hidden, nativeLevel, message }) => [hidden, nativeLevel, message])).toEqual([
      [true, "info", "inside"],
      [true, "debug", "hidden"],
    ]);
    kept.child!.info("of the child");
    orders.info("of the logger");
    kept.child!.level = "error";
    kept.child!.info("no");
    expect(flushed).toEqual([undefined]);
    expect(heard().map(({ hidden, logger, message }) => [hidden, logger, message])).toEqual([
      [false, "orders", "of the child"],
      [false, "orders", "of the logger"],
    ]);
    expect(lines.map((line) => JSON.parse(line) as unknown)).toMatchObject([
      { name: "orders", from: "hook" },
      { name: "orders", seen: true },
    ]);
    stop();
    expect([orders.level, kept.child!.level]).toEqual(["info", "error"]);
  });

  test("that cannot be made for a sink alone throw nothing, and would if they were written", () => {
    const { root, hear } = application({
      serializers: {
        broken: () => {
          throw new Error("serializer");
        },
      },
    });
    const { heard } = hear({ hidden: "DEBUG" });
    expect(root.debug({ broken: 1 }, "dropped")).toBeUndefined();
    expect(() => root.info({ broken: 1 }, "written")).toThrow("serializer");
    root.debug("later");
    expect(heard().map(({ message }) => message)).toEqual(["later"]);
  });

  test("that a level for one request lets through are written, and others meanwhile are not", () => {
    const { lines, root, loggers, hear } = application();
    const { heard } = hear({ hidden: "TRACE" });
    loggers.withLevel("DEBUG", () => {
      root.debug("in the request");
      root.trace("not for the request");
    });
    root.debug("outside");
    expect(lines).toHaveLength(1);
    expect(heard().map(({ hidden, message }) => [hidden, message])).toEqual([
      [false, "in the request"],
      [true, "not for the request"],
      [true, "outside"],
    ]);
  });

  test("that are made for a sink alone count as dropped in a measurement", () => {
    const { root, loggers, hear } = application();
    hear({ hidden: "DEBUG" });
    const measurement = loggers.measure();
    root.debug("x");
    root.info("x");
    measurement.end();
    const { emitted, suppressed } = measurement.report().total;
    expect([emitted[DEBUG], suppressed[DEBUG], emitted[INFO]]).toEqual([0, 1, 1]);
  });

  test("are heard without errors and without those that sinks write", () => {
    const { lines, root, hear } = application();
    const { heard } = hear({
      hidden: "DEBUG",
      take: () => {
        root.info("written by a sink");
        root.debug("dropped, as ever");
        throw new Error("sink");
      },
    });
    root.info("written");
    root.debug("dropped");
    expect(heard().map(({ message }) => message)).toEqual(["written", "dropped"]);
    expect(lines.map((line) => (JSON.parse(line) as { msg: string }).msg)).toEqual([
      "written by a sink",
      "written",
      "written by a sink",
    ]);
  });

  test("that another record caused are heard with it", () => {
    const { lines, root, hear } = application({
      serializers: {
        order: (id: number) => {
          if (id > 0) root.info({ order: id - 1 }, `about ${id}`);
          return id;
        },
      },
    });
    const { heard } = hear();
    root.info({ order: 2 }, "first");
    expect(heard().map(({ message }) => message)).toEqual(["about 1", "about 2", "first"]);
    expect(lines).toHaveLength(3);
  });

  test("go to each of two actuators as it wants them", () => {
    const { lines, root, hear } = application();
    const other = managed(root);
    const [one, two] = [hear({ hidden: "DEBUG" }), other.hear({ hidden: "TRACE", level: "OFF" })];
    root.trace("trace");
    root.debug("debug");
    root.info("info");
    expect(lines).toHaveLength(1);
    expect(one.heard().map(({ message }) => message)).toEqual(["debug", "info"]);
    one.stop();
    root.debug("debug");
    two.stop();
    root.debug("debug");
    expect(two.heard().map(({ message }) => message)).toEqual(["trace", "debug", "debug"]);
  });

  test("of roots and copies that are managed later are heard too", () => {
    const { root } = application();
    const adapter = pinoLoggers(root) as PinoAdapter;
    const loggers = new Loggers();
    cleanups.push(loggers.attach(adapter));
    const { heard } = hear(loggers, { hidden: "DEBUG" });
    for (const [name, later] of PINO_VERSIONS) {
      const log = later({ base: null, name }, { write: () => undefined });
      adapter.add(log, () => name);
      log.debug("hidden");
      log.info("written");
    }
    expect(heard().map(({ logger, hidden }) => [logger, hidden])).toEqual(
      PINO_VERSIONS.flatMap(([name]) => [true, false].map((hidden) => [name, hidden])),
    );
    loggers.hear(undefined);
  });

  test("leave no trace after 50 rounds of hearing them", () => {
    const { root, hear } = application();
    const follower = root.child({ name: "follower" });
    const own = root.child({ name: "own" }, { level: "error" });
    const all = [root, follower, own, follower.child({ reqId: 1 })];
    const state = () =>
      all.flatMap((logger) => {
        const found: unknown[] = [Reflect.ownKeys(logger)];
        for (let at = logger as object; at !== null; at = Object.getPrototypeOf(at) as object) {
          found.push(Object.getOwnPropertyDescriptors(at));
        }
        return found;
      });
    const before = state();
    for (let round = 0; round < 50; round++) {
      const { stop, heard } = hear({ hidden: round % 2 === 0 ? "TRACE" : "OFF" });
      expect(state()).not.toEqual(before);
      for (const logger of all) logger.debug("x");
      expect(heard()).toHaveLength(round % 2 === 0 ? 4 : 0);
      stop();
      expect(state()).toEqual(before);
    }
  });
});
