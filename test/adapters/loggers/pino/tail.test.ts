import { afterEach, describe, expect, test } from "vitest";
import { pinoLoggers } from "../../../../src/adapters/loggers/pino/index.ts";
import type { RecordContent, WrittenRecord } from "../../../../src/loggers/adapter.ts";
import { levelVerbosity } from "../../../../src/loggers/level.ts";
import { Loggers } from "../../../../src/loggers/loggers.ts";
import { PINO_VERSIONS } from "../../../support/pino-versions.ts";

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const [INFO, DEBUG, TRACE] = [levelVerbosity("INFO"), levelVerbosity("DEBUG"), levelVerbosity("TRACE")];

type Heard = Omit<WrittenRecord, "read"> & RecordContent & { readonly logger: string };

interface Wanted {
  readonly verbosity?: number;
  readonly hiddenVerbosity?: number;
  readonly names?: readonly string[];
  readonly take?: (record: WrittenRecord) => void;
}

describe.each(PINO_VERSIONS)("records of pino %s", (_, pino) => {
  type Options = Parameters<typeof pino>[0];

  function application(options: Options = {}) {
    const lines: string[] = [];
    const root = pino({ base: null, timestamp: false, ...options }, { write: (line) => void lines.push(line) });
    return { lines, root, ...managed(root) };
  }

  function managed(root: ReturnType<typeof pino>) {
    const loggers = new Loggers();
    cleanups.push(loggers.attach(pinoLoggers(root)));
    /** Hears records from now on. */
    const hear = ({ verbosity = TRACE, hiddenVerbosity = 0, names, take }: Wanted = {}) => {
      const taken: { readonly logger: string; readonly record: WrittenRecord }[] = [];
      const asked: string[] = [];
      loggers.hear((logger) => {
        asked.push(logger);
        if (names?.includes(logger) === false) return undefined;
        const keep = (record: WrittenRecord) => {
          taken.push({ logger, record });
          take?.(record);
        };
        return { verbosity, hiddenVerbosity, take: keep };
      }, hiddenVerbosity > 0);
      const stop = () => void loggers.hear(undefined);
      cleanups.push(stop);
      const heard = (): Heard[] =>
        taken.splice(0).map(({ logger, record }) => {
          const { verbosity, nativeLevel, hidden, size } = record;
          return { logger, verbosity, nativeLevel, hidden, size, ...record.read() };
        });
      return { heard, asked, stop };
    };
    return { loggers, hear };
  }

  test("go to the sink of the nearest named logger, with what the line says", () => {
    const { lines, root, hear } = application({ base: { pid: 1, hostname: "h" }, timestamp: true });
    const orders = root.child({ module: "orders" });
    const request = orders.child({ reqId: 7 });
    const own = request.child({ step: 1 }, { level: "trace" });
    root.info("not heard yet");
    const { heard, asked, stop } = hear();
    root.warn("one");
    request.info({ a: { b: 1 }, level: "mine", time: "mine too" }, "two %d", 2);
    request.debug("no");
    own.trace("three");
    root.error({ only: "fields" });
    const found = heard();
    expect(
      found.map(({ logger, nativeLevel, verbosity, hidden, message }) => [
        logger,
        nativeLevel,
        verbosity,
        hidden,
        message,
      ]),
    ).toEqual([
      ["ROOT", "warn", levelVerbosity("WARN"), false, "one"],
      ["orders", "info", INFO, false, "two 2"],
      ["orders", "trace", TRACE, false, "three"],
      ["ROOT", "error", levelVerbosity("ERROR"), false, ""],
    ]);
    expect(found.map(({ fields }) => fields)).toEqual([
      { pid: 1, hostname: "h" },
      { pid: 1, hostname: "h", module: "orders", reqId: 7, a: { b: 1 }, level: "mine", time: "mine too" },
      { pid: 1, hostname: "h", module: "orders", reqId: 7, step: 1 },
      { pid: 1, hostname: "h", only: "fields" },
    ]);
    expect(found.map(({ size }) => size)).toEqual(lines.slice(1).map((line) => line.length));
    expect(asked).toEqual(["ROOT", "orders"]);
    stop();
    root.info("no longer");
    expect(heard()).toEqual([]);
  });

  test("that no sink wants are left alone", () => {
    const { root, hear } = application({ level: "trace" });
    const { heard } = hear({ names: ["a"], verbosity: INFO });
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
    const { heard, stop } = hear({ hiddenVerbosity: DEBUG, names: ["orders"] });
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
      verbosity: DEBUG,
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
      const { stop, heard } = hear({ hiddenVerbosity: round % 2 === 0 ? TRACE : 0 });
      expect(state()).not.toEqual(before);
      for (const logger of all) logger.debug("x");
      expect(heard()).toHaveLength(round % 2 === 0 ? 4 : 0);
      stop();
      expect(state()).toEqual(before);
    }
  });
});
