import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { Level } from "../../src/loggers/level.ts";
import { Loggers } from "../../src/loggers/loggers.ts";
import type { LoggersOptions } from "../../src/loggers/options.ts";
import type { Logger } from "../../src/loggers/view.ts";
import { nativeHandle } from "../support/native-handle.ts";

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance", "Date"] }));
afterEach(() => void vi.useRealTimers());

const MINUTE = 60_000;
const configured = (loggers: Loggers, name: string): Level | undefined => loggers.get(name)?.configuredLevel;

describe("a temporary level", () => {
  test("goes back to what was there before, at its time and not earlier", () => {
    const loggers = new Loggers();
    loggers.setLevel("a", "WARN");
    loggers.setLevel("a", "DEBUG", { ttlMs: MINUTE });
    vi.advanceTimersByTime(MINUTE - 1);
    expect(configured(loggers, "a")).toBe("DEBUG");
    vi.advanceTimersByTime(1);
    expect(configured(loggers, "a")).toBe("WARN");
  });

  test("repeated, goes back to what was there before the first", () => {
    const loggers = new Loggers();
    loggers.setLevel("a", "DEBUG", { ttlMs: MINUTE });
    vi.advanceTimersByTime(MINUTE / 2);
    loggers.setLevel("a", "TRACE", { ttlMs: MINUTE });
    vi.advanceTimersByTime(MINUTE / 2);
    expect(configured(loggers, "a")).toBe("TRACE");
    vi.advanceTimersByTime(MINUTE / 2);
    expect(configured(loggers, "a")).toBeUndefined();
  });

  test.each([
    ["set for ever", (loggers: Loggers) => loggers.setLevel("a", "ERROR"), "ERROR"],
    ["cleared", (loggers: Loggers) => loggers.setLevel("a", undefined), undefined],
    ["restored", (loggers: Loggers) => loggers.restoreLevel("a"), undefined],
  ] as const)("is over when it is %s in between", (_, change, level) => {
    const loggers = new Loggers();
    loggers.setLevel("a", "WARN");
    loggers.setLevel("a", "DEBUG", { ttlMs: MINUTE });
    change(loggers);
    vi.advanceTimersByTime(2 * MINUTE);
    expect(configured(loggers, "a")).toBe(level);
  });

  test("of a group ends for each member that was not changed in between, and for the group", () => {
    const loggers = new Loggers({ groups: { g: ["a", "b"] } });
    loggers.setLevel("g", "WARN");
    loggers.setLevel("g", "DEBUG", { ttlMs: MINUTE });
    loggers.setLevel("b", "ERROR");
    expect(loggers.get("g")).toMatchObject({ configuredLevel: "DEBUG", mixed: true });
    vi.advanceTimersByTime(MINUTE);
    expect(["g", "a", "b"].map((name) => configured(loggers, name))).toEqual(["WARN", "WARN", "ERROR"]);
  });

  test("of a logger that is not there yet goes back to what the application gives it", () => {
    const loggers = new Loggers();
    loggers.setLevel("a", "DEBUG", { ttlMs: MINUTE });
    loggers.attach({
      kind: "test",
      attach: (host) => {
        host.discovered("a", nativeHandle("ERROR"), "ERROR");
        return () => {};
      },
    });
    expect(loggers.get("a")).toMatchObject({ configuredLevel: "DEBUG", baselineLevel: "ERROR" });
    vi.advanceTimersByTime(MINUTE);
    expect(configured(loggers, "a")).toBe("ERROR");
  });

  test("shows who set it, why and until when, and so does the level that comes back", () => {
    const loggers = new Loggers({ instance: "i" });
    const now = Date.now();
    loggers.setLevel("a", "WARN", { actor: "ann", reason: "noise" });
    loggers.setLevel("a", "DEBUG", { actor: "ben", reason: "ticket 812", ttlMs: MINUTE });
    expect((loggers.get("a") as Logger).override).toEqual({
      setTime: now,
      expireTime: now + MINUTE,
      actor: "ben",
      reason: "ticket 812",
      instance: "i",
    });
    vi.advanceTimersByTime(MINUTE);
    expect((loggers.get("a") as Logger).override).toMatchObject({ actor: "ann", expireTime: undefined });
  });

  test("neither ends early nor stays when the clock is set", () => {
    const loggers = new Loggers();
    loggers.setLevel("a", "DEBUG", { ttlMs: MINUTE });
    vi.setSystemTime(Date.now() + 3_600_000);
    vi.advanceTimersByTime(MINUTE - 1);
    expect(configured(loggers, "a")).toBe("DEBUG");
    vi.setSystemTime(Date.now() - 7_200_000);
    vi.advanceTimersByTime(1);
    expect(configured(loggers, "a")).toBeUndefined();
  });

  test("may last longer than one timer can wait", () => {
    const loggers = new Loggers();
    const days = 40 * 24 * 60 * MINUTE;
    loggers.setLevel("a", "WARN", { ttlMs: days });
    vi.advanceTimersByTime(days - 1);
    expect(configured(loggers, "a")).toBe("WARN");
    vi.advanceTimersByTime(1);
    expect(configured(loggers, "a")).toBeUndefined();
  });

  test("ends with the loggers", async () => {
    const loggers = new Loggers({ groups: { g: ["b"] } });
    loggers.setLevel("a", "WARN");
    loggers.setLevel("a", "DEBUG", { ttlMs: MINUTE });
    loggers.setLevel("g", "TRACE", { ttlMs: MINUTE });
    await loggers.close();
    expect(["a", "b", "g"].map((name) => configured(loggers, name))).toEqual(["WARN", undefined, undefined]);
    expect(loggers.history({ limit: 9 }).map(({ kind }) => kind)).not.toContain("EXPIRED");
    expect(vi.getTimerCount()).toBe(0);
  });

  test("keeps no process alive", () => {
    const loggers = new Loggers();
    loggers.setLevel("a", "DEBUG", { ttlMs: MINUTE });
    expect(vi.getTimerCount()).toBe(1);
    loggers.setLevel("a", undefined);
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe("how long a level may last", () => {
  const cases: readonly (readonly [
    LoggersOptions,
    Level,
    number | "default" | undefined,
    number | undefined | "refused",
  ])[] = [
    [{}, "DEBUG", "default", 10 * MINUTE],
    [{}, "TRACE", "default", 10 * MINUTE],
    [{}, "INFO", "default", undefined],
    [{}, "DEBUG", undefined, undefined],
    [{}, "INFO", MINUTE, MINUTE],
    [{}, "DEBUG", 0, "refused"],
    [{}, "INFO", 0, undefined],
    [{ allowForever: true }, "DEBUG", 0, undefined],
    [{ defaultTtlMs: MINUTE }, "DEBUG", "default", MINUTE],
    [{ maxTtlMs: MINUTE }, "DEBUG", "default", MINUTE],
    [{ maxTtlMs: MINUTE }, "DEBUG", MINUTE + 1, "refused"],
    [{ maxTtlMs: MINUTE }, "WARN", MINUTE + 1, MINUTE + 1],
    [{}, "DEBUG", 24 * 60 * MINUTE + 1, "refused"],
    [{}, "INFO", -1, "refused"],
    [{}, "INFO", Number.NaN, "refused"],
    [{}, "INFO", 366 * 24 * 60 * MINUTE, "refused"],
  ];
  test.each(cases)("%j: %s for %s is %s", (options, level, ttl, lasts) => {
    const loggers = new Loggers(options);
    const set = () => loggers.setLevel("a", level, { ttlMs: ttl });
    if (lasts === "refused") {
      expect(set).toThrow(expect.objectContaining({ code: "INVALID_ARGUMENT", reason: "INVALID_TTL" }));
      expect(loggers.get("a")).toBeUndefined();
    } else {
      const { override } = set().result as Logger;
      expect(override!.expireTime === undefined ? undefined : override!.expireTime - override!.setTime).toBe(lasts);
    }
  });
});
