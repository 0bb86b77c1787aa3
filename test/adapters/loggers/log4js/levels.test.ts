import log4js from "log4js";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { log4jsLoggers } from "../../../../src/adapters/loggers/log4js/index.ts";
import { Loggers } from "../../../../src/loggers/loggers.ts";
import type { Logger } from "../../../../src/loggers/view.ts";
import { configure, type Memory, memory } from "./memory.ts";

let out: Memory;
let loggers: Loggers;
const detaches: (() => void)[] = [];
beforeEach(() => {
  out = memory();
});
afterEach(() => {
  for (const detach of detaches.splice(0)) detach();
  log4js.shutdown();
});

function attach(options?: Parameters<typeof log4jsLoggers>[1]): Loggers {
  loggers = new Loggers({ groups: { web: ["http", "http.router"] } });
  detaches.push(loggers.attach(log4jsLoggers(log4js, options)));
  return loggers;
}
const levelsOf = () =>
  loggers.list().loggers.map(({ name, configuredLevel, effectiveLevel }) => {
    return `${name} ${configuredLevel ?? "inherits"} ${effectiveLevel}`;
  });

const METHODS = ["trace", "debug", "info", "warn", "error", "fatal"] as const;

test.each(["OFF", "FATAL", "ERROR", "WARN", "INFO", "DEBUG", "TRACE"] as const)("%s is reached exactly", (level) => {
  configure(out, { default: "warn" });
  attach();
  expect(loggers.get("ROOT")).toMatchObject({ configuredLevel: "WARN", baselineLevel: "WARN", kind: "log4js" });
  expect(loggers.setLevel("ROOT", level).result).toMatchObject({ configuredLevel: level, effectiveLevel: level });
  const logger = log4js.getLogger();
  for (const method of METHODS) logger[method](method);
  const enabled = { OFF: 0, FATAL: 1, ERROR: 2, WARN: 3, INFO: 4, DEBUG: 5, TRACE: 6 }[level];
  expect(out.written).toEqual(METHODS.slice(METHODS.length - enabled).map((method) => `default ${method}`));
  expect(String(logger.level)).toBe(level);
});

test("marks are written at every level but OFF", () => {
  configure(out, { default: "info" });
  attach();
  const logger = log4js.getLogger("a");
  for (const level of ["FATAL", "TRACE", "OFF"] as const) {
    loggers.setLevel("ROOT", level);
    logger.mark(level);
  }
  expect(out.written).toEqual(["a FATAL", "a TRACE"]);
});

test.each([
  ["mark", "OFF", "mark"],
  ["all", "TRACE", "trace"],
  ["notice", "WARN", "notice"],
] as const)(
  "a category at log4js's own level %s counts as %s, and attaching does not change it",
  (level, counts, method) => {
    configure(out, { default: level }, { levels: { NOTICE: { value: 25_000, colour: "blue" } } });
    attach();
    expect(loggers.get("ROOT")).toMatchObject({ configuredLevel: counts, effectiveLevel: counts });
    const logger = log4js.getLogger() as unknown as Record<string, (text: string) => void>;
    logger[method]!("1");
    loggers.setLevel("ROOT", "FATAL");
    loggers.setLevel("ROOT", undefined);
    logger[method]!("2");
    expect(out.written).toEqual(["default 1", "default 2"]);
  },
);

describe("levels are inherited by name", () => {
  test("copies that log4js made at first use have no level of their own, and follow", () => {
    configure(out, { default: "info", a: "warn" });
    const [ab, abc, x] = ["a.b", "a.b.c", "x"].map((name) => log4js.getLogger(name));
    attach();
    expect(levelsOf()).toEqual([
      "ROOT INFO INFO",
      "a WARN WARN",
      "a.b inherits WARN",
      "a.b.c inherits WARN",
      "x inherits INFO",
    ]);
    loggers.setLevel("a", "DEBUG");
    loggers.setLevel("ROOT", "ERROR");
    abc!.debug("1");
    x!.warn("no");
    loggers.setLevel("a.b", "ERROR");
    ab!.warn("no");
    abc!.warn("no");
    loggers.setLevel("a.b", undefined);
    abc!.debug("2");
    expect(out.written).toEqual(["a.b.c 1", "a.b.c 2"]);
  });

  test("categories asked for later follow from the start", () => {
    configure(out, { default: "info" });
    attach();
    loggers.setLevel("late", "TRACE");
    loggers.setLevel("late.quiet", "ERROR");
    log4js.getLogger("late.one").trace("1");
    const quiet = log4js.getLogger("late.quiet.too");
    quiet.warn("no");
    quiet.error("2");
    expect(out.written).toEqual(["late.one 1", "late.quiet.too 2"]);
    expect(levelsOf()).toEqual([
      "ROOT INFO INFO",
      "late TRACE TRACE",
      "late.one inherits TRACE",
      "late.quiet ERROR ERROR",
      "late.quiet.too inherits ERROR",
    ]);
  });

  test("a copy that differs by now from what it was copied from has a level itself: attaching changes nothing", () => {
    configure(out, { default: "info" });
    const [ab, wide] = ["a.b", "a:wide"].map((name) => log4js.getLogger(name));
    log4js.getLogger("a").level = "debug";
    attach();
    expect(levelsOf()).toEqual(["ROOT INFO INFO", "a DEBUG DEBUG", "a.b INFO INFO", "a.wide INFO INFO"]);
    ab!.debug("no");
    wide!.debug("no");
    expect(out.written).toEqual([]);
  });

  test("a category of the configuration that leaves out its level inherits", () => {
    configure(out, { default: "info", a: "warn", "a.b": {}, "a.c": "error" });
    attach();
    expect(levelsOf()).toEqual(["ROOT INFO INFO", "a WARN WARN", "a.b inherits WARN", "a.c ERROR ERROR"]);
  });

  test("colons and slashes separate too", () => {
    configure(out, { default: "info" });
    attach();
    loggers.setLevel("db", "TRACE");
    log4js.getLogger("db:pool").trace("1");
    log4js.getLogger("db/query").trace("2");
    expect(out.written).toEqual(["db:pool 1", "db/query 2"]);
  });
});

test("every logger of a category obeys, those made before too", () => {
  configure(out, { default: "info" });
  const before = log4js.getLogger("http");
  attach();
  loggers.setLevel("web", "DEBUG");
  for (const logger of [before, log4js.getLogger("http")]) logger.debug("x");
  loggers.setLevel("web", undefined);
  before.debug("no");
  expect(out.written).toEqual(["http x", "http x"]);
});

describe("a level that the application sets is adopted", () => {
  test("at once, for that category alone, as log4js has it", () => {
    configure(out, { default: "info" });
    attach();
    const below = log4js.getLogger("a.b");
    log4js.getLogger("a").level = "trace";
    expect(loggers.get("a")).toMatchObject({ configuredLevel: "TRACE", effectiveLevel: "TRACE" });
    below.trace("no");
    log4js.getLogger("a").trace("1");
    log4js.getLogger().level = "error";
    expect(loggers.get("ROOT")).toMatchObject({ configuredLevel: "ERROR", baselineLevel: "INFO" });
    expect(loggers.get("a.b")).toMatchObject({ configuredLevel: undefined, effectiveLevel: "INFO" });
    loggers.setLevel("a", "ERROR");
    below.warn("no");
    loggers.restoreLevel("a");
    below.info("2");
    expect(out.written).toEqual(["a 1", "a.b 2"]);
  });

  test("a category that is made under an operator's level gets log4js's own back", () => {
    configure(out, { default: "info", a: "warn" });
    attach();
    loggers.setLevel("a", "TRACE");
    const made = log4js.getLogger("a.made");
    made.trace("1");
    loggers.restoreLevel("a");
    expect(String(made.level)).toBe("WARN");
    expect(out.written).toEqual(["a.made 1"]);
  });

  test("the application's own level between two stays if it is shown as the level that was set", () => {
    configure(out, { default: "info" }, { levels: { NOTICE: { value: 25_000, colour: "blue" } } });
    attach();
    const logger = log4js.getLogger("a");
    logger.level = "notice";
    expect(loggers.get("a")).toMatchObject({ configuredLevel: "WARN" });
    loggers.setLevel("a", "DEBUG");
    loggers.setLevel("a", "WARN");
    expect(String(logger.level)).toBe("NOTICE");
  });
});

describe("log4js.configure() called again", () => {
  beforeEach(() => {
    configure(out, { default: "info", a: "warn" });
    attach();
    log4js.getLogger("a.b");
    log4js.getLogger("x");
  });
  const again = () => out.written.splice(0);

  test("with the same levels leaves what an operator set", () => {
    loggers.setLevel("ROOT", "ERROR");
    loggers.setLevel("a", "DEBUG");
    loggers.setLevel("x", "TRACE");
    const before = levelsOf();
    configure(out, { default: "info", a: "warn" });
    expect(levelsOf()).toEqual(before);
    log4js.getLogger("a.b").debug("1");
    log4js.getLogger("x").trace("2");
    log4js.getLogger("y").warn("no");
    expect(again()).toEqual(["a.b 1", "x 2"]);
  });

  test("with other levels is adopted, below too", () => {
    loggers.setLevel("ROOT", "ERROR");
    configure(out, { default: "debug", a: "error" });
    expect(levelsOf()).toEqual(["ROOT DEBUG DEBUG", "a ERROR ERROR", "a.b inherits ERROR", "x inherits DEBUG"]);
    log4js.getLogger("x").debug("1");
    log4js.getLogger("a.b").warn("no");
    expect(again()).toEqual(["x 1"]);
  });

  test("without a category takes its level away, unless an operator has set another", () => {
    configure(out, { default: "info" });
    log4js.getLogger("a").info("1");
    expect(loggers.get("a")).toMatchObject({ configuredLevel: undefined, effectiveLevel: "INFO" });
    configure(out, { default: "info", a: "warn" });
    loggers.setLevel("a", "DEBUG");
    configure(out, { default: "info" });
    log4js.getLogger("a").debug("2");
    expect(loggers.get("a")).toMatchObject({ configuredLevel: "DEBUG" });
    expect(again()).toEqual(["a 1", "a 2"]);
  });

  test("a category that leaves out its level inherits still, whatever is above it by then", () => {
    loggers.setLevel("a", "DEBUG");
    configure(out, { default: "info", a: "warn", "a.b": {} });
    expect(levelsOf().slice(1, 3)).toEqual(["a DEBUG DEBUG", "a.b inherits DEBUG"]);
    configure(out, { default: "info", a: "error", "a.b": {} });
    expect(levelsOf().slice(1, 3)).toEqual(["a ERROR ERROR", "a.b inherits ERROR"]);
  });

  test("with new categories finds them", () => {
    configure(out, { default: "info", a: "warn", fresh: "debug" });
    expect(loggers.get("fresh")).toMatchObject({ configuredLevel: "DEBUG", effectiveLevel: "DEBUG" });
  });

  test("with what log4js refuses keeps the levels for when it is configured well", () => {
    loggers.setLevel("a", "DEBUG");
    expect(() => configure(out, { nothing: "info" })).toThrow(/default/);
    configure(out, { default: "info", a: "warn" });
    log4js.getLogger("a").debug("1");
    expect(again()).toEqual(["a 1"]);
  });

  test("a level may be set while log4js is shut down", () => {
    log4js.shutdown();
    expect((loggers.setLevel("a", "TRACE").result as Logger).configuredLevel).toBe("TRACE");
    configure(out, { default: "info", a: "warn" });
    log4js.getLogger("a").trace("1");
    expect(again()).toEqual(["a 1"]);
  });
});

describe("a logLevelFilter", () => {
  const filters = {
    errors: { type: "logLevelFilter", level: "error", appender: "memory" },
    warnings: { type: "logLevelFilter", level: "warn", maxLevel: "warn", appender: "memory" },
  };
  const warnings = (name: string) => (loggers.get(name) as Logger).warnings;

  test("shows a warning and lowers the effective level", () => {
    configure(
      out,
      { default: "info", a: { level: "info", appenders: ["errors", "warnings"] } },
      { appenders: filters },
    );
    attach();
    expect(out.written, "finding out writes nothing").toEqual([]);
    expect(warnings("ROOT")).toEqual([]);
    expect(warnings("a")).toEqual([
      expect.stringMatching(/logLevelFilter.*ERROR/),
      expect.stringMatching(/logLevelFilter.*WARN/),
    ]);
    expect(loggers.setLevel("a", "DEBUG").result).toMatchObject({ configuredLevel: "DEBUG", effectiveLevel: "WARN" });
    const logger = log4js.getLogger("a");
    logger.info("no");
    logger.warn("1");
    expect(out.written).toEqual(["a 1"]);
  });

  test("beside an appender that takes everything does not lower what is reached", () => {
    configure(out, { default: { level: "info", appenders: ["errors", "memory"] } }, { appenders: filters });
    attach();
    expect(loggers.setLevel("ROOT", "DEBUG").result).toMatchObject({ effectiveLevel: "DEBUG" });
    expect(warnings("ROOT")).toHaveLength(1);
  });

  test("that comes or goes by configuration is noticed", async () => {
    configure(out, { default: "info" });
    attach();
    configure(out, { default: { level: "info", appenders: ["errors", "warnings"] } }, { appenders: filters });
    await Promise.resolve();
    expect(loggers.get("ROOT")).toMatchObject({ configuredLevel: "INFO", effectiveLevel: "WARN" });
    expect(warnings("ROOT")).toHaveLength(2);
    configure(out, { default: { level: "info", appenders: ["errors", "memory"] } }, { appenders: filters });
    await Promise.resolve();
    expect(loggers.get("ROOT")).toMatchObject({ configuredLevel: "INFO", effectiveLevel: "INFO" });
  });
});
