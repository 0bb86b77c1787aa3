import { createRequire } from "node:module";
import { configureSync, getLogger, reset } from "@logtape/logtape";
import bunyan from "bunyan";
import createDebug from "debug";
import type { RootLogger } from "loglevel";
import { pino } from "pino";
import { afterEach, describe, expect, test } from "vitest";
import { type CustomLoggerOptions, customLogger } from "../../../../src/adapters/loggers/custom/index.ts";
import { debugLoggers } from "../../../../src/adapters/loggers/debug/index.ts";
import { logtapeLoggers } from "../../../../src/adapters/loggers/logtape/index.ts";
import { pinoLoggers } from "../../../../src/adapters/loggers/pino/index.ts";
import type { LoggerHost } from "../../../../src/loggers/adapter.ts";
import { LEVELS } from "../../../../src/loggers/level.ts";
import { Loggers } from "../../../../src/loggers/loggers.ts";
import type { Logger } from "../../../../src/loggers/view.ts";

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

function attach(...adapters: Parameters<Loggers["attach"]>[0][]): Loggers {
  const loggers = new Loggers();
  for (const adapter of adapters) cleanups.push(loggers.attach(adapter));
  return loggers;
}
const view = (loggers: Loggers, name: string) => loggers.get(name) as Logger;

/** A threshold as in an application's own logger. */
function threshold(level: string) {
  const sets: string[] = [];
  const map = { OFF: "none", ERROR: "high", INFO: "normal", DEBUG: "all" };
  const set = (native: string) => {
    sets.push(native);
    own.level = native;
  };
  const own = { level, sets, options: { map, set, get: () => own.level } };
  return own;
}

describe("a logger with levels of its own", () => {
  const cases: readonly [
    string,
    Partial<CustomLoggerOptions<unknown>["map"]>,
    Record<string, readonly [string, unknown]>,
  ][] = [
    [
      "a level left out becomes the next more severe one",
      { OFF: 9, ERROR: 5, INFO: 3, DEBUG: 1 },
      {
        OFF: ["OFF", 9],
        FATAL: ["OFF", 9],
        ERROR: ["ERROR", 5],
        WARN: ["ERROR", 5],
        DEBUG: ["DEBUG", 1],
        TRACE: ["DEBUG", 1],
      },
    ],
    [
      "what is more severe than all of them becomes the most severe one",
      { ERROR: "error", INFO: "info" },
      { OFF: ["ERROR", "error"], FATAL: ["ERROR", "error"], WARN: ["ERROR", "error"], TRACE: ["INFO", "info"] },
    ],
    [
      "levels with one native level are reported as the most verbose of them",
      { OFF: false, FATAL: "error", ERROR: "error", DEBUG: true, TRACE: true },
      { OFF: ["OFF", false], FATAL: ["ERROR", "error"], INFO: ["ERROR", "error"], DEBUG: ["TRACE", true] },
    ],
  ];
  test.each(cases)("%s", (_, map, expected) => {
    let native: unknown;
    const loggers = attach(
      customLogger("own", {
        map,
        get: () => native,
        set: (level) => {
          native = level;
        },
      }),
    );
    const reached = Object.keys(expected).map((asked) => {
      const { result } = loggers.setLevel("own", LEVELS.find((level) => level === asked)!);
      expect(result).toMatchObject({ configuredLevel: asked });
      return [asked, [(result as Logger).effectiveLevel, native]];
    });
    expect(Object.fromEntries(reached)).toEqual(expected);
  });

  test("keeps the level it has when it is found, and is not set for that", () => {
    const [same, other] = [threshold("normal"), threshold("high")];
    const loggers = attach(customLogger("same", same.options), customLogger("other", other.options));
    expect(view(loggers, "same")).toMatchObject({ configuredLevel: undefined, effectiveLevel: "INFO", kind: "custom" });
    expect(view(loggers, "other")).toMatchObject({ configuredLevel: "ERROR", baselineLevel: "ERROR" });
    expect([same.sets, other.sets]).toEqual([[], []]);
    loggers.setLevel("ROOT", "DEBUG");
    expect([same.level, other.level]).toEqual(["all", "high"]);
    loggers.setLevel("other", undefined);
    expect(other.level).toBe("all");
    loggers.restoreLevel("other");
    expect(other.level).toBe("high");
  });

  test.each([
    ["high", "ERROR"],
    ["normal", "INFO"],
  ])("may be ROOT, which then has its level, %s", (native, level) => {
    const loggers = attach(customLogger("root", { ...threshold(native).options, kind: "mine" }));
    expect(view(loggers, "ROOT")).toMatchObject({ configuredLevel: level, baselineLevel: level, kind: "mine" });
  });

  test("shows the level really reached if the library does less than it is asked", () => {
    const own = threshold("normal");
    const set = (native: string) => own.options.set(native === "all" ? "normal" : native);
    const loggers = attach(customLogger("own", { ...own.options, set }));
    expect(loggers.setLevel("own", "DEBUG").result).toMatchObject({ configuredLevel: "DEBUG", effectiveLevel: "INFO" });
  });

  test("without `get` is set only while an operator's level applies, and to that of the name above afterwards", () => {
    const { options, sets } = threshold("unknown");
    const { map, set } = options;
    const loggers = new Loggers();
    cleanups.push(loggers.attach(customLogger("own.part", { map, set })));
    expect(sets).toEqual([]);
    loggers.setLevel("own", "DEBUG");
    cleanups.push(loggers.attach(customLogger("own.later", { map, set })));
    expect(sets).toEqual(["all", "all"]);
    loggers.restoreLevel("own");
    expect(sets).toEqual(["all", "all", "normal", "normal"]);
  });

  test("a level that the application sets is adopted at the next listing, until the adapter is detached", () => {
    const own = threshold("normal");
    const loggers = new Loggers();
    const detach = loggers.attach(customLogger("own", own.options));
    own.level = "all";
    expect(view(loggers, "own")).toMatchObject({ configuredLevel: "DEBUG", effectiveLevel: "DEBUG" });
    detach();
    loggers.setLevel("own", "INFO");
    expect(own.level).toBe("all");

    const adopted: string[] = [];
    const adapter = customLogger("own", own.options);
    const changedOutside = (_: unknown, level: string | undefined) => void adopted.push(String(level));
    const host: LoggerHost = {
      discovered: () => true,
      gone() {},
      changedOutside,
      reachChanged() {},
      older() {},
      levelAbove: () => "INFO",
      pushing: false,
      warn() {},
      retract() {},
    };
    const leave = adapter.attach(host);
    for (const level of ["high", "normal"]) {
      own.level = level;
      adapter.refresh!();
      adapter.refresh!();
    }
    leave();
    own.level = "high";
    adapter.refresh!();
    expect(adopted).toEqual(["ERROR", "INFO"]);
  });

  test("what the application has set until an operator does comes back, read or not", () => {
    const own = threshold("normal");
    const loggers = attach(customLogger("own", own.options));
    own.level = "high";
    loggers.setLevel("ROOT", "DEBUG");
    expect(own.level).toBe("high");
    loggers.setLevel("own", "DEBUG");
    own.level = "none";
    loggers.restoreAllLevels();
    expect(own.level).toBe("none");
  });

  test("a failing get or set is shown on it and does not affect the others", () => {
    const [odd, failing, deaf, fine] = [1, 2, 3, 4].map(() => threshold("normal"));
    odd!.level = "odd";
    const get = () => {
      throw new Error("no idea");
    };
    const set = () => {
      throw new Error("will not");
    };
    const loggers = attach(
      customLogger("odd", odd!.options),
      customLogger("failing", { ...failing!.options, get }),
      customLogger("deaf", { ...deaf!.options, set }),
      customLogger("fine", fine!.options),
    );
    loggers.setLevel("ROOT", "DEBUG");
    expect(view(loggers, "odd").warnings).toEqual(['its level "odd" is not in its map']);
    expect(view(loggers, "failing").warnings).toContainEqual(expect.stringMatching(/cannot be read: Error: no idea/));
    expect(view(loggers, "deaf").warnings).toEqual([expect.stringMatching(/not applied: Error: will not/)]);
    expect(fine!.level).toBe("all");
  });

  test.each([
    ["", { INFO: 1 }, /name is empty/],
    ["own", {}, /at least one of the levels OFF, FATAL/],
    ["own", { info: 1 }, /at least one of the levels OFF, FATAL/],
  ])("an invalid name or map is refused: %j, %j", (name, map, message) => {
    expect(() => customLogger(name, { map: map as never, set: () => {} })).toThrow(message);
  });
});

describe("bunyan in a few lines", () => {
  const { FATAL, ERROR, WARN, INFO, DEBUG, TRACE } = bunyan;
  const map = { OFF: Number.POSITIVE_INFINITY, FATAL, ERROR, WARN, INFO, DEBUG, TRACE };

  /** One stream's level: `log.level(x)` would give it to all streams, also to one that is for errors alone. */
  const streamOf = (log: bunyan, stream: string) => ({
    kind: "bunyan",
    map,
    get: () => log.levels(stream),
    set: (level: number) => log.levels(stream, level),
  });

  function stream(name: string, level: bunyan.LogLevel) {
    const written: string[] = [];
    const write = (line: string) => void written.push((JSON.parse(line) as { msg: string }).msg);
    return { written, entry: { name, level, stream: { write } as unknown as NodeJS.WritableStream } };
  }

  test("writes what the levels say, while a stream for errors stays one", () => {
    const [all, errors] = [stream("all", "info"), stream("errors", "error")];
    const log = bunyan.createLogger({ name: "app", streams: [all.entry, errors.entry] });
    const loggers = attach(customLogger("app", streamOf(log, "all")));
    for (const [index, level] of LEVELS.entries()) {
      expect(loggers.setLevel("app", level).result).toMatchObject({ effectiveLevel: level, kind: "bunyan" });
      for (const native of ["fatal", "error", "warn", "info", "debug", "trace"] as const) log[native](native);
      expect(all.written.splice(0)).toHaveLength(index);
    }
    expect(new Set(errors.written)).toEqual(new Set(["fatal", "error"]));
  });

  test("a child has streams of its own, and hence an adapter of its own", () => {
    const all = stream("all", "info");
    const log = bunyan.createLogger({ name: "app", streams: [all.entry] });
    const child = log.child({ component: "orders" });
    const loggers = attach(
      customLogger("app", streamOf(log, "all")),
      customLogger("app.orders", streamOf(child, "all")),
    );
    loggers.setLevel("app", "DEBUG");
    child.debug("follows");
    loggers.setLevel("app.orders", "WARN");
    child.info("no");
    log.debug("yes");
    log.level("error");
    expect(view(loggers, "app")).toMatchObject({ configuredLevel: "ERROR" });
    expect(all.written).toEqual(["follows", "yes"]);
  });
});

describe("loglevel in a few lines", () => {
  function application() {
    const require = createRequire(import.meta.url);
    delete require.cache[require.resolve("loglevel")];
    const root = require("loglevel") as RootLogger;
    const written: string[] = [];
    root.methodFactory = (method, _level, name) => (text: string) =>
      void written.push(`${String(name ?? "root")} ${method}: ${text}`);
    root.rebuild();
    const { SILENT, ERROR, WARN, INFO, DEBUG, TRACE } = root.levels;
    // It has no level above ERROR.
    const map = { OFF: SILENT, FATAL: ERROR, ERROR, WARN, INFO, DEBUG, TRACE };
    const adapt = (name: string, log = name === "ROOT" ? root : root.getLogger(name)) =>
      customLogger(name, {
        kind: "loglevel",
        map,
        get: () => log.getLevel(),
        set: (level) => {
          log.setLevel(level, false);
          log.rebuild();
        },
      });
    return { root, written, adapt };
  }

  test("writes what the levels say, and shows FATAL as ERROR", () => {
    const { root, written, adapt } = application();
    const log = root.getLogger("orders");
    const loggers = attach(adapt("ROOT"), adapt("orders"));
    expect(view(loggers, "ROOT")).toMatchObject({ configuredLevel: "WARN", kind: "loglevel" });
    expect(loggers.setLevel("orders", "FATAL").result).toMatchObject({ effectiveLevel: "ERROR" });
    log.error("1");
    loggers.setLevel("orders", "OFF");
    log.error("no");
    loggers.setLevel("orders", "TRACE");
    log.debug("2");
    root.info("no");
    loggers.setLevel("orders", undefined);
    log.info("no");
    loggers.setLevel("ROOT", "INFO");
    root.info("3");
    log.info("4");
    expect(written).toEqual(["orders error: 1", "orders debug: 2", "root info: 3", "orders info: 4"]);
  });

  test("loggers that are not adapted follow the root, and those that the application set do not", () => {
    const { root, written, adapt } = application();
    const [follows, own] = [root.getLogger("follows"), root.getLogger("own")];
    own.setLevel("error");
    const loggers = attach(adapt("ROOT"));
    loggers.setLevel("ROOT", "DEBUG");
    follows.debug("yes");
    own.warn("no");
    root.setLevel("silent");
    expect(view(loggers, "ROOT")).toMatchObject({ configuredLevel: "OFF" });
    expect(written).toEqual(["follows debug: yes"]);
  });
});

test("several libraries live in one tree: one level on a common ancestor reaches them all", async () => {
  const written: string[] = [];
  const wrote = (library: string) => (text: unknown) => void written.push(`${library}: ${String(text).trim()}`);
  const root = pino({ base: null }, { write: (line) => wrote("pino")((JSON.parse(line) as { msg: string }).msg) });
  const sink = ({ message }: { message: readonly unknown[] }) => wrote("logtape")(message.join(""));
  configureSync({
    sinks: { sink },
    loggers: [
      { category: [], sinks: ["sink"], lowestLevel: "info" },
      { category: ["logtape", "meta"], lowestLevel: "error" },
    ],
  });
  cleanups.push(reset);
  const stream = { write: (line: string) => wrote("bunyan")((JSON.parse(line) as { msg: string }).msg) };
  const audit = bunyan.createLogger({ name: "audit", stream: stream as unknown as NodeJS.WritableStream });
  const { INFO, DEBUG } = bunyan;

  const loggers = attach(
    pinoLoggers(root),
    debugLoggers(createDebug),
    logtapeLoggers(),
    customLogger("orders.audit", {
      map: { INFO, DEBUG },
      get: () => audit.level(),
      set: (level) => audit.level(level),
    }),
  );
  const payment = root.child({ name: "orders.payment" });
  const stock = createDebug("orders:stock");
  stock.log = (text: string) => wrote("debug")(/here|gone/.exec(text)?.[0]);
  const mail = getLogger(["orders", "mail"]);
  const elsewhere = root.child({ name: "customers" });
  const all = (text: string) => {
    payment.debug(text);
    stock(text);
    mail.debug(text);
    audit.debug(text);
    elsewhere.debug(text);
  };
  all("before");
  loggers.setLevel("orders", "DEBUG");
  all("here");
  loggers.setLevel("orders", undefined);
  all("gone");
  expect(written).toEqual(["pino: here", "debug: here", "logtape: here", "bunyan: here"]);
  const found = loggers.list().loggers.filter(({ name }) => /^orders[.:]/.test(name));
  expect(found.map(({ name, kind, effectiveLevel }) => `${name} ${kind} ${effectiveLevel}`)).toEqual([
    "orders.audit custom INFO",
    "orders.mail logtape INFO",
    "orders.payment pino INFO",
    "orders:stock debug OFF",
  ]);
});
