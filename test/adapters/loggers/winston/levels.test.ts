import { afterEach, describe, expect, test } from "vitest";
import winston from "winston";
import { winstonLoggers } from "../../../../src/adapters/loggers/winston/index.ts";
import { Loggers } from "../../../../src/loggers/loggers.ts";
import type { Logger } from "../../../../src/loggers/view.ts";
import { Memory, memoryLogger, written } from "./memory.ts";

const detaches: (() => void)[] = [];
afterEach(() => {
  for (const detach of detaches.splice(0)) detach();
});

function application(options: winston.LoggerOptions = {}) {
  const { root, out } = memoryLogger(options);
  const loggers = new Loggers({ groups: { web: ["http", "http.router"] } });
  detaches.push(loggers.attach(winstonLoggers(root)));
  return { root, out, loggers, written: () => written(out, root) };
}

const LEVEL_SETS: readonly (readonly [string, winston.LoggerOptions, readonly (readonly string[])[]])[] = [
  [
    "npm",
    {},
    [
      ["OFF", "off", "OFF"],
      ["FATAL", "error", "ERROR"],
      ["ERROR", "error", "ERROR"],
      ["WARN", "warn", "WARN"],
      ["INFO", "info", "INFO"],
      ["DEBUG", "debug", "DEBUG"],
      ["TRACE", "silly", "TRACE"],
    ],
  ],
  [
    "syslog",
    { levels: winston.config.syslog.levels },
    [
      ["OFF", "off", "OFF"],
      ["FATAL", "crit", "FATAL"],
      ["ERROR", "error", "ERROR"],
      ["WARN", "warning", "WARN"],
      ["INFO", "info", "INFO"],
      ["DEBUG", "debug", "DEBUG"],
      ["TRACE", "debug", "DEBUG"],
    ],
  ],
  [
    "cli",
    { levels: winston.config.cli.levels },
    [
      ["FATAL", "error", "ERROR"],
      ["INFO", "info", "INFO"],
      ["DEBUG", "debug", "DEBUG"],
      ["TRACE", "silly", "TRACE"],
    ],
  ],
  [
    "one in log4j's words, with a level called off",
    { levels: { off: 0, fatal: 1, error: 2, warn: 3, info: 4, debug: 5, trace: 6 } },
    [
      ["OFF", "silent", "OFF"],
      ["FATAL", "fatal", "FATAL"],
      ["TRACE", "trace", "TRACE"],
    ],
  ],
  [
    "one whose names say nothing, by rank",
    { levels: { high: 0, medium: 1, low: 2 }, level: "low" },
    [
      ["OFF", "off", "OFF"],
      ["FATAL", "high", "ERROR"],
      ["ERROR", "high", "ERROR"],
      ["WARN", "medium", "WARN"],
      ["INFO", "low", "INFO"],
      ["TRACE", "low", "INFO"],
    ],
  ],
  [
    "one that lacks a level between two",
    { levels: { critical: 0, notable: 1, info: 2, chatty: 3 } },
    [
      ["FATAL", "critical", "FATAL"],
      ["WARN", "notable", "FATAL"],
      ["INFO", "info", "INFO"],
      ["DEBUG", "chatty", "INFO"],
    ],
  ],
];

describe.each(LEVEL_SETS)("the level set %s", (_, options, expected) => {
  test.each(expected)("%s is %s, which reaches %s", async (level, label, reached) => {
    const { root, loggers, written } = application(options);
    const { result } = loggers.setLevel("ROOT", level as Logger["effectiveLevel"]);
    expect(result).toMatchObject({ configuredLevel: level, effectiveLevel: reached });
    expect(root.level).toBe(label);
    const labels = Object.keys(root.levels);
    for (const each of labels) (root as unknown as Record<string, (text: string) => void>)[each]!(each);
    const threshold = root.levels[label] ?? -1;
    expect(await written()).toEqual(labels.filter((each) => root.levels[each]! <= threshold));
  });
});

test("ROOT carries the level of the first logger, which attaching does not change", async () => {
  const { root, loggers, written } = application({ level: "verbose" });
  expect(loggers.get("ROOT")).toMatchObject({
    configuredLevel: "INFO",
    effectiveLevel: "INFO",
    baselineLevel: "INFO",
    kind: "winston",
    warnings: [],
  });
  expect(root.level).toBe("verbose");
  root.verbose("1");
  loggers.setLevel("ROOT", "WARN");
  root.verbose("no");
  loggers.setLevel("ROOT", undefined);
  root.verbose("2");
  expect(await written()).toEqual(["1", "2"]);
});

test("each of several loggers keeps its level until an operator sets one, and gets it back", async () => {
  const out = [new Memory(), new Memory(), new Memory()];
  const roots = ["info", "debug", "error"].map((level, at) => winston.createLogger({ level, transports: [out[at]!] }));
  const loggers = new Loggers();
  detaches.push(loggers.attach(winstonLoggers(roots as [winston.Logger, ...winston.Logger[]])));
  const levels = () => roots.map(({ level }) => level);
  expect(levels()).toEqual(["info", "debug", "error"]);
  expect(loggers.get("ROOT")).toMatchObject({ configuredLevel: undefined, effectiveLevel: "DEBUG" });
  roots[2]!.level = "warn";
  expect(levels()).toEqual(["info", "debug", "warn"]);
  loggers.setLevel("ROOT", "TRACE");
  expect(levels()).toEqual(["silly", "silly", "silly"]);
  for (const root of roots) root.silly("1");
  roots[2]!.level = "http";
  expect(levels()).toEqual(["info", "debug", "http"]);
  for (const root of roots) root.silly("no");
  for (const [at, root] of roots.entries()) expect(await written(out[at]!, root)).toEqual(["1"]);
});

/** Every way to write a record. */
const WAYS: readonly (readonly [string, (logger: winston.Logger, level: string, text: string) => unknown])[] = [
  ["a method", (logger, level, text) => (logger as never as Record<string, (t: string) => void>)[level]!(text)],
  [
    "a method with metadata",
    (logger, level, text) => (logger as never as Record<string, (...of: unknown[]) => void>)[level]!(text, { a: 1 }),
  ],
  ["log(level, text)", (logger, level, text) => logger.log(level, text)],
  ["log(level, text, metadata)", (logger, level, text) => logger.log(level, text, { a: 1 })],
  ["log(record)", (logger, level, text) => logger.log({ level, message: text })],
];

describe.each(WAYS)("by %s", (_, write) => {
  test("a record that an operator's level disables is not formatted; before, that is left to winston", async () => {
    let formatted = 0;
    const format = winston.format((info) => {
      formatted++;
      return info;
    })();
    const { root, loggers, written } = application({ format });
    expect(write(root, "debug", "no")).toBe(root);
    expect(formatted).toBe(1);
    loggers.setLevel("ROOT", "INFO");
    expect(write(root, "debug", "no")).toBe(root);
    expect(formatted).toBe(1);
    loggers.setLevel("ROOT", "DEBUG");
    expect(write(root, "debug", "yes")).toBe(root);
    expect(await written()).toEqual(["yes"]);
    expect(formatted).toBe(2);
    loggers.restoreAllLevels();
    expect(write(root, "debug", "no")).toBe(root);
    expect(formatted).toBe(3);
  });

  test("OFF silences errors, on a child too while the others write on", async () => {
    const { root, loggers, written } = application();
    const child = root.child({ name: "http" });
    loggers.setLevel("http", "OFF");
    write(child, "error", "no");
    write(root, "error", "1");
    loggers.setLevel("http", undefined);
    loggers.setLevel("ROOT", "OFF");
    write(root, "error", "no");
    write(child, "error", "no");
    loggers.setLevel("http", "ERROR");
    write(child, "error", "2");
    write(root, "error", "no");
    expect(await written()).toEqual(["1", "2"]);
  });

  test("a child is more verbose than the logger above it, or less", async () => {
    const { root, loggers, written } = application();
    const child = root.child({ name: "http" });
    loggers.setLevel("http", "TRACE");
    write(child, "silly", "1");
    write(root, "verbose", "no");
    loggers.setLevel("http", "ERROR");
    write(child, "warn", "no");
    write(root, "info", "2");
    expect(await written()).toEqual(["1", "2"]);
  });
});

test("children follow a change of ROOT, also those made without a name", async () => {
  const { root, loggers, written } = application();
  const http = root.child({ name: "http" });
  expect(Object.getOwnPropertyNames(http), "a child that inherits is left alone").toEqual(["write"]);
  const request = http.child({ requestId: 1 });
  request.debug("no");
  loggers.setLevel("ROOT", "DEBUG");
  request.debug("1");
  http.child({ requestId: 2 }).debug("2");
  expect(await written()).toEqual(["1", "2"]);
  expect(loggers.list().loggers.map(({ name }) => name)).toEqual(["ROOT", "http"]);
});

test("a child has its own level, those below follow it, and clearing gives it back", async () => {
  const { root, loggers, written } = application();
  const http = root.child({ name: "http" });
  const router = http.child({ module: "http.router" });
  const request = router.child({ requestId: 1 });
  const orders = root.child({ component: "orders" });
  loggers.setLevel("http", "TRACE");
  request.silly("1");
  orders.debug("no");
  loggers.setLevel("http.router", "ERROR");
  request.warn("no");
  http.silly("2");
  loggers.setLevel("http.router", undefined);
  request.silly("3");
  loggers.setLevel("http", undefined);
  request.debug("no");
  request.info("4");
  expect(await written()).toEqual(["1", "2", "3", "4"]);
});

test("names decide, not who made whom", async () => {
  const { root, loggers, written } = application();
  const orders = root.child({ name: "orders" });
  const audit = orders.child({ name: "audit" });
  loggers.setLevel("orders", "TRACE");
  audit.debug("no");
  loggers.setLevel("audit", "TRACE");
  loggers.setLevel("orders", "ERROR");
  audit.debug("yes");
  expect(await written()).toEqual(["yes"]);
});

test("a level set for a name applies to the loggers made later", async () => {
  const { root, loggers, written } = application();
  loggers.setLevel("late", "TRACE");
  root.child({ name: "late.one" }).silly("yes");
  expect(await written()).toEqual(["yes"]);
});

test("the metadata of a child are on its records, whatever its level", async () => {
  const seen: unknown[] = [];
  const format = winston.format((info) => {
    seen.push(info.name);
    return info;
  })();
  const { root, loggers, written } = application({ format });
  const child = root.child({ name: "http" });
  loggers.setLevel("http", "DEBUG");
  child.debug("1");
  child.log("debug", "2");
  await written();
  expect(seen).toEqual(["http", "http"]);
});

test("timers and profiles have the level of the child that they are of", async () => {
  const { root, loggers, written } = application();
  const [verbose, quiet] = [root.child({ name: "a" }), root.child({ name: "b" })];
  loggers.setLevel("a", "DEBUG");
  loggers.setLevel("b", "ERROR");
  for (const [logger, level] of [
    [verbose, "debug"],
    [quiet, "info"],
    [root, "debug"],
    [root, "info"],
  ] as const) {
    logger.startTimer().done({ level, message: "timer" });
    for (let time = 0; time < 2; time++) logger.profile("profile", { level });
  }
  expect(await written()).toEqual(["timer", "profile", "timer", "profile"]);
});

test("isLevelEnabled and the like say what is written", () => {
  const { root, loggers } = application();
  const child = root.child({ name: "http" });
  loggers.setLevel("http", "DEBUG");
  expect([root, child].map((logger) => [logger.isLevelEnabled("debug"), logger.isDebugEnabled()])).toEqual([
    [false, false],
    [true, true],
  ]);
  expect([root.level, child.level, root.child({}).level]).toEqual(["info", "debug", "info"]);
  loggers.setLevel("ROOT", "OFF");
  expect(root.isErrorEnabled()).toBe(false);
  expect(root.isLevelEnabled("no such level")).toBe(false);
});

test("a method that was stored while its level was disabled works once the level is enabled", async () => {
  const { root, loggers, written } = application();
  const { debug } = root;
  const bound = root.debug.bind(root);
  debug("no");
  bound("no");
  loggers.setLevel("ROOT", "DEBUG");
  debug("1");
  bound("2");
  expect(await written()).toEqual(["1", "2"]);
});

describe("a level that the application sets is adopted", () => {
  test("on the logger, at once, and given back as it was spelt", async () => {
    const { root, loggers, written } = application();
    root.level = "http";
    root.http("1");
    expect(loggers.get("ROOT")).toMatchObject({ configuredLevel: "INFO" });
    root.level = "debug";
    root.debug("2");
    expect(loggers.get("ROOT")).toMatchObject({
      configuredLevel: "DEBUG",
      effectiveLevel: "DEBUG",
    });
    root.level = "no such level";
    root.error("no");
    expect(root.level).toBe("no such level");
    expect(loggers.get("ROOT")).toMatchObject({ effectiveLevel: "OFF" });
    root.level = "http";
    loggers.setLevel("ROOT", "INFO");
    root.http("no");
    expect(root.level).toBe("info");
    loggers.restoreLevel("ROOT");
    root.http("3");
    expect(root.level).toBe("http");
    expect(await written()).toEqual(["1", "2", "3"]);
  });

  test("and ends what an operator set on it, not on its children", async () => {
    const { root, loggers, written } = application();
    const child = root.child({ name: "a" });
    loggers.setLevel("a", "TRACE");
    loggers.setLevel("ROOT", "ERROR");
    root.level = "warn";
    expect(loggers.get("ROOT")).toMatchObject({ configuredLevel: "WARN", effectiveLevel: "WARN", override: undefined });
    root.info("no");
    root.warn("1");
    child.silly("2");
    expect(await written()).toEqual(["1", "2"]);
  });

  test.each([{ name: "a" }, {}])("on a child, %j, it stays the property that it is to winston", async (metadata) => {
    const { root, loggers, written } = application();
    const child = root.child(metadata);
    child.level = "error";
    child.info("1");
    expect([child.level, child.isInfoEnabled(), root.level]).toEqual(["error", false, "info"]);
    if (metadata.name !== undefined) {
      expect(loggers.get("a")).toMatchObject({ configuredLevel: undefined, effectiveLevel: "INFO" });
      loggers.setLevel("a", "DEBUG");
      expect(child.isDebugEnabled()).toBe(true);
      child.debug("2");
      loggers.restoreLevel("a");
      expect([child.level, child.isInfoEnabled()]).toEqual(["error", false]);
    }
    child.debug("no");
    expect(await written()).toEqual(metadata.name === undefined ? ["1"] : ["1", "2"]);
  });

  test("by configure(), with other transports and other levels", async () => {
    const { root, loggers } = application();
    const out = new Memory();
    loggers.setLevel("ROOT", "TRACE");
    root.configure({ level: "notice", transports: [out], levels: winston.config.syslog.levels });
    expect(loggers.get("ROOT")).toMatchObject({ configuredLevel: "WARN", effectiveLevel: "WARN" });
    root.log("notice", "1");
    root.log("info", "no");
    loggers.setLevel("ROOT", "ERROR");
    root.log("warning", "no");
    loggers.restoreLevel("ROOT");
    expect(root.level).toBe("notice");
    root.log("info", "no");
    root.log("notice", "2");
    expect(await written(out, root)).toEqual(["1", "2"]);
  });
});

test("groups change their members", async () => {
  const { root, loggers, written } = application();
  const router = root.child({ name: "http.router" });
  loggers.setLevel("web", "DEBUG");
  router.debug("yes");
  loggers.setLevel("web", undefined);
  router.debug("no");
  expect(await written()).toEqual(["yes"]);
});
