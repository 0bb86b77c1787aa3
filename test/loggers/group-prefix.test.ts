import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { LoggerHost } from "../../src/loggers/adapter.ts";
import type { Level } from "../../src/loggers/level.ts";
import { Loggers } from "../../src/loggers/loggers.ts";
import type { Logger } from "../../src/loggers/view.ts";
import { nativeHandle } from "../support/native-handle.ts";
import { Sequence, step } from "../support/state-sequence.ts";

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance", "Date"] }));
afterEach(() => void vi.useRealTimers());

function application(groups: Readonly<Record<string, readonly string[]>>) {
  const loggers = new Loggers({ groups });
  const applied = new Map<string, Level>();
  let host: LoggerHost;
  loggers.attach({
    kind: "test",
    attach: (given) => {
      host = given;
      return () => {};
    },
  });
  const born = (name: string, level?: Level) => {
    const handle = nativeHandle(level, (reached) => {
      applied.set(name, reached);
      return reached;
    });
    host.discovered(name, handle, level);
  };
  const shown = (name: string): string => {
    const { configuredLevel, effectiveLevel } = loggers.get(name) as Logger;
    return `${configuredLevel ?? "-"}/${effectiveLevel}`;
  };
  return { loggers, born, shown, applied };
}

describe("a group that names a prefix", () => {
  const groups = { shop: ["orders.*"] };

  test("sets what is directly below, which deeper loggers inherit, and not the name itself or its neighbours", () => {
    const { loggers, born, shown, applied } = application(groups);
    for (const name of ["orders", "orders.a", "orders.a.b", "orders.c.d", "ordersx", "stock"]) born(name);
    loggers.setLevel("shop", "DEBUG");
    expect(Object.fromEntries(applied)).toEqual({
      "orders.a": "DEBUG",
      "orders.a.b": "DEBUG",
      "orders.c.d": "DEBUG",
    });
    expect(shown("orders.a")).toBe("DEBUG/DEBUG");
    expect(shown("orders.a.b")).toBe("-/DEBUG");
    expect(shown("orders.c")).toBe("DEBUG/DEBUG");
    loggers.setLevel("shop", undefined);
    expect([...new Set(applied.values())]).toEqual(["INFO"]);
  });

  test("reaches loggers that appear later, until it is cleared", () => {
    const { loggers, born, shown, applied } = application(groups);
    loggers.setLevel("shop", "DEBUG", { actor: "ann", reason: "why" });
    expect(loggers.get("orders")).toBeUndefined();
    born("orders.a.b");
    expect(applied.get("orders.a.b")).toBe("DEBUG");
    expect(loggers.get("orders.a")).toMatchObject({ configuredLevel: "DEBUG", override: { actor: "ann" } });
    loggers.setLevel("shop", undefined);
    born("orders.c");
    expect([shown("orders.a"), shown("orders.c")]).toEqual(["-/INFO", "-/INFO"]);
  });

  test("wins over what the application gives a logger that appears later, and gives that back", () => {
    const { loggers, born, shown } = application(groups);
    loggers.setLevel("shop", "DEBUG");
    born("orders.a", "ERROR");
    expect(loggers.get("orders.a")).toMatchObject({ configuredLevel: "DEBUG", baselineLevel: "ERROR" });
    loggers.restoreLevel("shop");
    expect(shown("orders.a")).toBe("ERROR/ERROR");
    born("orders.b", "WARN");
    expect(shown("orders.b")).toBe("WARN/WARN");
  });

  test("for a time, ends for all at the same moment, whenever they appeared", () => {
    const { loggers, born, shown } = application(groups);
    born("orders.a");
    loggers.setLevel("shop", "WARN");
    loggers.setLevel("shop", "DEBUG", { ttlMs: 1_000 });
    vi.advanceTimersByTime(600);
    born("orders.b");
    vi.advanceTimersByTime(399);
    expect([shown("orders.a"), shown("orders.b")]).toEqual(["DEBUG/DEBUG", "DEBUG/DEBUG"]);
    vi.advanceTimersByTime(1);
    expect([shown("orders.a"), shown("orders.b")]).toEqual(["WARN/WARN", "WARN/WARN"]);
    born("orders.c");
    expect(shown("orders.c")).toBe("WARN/WARN");
  });

  test("held, releases loggers that appeared in between", () => {
    const { loggers, born, shown } = application(groups);
    const { lease } = loggers.holdLevel("shop", "TRACE");
    born("orders.a");
    expect(shown("orders.a")).toBe("TRACE/TRACE");
    lease.release();
    born("orders.b");
    expect([shown("orders.a"), shown("orders.b")]).toEqual(["-/INFO", "-/INFO"]);
  });

  test("does not change a logger that was changed by itself since", () => {
    const { loggers, born, shown } = application(groups);
    loggers.setLevel("shop", "DEBUG", { ttlMs: 1_000 });
    born("orders.a");
    loggers.setLevel("orders.a", "ERROR");
    loggers.setLevel("orders.b", undefined);
    expect([shown("orders.a"), shown("orders.b")]).toEqual(["ERROR/ERROR", "-/INFO"]);
    vi.advanceTimersByTime(1_000);
    expect(shown("orders.a")).toBe("ERROR/ERROR");
    expect(loggers.get("orders.b")).toBeUndefined();
  });

  test("is restored with everything else", () => {
    const { loggers, born, shown } = application(groups);
    loggers.setLevel("shop", "DEBUG");
    loggers.restoreAllLevels();
    born("orders.a");
    expect(shown("orders.a")).toBe("-/INFO");
    expect(loggers.get("shop")).toMatchObject({ configuredLevel: undefined });
  });

  test("is in the history once for each logger that it changed, but not for loggers that started with its level", () => {
    const { loggers, born } = application({ shop: ["orders.*", "orders.a"] });
    born("orders.a");
    loggers.setLevel("shop", "DEBUG");
    born("orders.b");
    expect(loggers.history({ limit: 10 }).map(({ name }) => name)).toEqual(["shop", "orders.a"]);
  });

  test.each<[what: string, loggers: readonly [string, Level?][], mixed: boolean]>([
    ["nothing below", [["orders", "ERROR"]], false],
    ["one level", [["orders", "ERROR"], ["orders.a"], ["orders.b"]], false],
    ["two levels", [["orders.a"], ["orders.b", "WARN"]], true],
    ["another level deeper below", [["orders.a.b.c", "WARN"]], true],
  ])("is mixed where loggers below differ: %s", (_, names, mixed) => {
    const { loggers, born } = application(groups);
    for (const [name, level] of names) born(name, level);
    expect(loggers.get("shop")).toMatchObject({ mixed });
  });

  test.each<[member: string, shown: string, below: string, beside: string]>([
    ["orders.*", "orders.*", "orders.a", "order.a"],
    ["orders:*", "orders.*", "orders:a", "orders"],
    ["lib/http/*", "lib.http.*", "lib.http.x", "lib.x.http"],
    ["root.*", "ROOT.*", "a", "ROOT"],
    ["a.*.b", "a.*.b", "a.*.b", "a.x.b"],
    ["a*", "a*", "a*", "ab"],
  ])("may be written %s, is shown as %s and reaches %s", (member, name, below, beside) => {
    const { loggers, born } = application({ g: [member] });
    for (const each of [below, beside]) born(each);
    loggers.setLevel("g", "TRACE");
    expect(loggers.get("g")).toMatchObject({ members: [name] });
    expect(loggers.get(below)).toMatchObject({ configuredLevel: "TRACE" });
    expect((loggers.get(beside) as Logger).configuredLevel).not.toBe("TRACE");
  });

  test("must name one", () => {
    expect(() => application({ g: [".*"] })).toThrow(/group "g".*empty/);
  });
});

test("after any sequence of changes, a new logger has what it would have had from the start", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
      const sequence = new Sequence();
      for (const at of steps) {
        sequence.run(at);
        sequence.check();
      }
      sequence.checkAll();
      sequence.loggers.close();
    }),
    { numRuns: 2_000 },
  );
});
