import { afterEach, describe, expect, test } from "vitest";
import { pinoLoggers } from "../../../../src/adapters/loggers/pino/index.ts";
import { Loggers } from "../../../../src/loggers/loggers.ts";
import type { Logger } from "../../../../src/loggers/view.ts";
import { messages, PINO_VERSIONS } from "../../../support/pino-versions.ts";

const detaches: (() => void)[] = [];
afterEach(() => {
  for (const detach of detaches.splice(0)) detach();
});

describe.each(PINO_VERSIONS)("pino %s writes what the levels say", (_, pino) => {
  function application(options: Parameters<typeof pino>[0] = {}) {
    const out = messages();
    const root = pino({ base: null, ...options }, out);
    const loggers = new Loggers({ groups: { web: ["http", "http.router"] } });
    detaches.push(loggers.attach(pinoLoggers(root)));
    return { out, root, loggers };
  }

  test("ROOT carries the level of the root logger, and all seven levels reach it exactly", () => {
    const { root, loggers } = application({ level: "warn" });
    expect(loggers.get("ROOT")).toMatchObject({
      configuredLevel: "WARN",
      effectiveLevel: "WARN",
      baselineLevel: "WARN",
      kind: "pino",
    });
    for (const [level, native] of [
      ["OFF", "silent"],
      ["FATAL", "fatal"],
      ["ERROR", "error"],
      ["WARN", "warn"],
      ["INFO", "info"],
      ["DEBUG", "debug"],
      ["TRACE", "trace"],
    ] as const) {
      expect((loggers.setLevel("ROOT", level).result as Logger).effectiveLevel).toBe(level);
      expect(root.level).toBe(native);
    }
  });

  test("children follow a change of ROOT, also those made without a name", () => {
    const { out, root, loggers } = application();
    const http = root.child({ name: "http" });
    const request = http.child({ reqId: 1 });
    request.debug("before");
    loggers.setLevel("ROOT", "DEBUG");
    request.debug("after");
    http.child({ reqId: 2 }).debug("later");
    expect(out.written).toEqual(["after", "later"]);
    expect(loggers.list().loggers.map(({ name }) => name)).toEqual(["ROOT", "http"]);
  });

  test("a child has its own level, those below follow it, and clearing gives it back", () => {
    const { out, root, loggers } = application();
    const http = root.child({ name: "http" });
    const router = http.child({ module: "http.router" });
    const request = router.child({ reqId: 1 });
    const orders = root.child({ component: "orders" });
    loggers.setLevel("http", "TRACE");
    request.trace("1");
    orders.debug("no");
    loggers.setLevel("http.router", "ERROR");
    request.warn("no");
    http.trace("2");
    loggers.setLevel("http.router", undefined);
    request.trace("3");
    loggers.setLevel("http", undefined);
    request.debug("no");
    request.info("4");
    expect(out.written).toEqual(["1", "2", "3", "4"]);
  });

  test("OFF silences even fatal records", () => {
    const { out, root, loggers } = application();
    const http = root.child({ name: "http" });
    loggers.setLevel("http", "OFF");
    http.fatal("no");
    expect(out.written).toEqual([]);
  });

  test("names decide, not who made whom", () => {
    const { out, root, loggers } = application();
    const orders = root.child({ name: "orders" });
    const audit = orders.child({ name: "audit" });
    loggers.setLevel("orders", "TRACE");
    audit.debug("no");
    loggers.setLevel("audit", "TRACE");
    loggers.setLevel("orders", "ERROR");
    audit.debug("yes");
    expect(out.written).toEqual(["yes"]);
  });

  test("a level set for a name applies to the loggers made later", () => {
    const { out, root, loggers } = application();
    loggers.setLevel("late", "TRACE");
    root.child({ name: "late.one" }).trace("yes");
    expect(out.written).toEqual(["yes"]);
  });

  test("a level given to a child at birth is its configured level and baseline", () => {
    const { out, root, loggers } = application();
    const quiet = root.child({ name: "quiet" }, { level: "error" });
    expect(loggers.get("quiet")).toMatchObject({ configuredLevel: "ERROR", baselineLevel: "ERROR" });
    loggers.setLevel("ROOT", "TRACE");
    quiet.warn("no");
    loggers.setLevel("quiet", undefined);
    quiet.trace("yes");
    expect(out.written).toEqual(["yes"]);
  });

  test("a level that a listener of a change sets on another logger is adopted as well", async () => {
    const { out, root, loggers } = application();
    const [http, db] = [root.child({ name: "http" }), root.child({ name: "db" })];
    loggers.setLevel("db", "ERROR");
    root.once("level-change", () => {
      http.level = "debug";
    });
    loggers.setLevel("ROOT", "WARN");
    await Promise.resolve();
    expect(loggers.get("http")).toMatchObject({ configuredLevel: "DEBUG", effectiveLevel: "DEBUG" });
    http.debug("1");
    loggers.setLevel("http", undefined);
    http.info("no");
    db.warn("no");
    expect(out.written).toEqual(["1"]);
  });

  test("a level that the application sets is adopted, for that logger only, and comes back", () => {
    const { out, root, loggers } = application();
    const first = root.child({ name: "a" });
    const second = root.child({ name: "a" });
    first.level = "trace";
    expect(loggers.get("a")).toMatchObject({ configuredLevel: undefined, effectiveLevel: "TRACE" });
    expect((loggers.get("a") as Logger).warnings).toEqual([expect.stringMatching(/differ/)]);
    second.debug("no");
    loggers.setLevel("a", "DEBUG");
    second.debug("1");
    first.trace("no");
    loggers.restoreLevel("a");
    second.debug("no");
    first.trace("2");
    second.level = "trace";
    expect(loggers.get("a")).toMatchObject({ configuredLevel: "TRACE", warnings: [] });
    root.level = "error";
    expect(loggers.get("ROOT")).toMatchObject({ configuredLevel: "ERROR" });
    expect(out.written).toEqual(["1", "2"]);
  });

  test("a level that the application sets ends the operator's on that name, and others get theirs back", () => {
    const { root, loggers } = application();
    const [one, two] = [root.child({ name: "a" }), root.child({ name: "a" })];
    loggers.setLevel("a", "TRACE");
    one.level = "warn";
    expect([one.level, two.level]).toEqual(["warn", "info"]);
    root.level = "error";
    expect(one.level).toBe("warn");
  });

  test("a level set in an onChild callback is adopted", () => {
    const { out, root, loggers } = application({
      onChild: (child) => {
        child.level = "trace";
      },
    });
    const child = root.child({ name: "a" });
    child.trace("yes");
    expect(out.written).toEqual(["yes"]);
    expect(loggers.get("a")).toMatchObject({ configuredLevel: "TRACE" });
  });

  test("custom levels alone reach the next more severe one", () => {
    const { loggers, root } = application({
      customLevels: { notice: 35, alarm: 55 },
      useOnlyCustomLevels: true,
      level: "notice",
    });
    expect(loggers.get("ROOT")).toMatchObject({ configuredLevel: "WARN" });
    expect(loggers.setLevel("ROOT", "DEBUG").result).toMatchObject({
      configuredLevel: "DEBUG",
      effectiveLevel: "WARN",
    });
    expect(loggers.setLevel("ROOT", "ERROR").result).toMatchObject({ effectiveLevel: "FATAL" });
    expect(root.level).toBe("alarm");
    expect(loggers.setLevel("ROOT", "OFF").result).toMatchObject({ effectiveLevel: "OFF" });
  });

  test.each([
    ["http", "INFO"],
    ["loud", "ERROR"],
    ["silly", "TRACE"],
    ["alarm", "OFF"],
  ])(
    "a level of the application's own stays at attach, is shown as the nearest, and comes back: %s",
    (level, shown) => {
      const { out, root, loggers } = application({ customLevels: { http: 25, loud: 45, silly: 5, alarm: 70 }, level });
      const child = root.child({ name: "a" });
      const custom = child as unknown as Record<string, (text: string) => void>;
      const check = () => {
        expect([root.level, child.level, root.levelVal]).toEqual([level, level, root.levels.values[level]]);
        expect(loggers.get("ROOT")).toMatchObject({ configuredLevel: shown, effectiveLevel: shown });
        custom[level]!("written");
        expect(out.written.splice(0)).toEqual(["written"]);
      };
      check();
      loggers.setLevel("a", "WARN");
      loggers.setLevel("ROOT", "FATAL");
      child.warn("written");
      expect([out.written.splice(0), root.level, child.level]).toEqual([["written"], "fatal", "warn"]);
      loggers.restoreAllLevels();
      check();
    },
  );

  test.each([
    ["in the other direction", "DESC" as const],
    ["by a function", (current: number, expected: number) => current <= expected],
  ])("levels that are compared %s go the same way for the operator", (_title, levelComparison) => {
    const customLevels = { error: 3, warn: 4, info: 6, debug: 7 };
    const { out, root, loggers } = application({
      customLevels,
      useOnlyCustomLevels: true,
      level: "info",
      levelComparison,
    });
    const written = () => {
      for (const label of ["error", "warn", "info", "debug"] as const) root[label](label);
      return out.written.splice(0);
    };
    expect(loggers.get("ROOT")).toMatchObject({ configuredLevel: "INFO", effectiveLevel: "INFO" });
    expect(written()).toEqual(["error", "warn", "info"]);
    loggers.setLevel("ROOT", "DEBUG");
    expect(written()).toEqual(["error", "warn", "info", "debug"]);
    loggers.setLevel("ROOT", "ERROR");
    expect(written()).toEqual(["error"]);
    // No level of such a logger lets nothing through: pino's silent is its most verbose one.
    expect(loggers.setLevel("ROOT", "OFF").result).toMatchObject({ configuredLevel: "OFF", effectiveLevel: "ERROR" });
    expect(written()).toEqual(["error"]);
    loggers.restoreLevel("ROOT");
    expect([root.level, written()]).toEqual(["info", ["error", "warn", "info"]]);
  });

  test("levels without any of pino's names or numbers are shown by their rank", () => {
    const { root, loggers } = application({
      customLevels: { low: 1, mid: 2, high: 3 },
      useOnlyCustomLevels: true,
      level: "mid",
    });
    expect(loggers.get("ROOT")).toMatchObject({ effectiveLevel: "ERROR" });
    for (const [level, label] of [
      ["TRACE", "low"],
      ["ERROR", "mid"],
      ["FATAL", "high"],
      ["OFF", "silent"],
    ] as const) {
      loggers.setLevel("ROOT", level);
      expect(root.level).toBe(label);
    }
    loggers.restoreLevel("ROOT");
    expect(root.level).toBe("mid");
  });

  test("methods that the application wrapped are there again after a level, and stay where it does not concern them", () => {
    const { out, root, loggers } = application();
    const child = root.child({ name: "a" });
    const wrap = (method: "info" | "debug") => {
      const inner = child[method];
      child[method] = function (this: typeof child, text: string) {
        inner.call(this, `wrapped ${text}`);
      } as typeof inner;
    };
    wrap("info");
    wrap("debug");
    loggers.setLevel("a", "DEBUG");
    child.info("1");
    child.debug("2");
    loggers.setLevel("a", undefined);
    child.debug("no");
    child.info("3");
    expect(out.written).toEqual(["wrapped 1", "2", "wrapped 3"]);
    expect(Object.keys(child).sort()).toEqual(expect.arrayContaining(["debug", "info"]));
  });

  test("a logger that the application froze keeps its level, with a warning, and the others of the name get theirs", () => {
    const { root, loggers } = application();
    const [before, frozen, after] = [1, 2, 3].map(() => root.child({ name: "a" }));
    Object.freeze(frozen);
    loggers.setLevel("a", "DEBUG");
    expect([before, frozen, after].map((logger) => logger!.level)).toEqual(["debug", "info", "debug"]);
    expect((loggers.get("a") as Logger).warnings).toContainEqual(expect.stringMatching(/level not applied/));
    loggers.setLevel("a", undefined);
    expect([before, frozen, after].map((logger) => logger!.level)).toEqual(["info", "info", "info"]);
  });

  test("a child that is frozen as it is made does not fail because of a level", () => {
    const { root, loggers } = application({ onChild: (child) => Object.freeze(child) });
    loggers.setLevel("a", "DEBUG");
    expect(root.child({ name: "a" }).level).toBe("info");
  });

  test("groups change their members", () => {
    const { out, root, loggers } = application();
    const router = root.child({ name: "http.router" });
    loggers.setLevel("web", "DEBUG");
    router.debug("yes");
    loggers.setLevel("web", undefined);
    router.debug("no");
    expect(out.written).toEqual(["yes"]);
  });

  test("level-change listeners of the application are called", () => {
    const { root, loggers } = application();
    const heard: unknown[] = [];
    root.on("level-change", (level) => heard.push(level));
    loggers.setLevel("ROOT", "DEBUG");
    expect(heard).toEqual(["debug"]);
  });
});
