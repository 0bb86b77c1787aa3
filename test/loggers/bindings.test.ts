import { describe, expect, test } from "vitest";
import type { LoggerHost } from "../../src/loggers/adapter.ts";
import { Loggers } from "../../src/loggers/loggers.ts";
import type { Logger } from "../../src/loggers/view.ts";
import { nativeHandle } from "../support/native-handle.ts";
import { NativeTree } from "../support/native-tree.ts";

function attached(loggers: Loggers): LoggerHost {
  let given: LoggerHost | undefined;
  loggers.attach({
    kind: "test",
    attach: (host) => {
      given = host;
      return () => {};
    },
  });
  return given!;
}

describe("what is pushed into native loggers", () => {
  test("is one level for all that follow ROOT natively", () => {
    const loggers = new Loggers();
    const host = attached(loggers);
    const native = new NativeTree(host, "INFO");
    for (let index = 0; index < 100; index++) native.make(`a.b${index}`, native.root);
    native.pushes = 0;
    loggers.setLevel("ROOT", "DEBUG");
    expect(native.pushes).toBe(1);
    expect(native.loggers.every((logger) => logger.level === "DEBUG")).toBe(true);
  });

  test("is every logger below a name whose level no native parent carries, and only those", () => {
    const loggers = new Loggers();
    const native = new NativeTree(attached(loggers), "INFO");
    const inside = native.make("a.b", native.root);
    const below = native.make("a.b.c", inside);
    const outside = native.make("x", native.root);
    native.pushes = 0;
    loggers.setLevel("a", "TRACE");
    expect(native.pushes).toBe(1);
    expect([inside, below, outside].map((logger) => logger.level)).toEqual(["TRACE", "TRACE", "INFO"]);
    loggers.setLevel("a", undefined);
    expect([inside, below].map((logger) => logger.level)).toEqual(["INFO", "INFO"]);
  });

  test("a native parent that is not an ancestor by name is not followed", () => {
    const loggers = new Loggers();
    const native = new NativeTree(attached(loggers), "INFO");
    const orders = native.make("orders", native.root);
    const audit = native.make("audit", orders);
    loggers.setLevel("orders", "TRACE");
    expect([orders, audit].map((logger) => logger.level)).toEqual(["TRACE", "INFO"]);
  });
});

test("a logger that appears later gets the level that was set for its name", () => {
  const loggers = new Loggers();
  const native = new NativeTree(attached(loggers), "INFO");
  loggers.setLevel("late", "TRACE");
  expect(native.make("late.one", native.root).level).toBe("TRACE");
});

test("a level that the application sets on one of several loggers of a name stays with that one", () => {
  const loggers = new Loggers();
  const native = new NativeTree(attached(loggers), "INFO");
  const first = native.make("a", native.root);
  const second = native.make("a", native.root);
  const below = native.make("a.b", native.root);
  first.setByApplication("DEBUG");
  expect([first, second, below].map((logger) => logger.level)).toEqual(["DEBUG", "INFO", "INFO"]);
  expect(loggers.get("a")).toMatchObject({
    configuredLevel: undefined,
    baselineLevel: undefined,
    effectiveLevel: "DEBUG",
    warnings: ["the loggers of this name differ: test DEBUG, test INFO"],
  });
  loggers.setLevel("a", "WARN");
  expect([first, second, below].map((logger) => logger.level)).toEqual(["WARN", "WARN", "WARN"]);
  loggers.setLevel("a", undefined);
  expect([first, second, below].map((logger) => logger.level)).toEqual(["INFO", "INFO", "INFO"]);
  loggers.restoreLevel("a");
  expect([first, second, below].map((logger) => logger.level)).toEqual(["DEBUG", "INFO", "INFO"]);
});

test("a level that the application removes is inherited again", () => {
  const loggers = new Loggers();
  const host = attached(loggers);
  const native = new NativeTree(host, "INFO");
  const logger = native.make("a", native.root, "TRACE");
  logger.own = undefined;
  host.changedOutside(logger, undefined);
  expect(loggers.get("a")).toMatchObject({ configuredLevel: undefined, effectiveLevel: "INFO" });
  loggers.setLevel("ROOT", "WARN");
  expect(logger.level).toBe("WARN");
});

test("a level that the library does not reach is stored as asked and reported as reached", () => {
  const loggers = new Loggers();
  const withoutFatal = nativeHandle("INFO", (level) => (level === "FATAL" ? "ERROR" : level));
  attached(loggers).discovered("a", withoutFatal);
  loggers.setLevel("a", "FATAL");
  expect(loggers.get("a")).toMatchObject({ configuredLevel: "FATAL", effectiveLevel: "ERROR" });
});

test("a native logger that throws does not keep the others from changing, and shows a warning", () => {
  const loggers = new Loggers();
  const host = attached(loggers);
  const failing = nativeHandle("INFO", () => {
    throw new Error("no");
  });
  const other = nativeHandle();
  host.discovered("a", failing);
  host.discovered("a", other);
  loggers.setLevel("a", "TRACE");
  expect(other.level).toBe("TRACE");
  expect((loggers.get("a") as Logger).warnings).toEqual([
    expect.stringContaining("level not applied"),
    "the loggers of this name differ: test INFO, test TRACE",
  ]);
});

test("loggers that followed one that is gone follow its parent", () => {
  const loggers = new Loggers();
  const host = attached(loggers);
  const native = new NativeTree(host, "INFO");
  const middle = native.make("a", native.root);
  const below = native.make("a.b", middle);
  host.gone(middle);
  loggers.setLevel("a", "DEBUG");
  expect(below.level).toBe("DEBUG");
  loggers.setLevel("a", undefined);
  loggers.setLevel("ROOT", "WARN");
  expect(below.level).toBe("WARN");
});

test("a detached library is left as it is", () => {
  const loggers = new Loggers();
  let native: NativeTree | undefined;
  const detach = loggers.attach({
    kind: "test",
    attach: (host) => {
      native = new NativeTree(host, "INFO");
      return () => {};
    },
  });
  loggers.setLevel("ROOT", "DEBUG");
  detach();
  loggers.setLevel("ROOT", "WARN");
  expect(native!.root.level).toBe("DEBUG");
  expect(loggers.get("ROOT")).toMatchObject({ effectiveLevel: "WARN", kind: "" });
});

test("a library that does not announce changes is read at a listing, but not at every one", () => {
  const loggers = new Loggers();
  const handle = nativeHandle();
  let asked = 0;
  let host: LoggerHost | undefined;
  const detach = loggers.attach({
    kind: "test",
    attach: (given) => {
      host = given;
      given.discovered("a", handle);
      return () => {};
    },
    refresh: () => {
      asked++;
      host!.changedOutside(handle, "TRACE");
    },
  });
  expect(loggers.get("a")).toMatchObject({ configuredLevel: "TRACE" });
  loggers.list();
  loggers.get("a");
  expect(asked).toBe(1);
  detach();
});

test("an adapter is attached to one host at a time", () => {
  const adapter = { kind: "test", attach: () => () => {} };
  const detach = new Loggers().attach(adapter);
  expect(() => new Loggers().attach(adapter)).toThrow(/already attached/);
  detach();
  new Loggers().attach(adapter)();
});
