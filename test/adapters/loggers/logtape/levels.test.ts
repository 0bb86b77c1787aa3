import {
  type Filter,
  fingersCrossed,
  getLevelFilter,
  getLogger,
  type LogLevel,
  reset,
  withFilter,
} from "@logtape/logtape";
import { afterEach, describe, expect, test } from "vitest";
import { LEVELS } from "../../../../src/loggers/level.ts";
import type { Loggers } from "../../../../src/loggers/loggers.ts";
import type { Logger } from "../../../../src/loggers/view.ts";
import { LogTapeApplication, type Setup } from "./logtape-application.ts";

const application = new LogTapeApplication();
const { written } = application.all;
afterEach(() => application.end());

const usual: Setup = [{ category: [], sinks: ["all"], lowestLevel: "info" }];
const NATIVE: readonly LogLevel[] = ["fatal", "error", "warning", "info", "debug", "trace"];

function attached(setup: Setup = usual): Loggers {
  application.configure(setup);
  return application.attach({}, { groups: { web: ["http", "http.router"] } }).loggers;
}
const view = (loggers: Loggers, name: string) => loggers.get(name) as Logger;
const write = (category: readonly string[], message: string): void => {
  for (const level of NATIVE) getLogger([...category])[level](message);
};
const levelsWritten = (): number => written.splice(0).length;

describe("levels", () => {
  test("all seven are reached exactly, OFF too", () => {
    const loggers = attached();
    const log = getLogger(["app", "orders"]);
    for (const [index, level] of LEVELS.entries()) {
      const { result } = loggers.setLevel("app.orders", level);
      expect(result).toMatchObject({ configuredLevel: level, effectiveLevel: level, kind: "logtape" });
      for (const native of NATIVE) expect(log.isEnabledFor(native)).toBe(NATIVE.indexOf(native) < index);
      write(["app", "orders"], "x");
      expect(levelsWritten()).toBe(index);
    }
  });

  test("ROOT carries the root category's, and those without an own level follow", () => {
    const loggers = attached([{ category: [], sinks: ["all"], lowestLevel: "warning" }]);
    const log = getLogger(["app", "orders"]);
    expect(view(loggers, "ROOT")).toMatchObject({ configuredLevel: "WARN", baselineLevel: "WARN" });
    log.debug("no");
    loggers.setLevel("ROOT", "DEBUG");
    log.debug("1");
    getLogger(["later"]).debug("2");
    expect(written).toEqual(["app.orders debug: 1", "later debug: 2"]);
  });

  test("a logger is more verbose than its parent, whose sink it uses, and inherits again when cleared", () => {
    const loggers = attached([
      { category: [], sinks: ["all"], lowestLevel: "error" },
      { category: "app", lowestLevel: "warning" },
    ]);
    const [app, orders, audit] = [
      getLogger("app"),
      getLogger(["app", "orders"]),
      getLogger(["app", "orders", "audit"]),
    ];
    loggers.setLevel("app.orders", "TRACE");
    orders.trace("1");
    audit.trace("2");
    app.warn("no");
    loggers.setLevel("app.orders.audit", "OFF");
    audit.fatal("no");
    loggers.setLevel("app.orders.audit", undefined);
    audit.trace("3");
    loggers.setLevel("app.orders", undefined);
    orders.warn("no");
    orders.error("4");
    const [one, two] = ["app.orders trace: 1", "app.orders.audit trace: 2"];
    expect(written).toEqual([one, two, "app.orders.audit trace: 3", "app.orders error: 4"]);
  });

  test("a level set before the category is used applies when it is", () => {
    const loggers = attached();
    loggers.setLevel("late", "TRACE");
    getLogger(["late", "one"]).trace("yes");
    expect(written).toEqual(["late.one trace: yes"]);
  });

  test("loggers with properties of their own and children made from them follow", () => {
    const loggers = attached();
    const request = getLogger("http").with({ id: 1 });
    loggers.setLevel("http", "DEBUG");
    request.debug("1");
    request.getChild("router").debug("2");
    expect(written).toEqual(["http debug: 1", "http.router debug: 2"]);
    expect(view(loggers, "http.router")).toMatchObject({ effectiveLevel: "DEBUG" });
  });

  test("groups change their members", () => {
    const loggers = attached();
    const router = getLogger(["http", "router"]);
    loggers.setLevel("web", "DEBUG");
    router.debug("yes");
    loggers.setLevel("web", undefined);
    router.debug("no");
    expect(written).toEqual(["http.router debug: yes"]);
  });

  test("`override` stays the boundary that it is", () => {
    const loggers = attached([
      { category: [], sinks: ["all"], lowestLevel: "info" },
      { category: "own", sinks: ["other"], parentSinks: "override", lowestLevel: "info" },
    ]);
    loggers.setLevel("own", "TRACE");
    loggers.setLevel("own.below", "TRACE");
    getLogger("own").trace("1");
    getLogger(["own", "below"]).trace("2");
    expect([written, application.other.written]).toEqual([[], ["own trace: 1", "own.below trace: 2"]]);
  });
});

describe("what is configured when the loggers are found", () => {
  const cases: readonly { readonly what: string; readonly setup: Setup; readonly levels: Record<string, string> }[] = [
    {
      what: "a level and a sink",
      setup: [{ category: "a", sinks: ["all"], lowestLevel: "debug" }],
      levels: { a: "DEBUG" },
    },
    { what: "a sink alone", setup: [{ category: "a", sinks: ["all"] }], levels: { a: "TRACE" } },
    { what: "nothing passing", setup: [{ category: "a", sinks: ["all"], lowestLevel: null }], levels: { a: "OFF" } },
    {
      what: "a level within its parent's",
      setup: [...usual, { category: "a", lowestLevel: "error" }],
      levels: { ROOT: "INFO", a: "ERROR" },
    },
    {
      what: "a level that its parent's sinks never got to see",
      setup: [...usual, { category: "a", lowestLevel: "trace" }, { category: ["b"], lowestLevel: "debug" }],
      levels: { ROOT: "INFO", a: "undefined", b: "INFO" },
    },
    {
      what: "a level beyond its parent's, forwarded",
      setup: [...usual, { category: "a", lowestLevel: "debug", parentSinks: "forward" }],
      levels: { ROOT: "INFO", a: "DEBUG" },
    },
  ];
  test.each(cases)("$what: nothing else is written than before", ({ setup, levels }) => {
    application.configure(setup);
    const categories = [[], ["a"], ["a", "below"], ["b"]];
    for (const category of categories) write(category, "x");
    const natively = written.splice(0);
    const kept = categories.map((category) => getLogger(category));
    const { loggers } = application.attach();
    const found = Object.keys(levels).map((name) => [name, `${view(loggers, name)?.configuredLevel}`]);
    expect(Object.fromEntries(found)).toEqual(levels);
    for (const { category } of kept) write(category, "x");
    expect(written).toEqual(natively);
  });

  test("a clear goes back to inheriting and a restore to the configuration", () => {
    const loggers = attached([...usual, { category: "a", lowestLevel: "error" }]);
    const log = getLogger("a");
    loggers.setLevel("a", undefined);
    log.info("1");
    loggers.restoreLevel("a");
    log.info("no");
    expect(written).toEqual(["a info: 1"]);
  });
});

describe("what the application does meanwhile", () => {
  test("a level set directly is adopted at the next listing", () => {
    const loggers = attached();
    const log = getLogger("a") as unknown as { lowestLevel: LogLevel };
    loggers.setLevel("a", "TRACE");
    log.lowestLevel = "fatal";
    expect(view(loggers, "a")).toMatchObject({ configuredLevel: "FATAL", effectiveLevel: "FATAL" });
    getLogger(["a", "b"]).error("no");
    expect(written).toEqual([]);
  });

  test("configure() is adopted at once: categories it no longer names inherit, and levels set by operators stay", async () => {
    const loggers = attached([
      ...usual,
      { category: "a", lowestLevel: "error" },
      { category: "gone", lowestLevel: "error" },
    ]);
    const logs = ["a", "gone", "raised"].map((name) => getLogger(name));
    loggers.setLevel("a", "TRACE");
    loggers.setLevel("raised", "TRACE");
    application.configure([
      { category: [], sinks: ["all"], lowestLevel: "warning" },
      { category: "a", lowestLevel: "fatal" },
      { category: "new", lowestLevel: "error" },
      { category: "fresh", sinks: ["other"] },
    ]);
    await Promise.resolve();
    for (const log of [...logs, getLogger("new"), getLogger("unnamed")]) for (const level of NATIVE) log[level]("x");
    const count = (name: string) => written.filter((line) => line.startsWith(`${name} `)).length;
    expect(["a", "gone", "raised", "new", "unnamed"].map(count)).toEqual([1, 3, 6, 2, 3]);
    const configured = ["ROOT", "a", "gone", "raised", "new", "fresh"].map(
      (name) => view(loggers, name).configuredLevel,
    );
    expect(configured).toEqual(["WARN", "FATAL", undefined, "TRACE", "ERROR", "TRACE"]);
    loggers.setLevel("gone", "DEBUG");
    application.configure(usual);
    await Promise.resolve();
    expect(view(loggers, "gone")).toMatchObject({ configuredLevel: "DEBUG" });
  });

  test("a level set in the very turn of configure() counts", () => {
    const loggers = attached();
    const log = getLogger("a");
    application.configure([{ category: [], sinks: ["all"], lowestLevel: "error" }]);
    loggers.setLevel("a", "DEBUG");
    log.debug("yes");
    expect(written).toEqual(["a debug: yes"]);
    expect(view(loggers, "ROOT")).toMatchObject({ configuredLevel: "ERROR" });
  });

  test("reset() takes the sinks away, not the levels", async () => {
    const loggers = attached();
    const log = getLogger("a");
    loggers.setLevel("a", "TRACE");
    await reset();
    log.fatal("no");
    application.configure(usual);
    await Promise.resolve();
    log.trace("yes");
    expect(written).toEqual(["a trace: yes"]);
  });
});

describe("limits are shown on the logger", () => {
  const filters: Record<string, Filter> = { level: getLevelFilter("warning"), own: () => true };

  test("a level filter, which also bounds the level that is reached", () => {
    application.configure([{ category: [], sinks: ["all"], filters: ["level"], lowestLevel: "info" }], filters);
    const { loggers } = application.attach();
    const log = getLogger("a");
    expect(view(loggers, "ROOT").warnings).toEqual([expect.stringMatching(/level filter lets through "warning"/)]);
    const { result } = loggers.setLevel("a", "DEBUG");
    expect(result).toMatchObject({ configuredLevel: "DEBUG", effectiveLevel: "WARN" });
    log.info("dropped, as the warning says");
    expect(loggers.setLevel("a", "ERROR").result).toMatchObject({ effectiveLevel: "ERROR" });
    expect(written).toEqual([]);
  });

  test("filters of the application's own", () => {
    application.configure([...usual, { category: "a", filters: ["own"] }], filters);
    const { loggers } = application.attach();
    expect(view(loggers, "a").warnings).toEqual([expect.stringMatching(/1 filter of the application's own/)]);
  });

  test("sinks that drop records", () => {
    application.configure(usual);
    const logger = getLogger("a") as unknown as { sinks: unknown[] };
    const { sink } = application.other;
    logger.sinks.push(
      withFilter(sink, () => false),
      fingersCrossed(sink),
      sink,
    );
    const { loggers } = application.attach();
    expect(view(loggers, "a").warnings).toContainEqual(expect.stringMatching(/2 sinks may hold back or drop/));
  });

  test("sinks of its own and of its parents that got different levels", () => {
    application.configure([...usual, { category: "a", sinks: ["other"], lowestLevel: "debug" }]);
    const { loggers } = application.attach();
    expect(view(loggers, "a")).toMatchObject({ configuredLevel: "DEBUG" });
    expect(view(loggers, "a").warnings).toEqual([expect.stringMatching(/were given different levels/)]);
  });

  test("an ordinary configuration has none, and a later one is checked again", async () => {
    const loggers = attached();
    getLogger("a");
    expect(loggers.list().loggers.flatMap(({ warnings }) => warnings)).toEqual([]);
    application.configure([{ category: [], sinks: ["all"], filters: ["own"] }], filters);
    await Promise.resolve();
    expect(view(loggers, "ROOT").warnings).toEqual([expect.stringMatching(/application's own/)]);
  });
});
