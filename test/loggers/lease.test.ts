import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { LevelChange } from "../../src/loggers/history.ts";
import type { Lease } from "../../src/loggers/lease.ts";
import type { Level } from "../../src/loggers/level.ts";
import { Loggers } from "../../src/loggers/loggers.ts";
import type { LoggersOptions } from "../../src/loggers/options.ts";
import type { Logger } from "../../src/loggers/view.ts";
import { nativeHandle } from "../support/native-handle.ts";
import { NativeTree } from "../support/native-tree.ts";

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance", "Date"] }));
afterEach(() => void vi.useRealTimers());

const MINUTE = 60_000;
const configured = (loggers: Loggers, name: string): Level | undefined => loggers.get(name)?.configuredLevel;

/**
 * Runs steps on the logger "a", which is WARN before: `hold <lease> <level> [minutes]`, `release <lease>`, `set <level>`,
 * `setFor <level> <minutes>`, `clear`, `restore`, `restoreAll`, `outside <level>`, `pass <minutes>`. Answers the level after
 * each, and how the leases ended.
 */
function run(steps: string) {
  const loggers = new Loggers();
  let native: NativeTree | undefined;
  loggers.attach({
    kind: "test",
    attach(host) {
      native = new NativeTree(host, "INFO");
      return () => {};
    },
  });
  const logger = native!.make("a", native!.root);
  loggers.setLevel("a", "WARN");
  const leases: Record<string, Lease> = {};
  const verbs: Record<string, (...words: string[]) => unknown> = {
    hold(name, level, minutes) {
      const ttl = minutes === undefined ? undefined : Number(minutes) * MINUTE;
      leases[name!] = loggers.holdLevel("a", level as Level, { ttlMs: ttl }).lease;
    },
    release: (name) => leases[name!]!.release(),
    set: (level) => loggers.setLevel("a", level as Level),
    setFor: (level, minutes) => loggers.setLevel("a", level as Level, { ttlMs: Number(minutes) * MINUTE }),
    clear: () => loggers.setLevel("a", undefined),
    restore: () => loggers.restoreLevel("a"),
    restoreAll: () => loggers.restoreAllLevels(),
    outside: (level) => logger.setByApplication(level as Level),
    pass: (minutes) => vi.advanceTimersByTime(Number(minutes) * MINUTE),
  };
  const levels = steps.split(", ").map((step) => {
    const [verb, ...words] = step.split(" ");
    verbs[verb!]!(...words);
    expect(logger.level).toBe(configured(loggers, "a") ?? "INFO");
    return configured(loggers, "a") ?? "-";
  });
  const ends = Object.entries(leases).map(([name, { end }]) => `${name} ${end}`);
  return { levels: levels.join(" "), ends: ends.join(", "), loggers };
}

describe("a held level", () => {
  test.each([
    ["goes back when it is released", "hold x DEBUG, release x", "DEBUG WARN", "x RELEASED"],
    [
      "released twice goes back once",
      "hold x DEBUG, release x, set INFO, release x",
      "DEBUG WARN INFO INFO",
      "x RELEASED",
    ],
    ["lasts a day at most if it is DEBUG", "hold x DEBUG, pass 1439, pass 1", "DEBUG DEBUG WARN", "x EXPIRED"],
    ["lasts as long as it is held if it is not", "hold x ERROR, pass 600000", "ERROR ERROR", "x undefined"],
    ["ends at its time", "hold x ERROR 5, pass 4, pass 1, release x", "ERROR ERROR WARN WARN", "x EXPIRED"],
    [
      "under another held one comes back when that ends",
      "hold x DEBUG, hold y TRACE, release y, release x",
      "DEBUG TRACE DEBUG WARN",
      "x RELEASED, y RELEASED",
    ],
    [
      "under another held one ends unseen",
      "hold x DEBUG, hold y TRACE, release x, release y",
      "DEBUG TRACE TRACE WARN",
      "x RELEASED, y RELEASED",
    ],
    [
      "between two others ends unseen",
      "hold x DEBUG, hold y TRACE, hold z OFF, release y, release z, release x",
      "DEBUG TRACE OFF OFF DEBUG WARN",
      "x RELEASED, y RELEASED, z RELEASED",
    ],
    [
      "under another held one ends at its time",
      "hold x DEBUG 5, hold y TRACE, pass 5, release y",
      "DEBUG TRACE TRACE WARN",
      "x EXPIRED, y RELEASED",
    ],
    [
      "under one for a time comes back when that is over",
      "hold x DEBUG, setFor TRACE 5, pass 5, release x",
      "DEBUG TRACE DEBUG WARN",
      "x RELEASED",
    ],
    [
      "under one for a time ends unseen",
      "hold x DEBUG, setFor TRACE 5, release x, pass 5",
      "DEBUG TRACE TRACE WARN",
      "x RELEASED",
    ],
    [
      "over one for a time hides its end",
      "setFor TRACE 5, hold x DEBUG, pass 5, release x",
      "TRACE DEBUG DEBUG WARN",
      "x RELEASED",
    ],
    [
      "over one for a time gives it back",
      "setFor TRACE 5, hold x DEBUG, pass 4, release x, pass 1",
      "TRACE DEBUG DEBUG TRACE WARN",
      "x RELEASED",
    ],
    [
      "comes back from below another, and gives back what is below it",
      "setFor TRACE 5, hold x DEBUG, setFor OFF 2, pass 2, release x, pass 3",
      "TRACE DEBUG OFF DEBUG TRACE WARN",
      "x RELEASED",
    ],
    [
      "does not make two of one that is set for a time again",
      "setFor TRACE 5, hold x DEBUG, setFor TRACE 2, pass 2, release x",
      "TRACE DEBUG TRACE DEBUG WARN",
      "x RELEASED",
    ],
    [
      "is overruled by a permanent one",
      "hold x DEBUG 5, set ERROR, pass 5, release x",
      "DEBUG ERROR ERROR ERROR",
      "x OVERRULED",
    ],
    [
      "is overruled with all the others",
      "hold x DEBUG, hold y TRACE, setFor OFF 5, set ERROR, pass 5",
      "DEBUG TRACE OFF ERROR ERROR",
      "x OVERRULED, y OVERRULED",
    ],
    ["is overruled when cleared", "hold x DEBUG, clear, release x", "DEBUG - -", "x OVERRULED"],
    ["is overruled when restored", "hold x DEBUG, restore, release x", "DEBUG - -", "x OVERRULED"],
    ["is overruled when all is restored", "hold x DEBUG, restoreAll, release x", "DEBUG - -", "x OVERRULED"],
    ["is overruled by the application", "hold x DEBUG, outside ERROR, release x", "DEBUG ERROR ERROR", "x OVERRULED"],
    [
      "is overruled by the application that wants the very same",
      "hold x DEBUG, outside DEBUG, release x",
      "DEBUG DEBUG DEBUG",
      "x OVERRULED",
    ],
  ])("%s", (_, steps, levels, ends) => {
    expect(run(steps)).toMatchObject({ levels, ends });
  });

  test("of a group is held on each member, until the last of them is overruled", () => {
    const loggers = new Loggers({ groups: { g: ["a", "b", "a"] } });
    loggers.setLevel("g", "WARN");
    const { lease } = loggers.holdLevel("g", "DEBUG");
    const levels = () => ["g", "a", "b"].map((name) => configured(loggers, name));
    expect(levels()).toEqual(["DEBUG", "DEBUG", "DEBUG"]);
    loggers.setLevel("b", "ERROR");
    expect(lease.end).toBeUndefined();
    lease.release();
    expect(levels()).toEqual(["WARN", "WARN", "ERROR"]);

    const other = loggers.holdLevel("g", "TRACE").lease;
    loggers.setLevel("g", "OFF");
    expect(other.end).toBe("OVERRULED");
    expect(levels()).toEqual(["OFF", "OFF", "OFF"]);
  });

  test("of a logger that is not there yet goes back to what the application gives it", () => {
    const loggers = new Loggers();
    const { lease } = loggers.holdLevel("a", "DEBUG");
    loggers.attach({
      kind: "test",
      attach: (host) => {
        host.discovered("a", nativeHandle("ERROR"), "ERROR");
        return () => {};
      },
    });
    expect(configured(loggers, "a")).toBe("DEBUG");
    lease.release();
    expect(configured(loggers, "a")).toBe("ERROR");
  });

  test("shows who holds it and that it is held; the history has its start and its end", () => {
    const loggers = new Loggers({ instance: "i" });
    const changes: LevelChange[] = [];
    loggers.onChange((change) => changes.push(change));
    loggers.setLevel("a", "WARN", { actor: "ann", reason: "noise" });
    const { lease, result, previousLevel } = loggers.holdLevel("a", "DEBUG", {
      actor: "ben",
      reason: "ticket 812",
      ttlMs: MINUTE,
    });
    expect(previousLevel).toBe("WARN");
    const override = { actor: "ben", reason: "ticket 812", instance: "i", held: true, expireTime: Date.now() + MINUTE };
    expect((result as Logger).override).toMatchObject(override);
    lease.release();
    expect((loggers.get("a") as Logger).override?.held).toBeUndefined();
    expect(changes).toMatchObject([
      { kind: "SET", level: "WARN" },
      { kind: "SET", previousLevel: "WARN", level: "DEBUG", override },
      { kind: "EXPIRED", previousLevel: "DEBUG", level: "WARN", override: { actor: "ann" } },
    ]);
  });

  test("that ends unseen changes nothing", () => {
    const { loggers } = run("hold x DEBUG");
    const below = loggers.holdLevel("a", "TRACE").lease;
    loggers.setLevel("a", "OFF", { ttlMs: MINUTE });
    const { revision } = loggers;
    below.release();
    expect(loggers.revision).toBe(revision);
  });

  test("can be refused, and then nothing has changed", () => {
    const loggers = new Loggers({ maxTtlMs: MINUTE });
    const { revision } = loggers;
    for (const [level, request, reason] of [
      ["DEBUG", { ttlMs: MINUTE + 1 }, "INVALID_TTL"],
      ["DEBUG", { ttlMs: 0 }, "INVALID_TTL"],
      ["WARN", { ttlMs: -1 }, "INVALID_TTL"],
      ["WARN", { ifRevision: revision + 1 }, "REVISION_CHANGED"],
      ["WARN", { reason: "x".repeat(1_001) }, "INVALID_REASON"],
    ] as const) {
      expect(() => loggers.holdLevel("a", level, request)).toThrow(expect.objectContaining({ reason }));
    }
    expect(loggers.revision).toBe(revision);
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe("a lease", () => {
  const lasting: readonly (readonly [LoggersOptions, Level, number | undefined, number | undefined])[] = [
    [{}, "DEBUG", undefined, 24 * 60 * MINUTE],
    [{ maxTtlMs: MINUTE }, "TRACE", undefined, MINUTE],
    [{}, "DEBUG", MINUTE, MINUTE],
    [{ allowForever: true }, "DEBUG", 0, undefined],
    [{}, "INFO", undefined, undefined],
    [{}, "INFO", 0, undefined],
    [{}, "INFO", MINUTE, MINUTE],
  ];
  test.each(lasting)("with %j of %s for %s says that %s ms are left", (options, level, ttl, left) => {
    const { lease } = new Loggers(options).holdLevel("a", level, { ttlMs: ttl });
    expect(lease.timeLeft).toBe(left);
    vi.advanceTimersByTime(MINUTE / 2);
    expect(lease.timeLeft).toBe(left === undefined ? undefined : left - MINUTE / 2);
  });

  test("calls listeners once when it is over, but not removed ones", () => {
    const loggers = new Loggers();
    const { lease } = loggers.holdLevel("a", "DEBUG", { ttlMs: MINUTE });
    const heard = vi.fn();
    const gone = vi.fn();
    lease.onEnd(heard);
    lease.onEnd(gone)();
    vi.advanceTimersByTime(MINUTE);
    lease.release();
    expect([lease.end, lease.timeLeft, heard.mock.calls.length, gone.mock.calls.length]).toEqual(["EXPIRED", 0, 1, 0]);
  });

  test("is covered while a later temporary level is in force", () => {
    const loggers = new Loggers({ groups: { g: ["a", "b"] } });
    const { lease } = loggers.holdLevel("g", "DEBUG");
    expect(lease.covered).toBe(false);
    loggers.setLevel("b", "TRACE", { ttlMs: MINUTE });
    expect(lease.covered).toBe(true);
    vi.advanceTimersByTime(MINUTE);
    expect(lease.covered).toBe(false);
  });

  test.each([
    ["a library leaves", (_: Loggers, detach: () => void) => detach()],
    ["all is closed", (loggers: Loggers) => loggers.close()],
  ])("ends when %s, and its level goes back before", (_, close) => {
    const loggers = new Loggers();
    const applied: Level[] = [];
    const handle = nativeHandle("INFO", (level) => {
      applied.push(level);
      return level;
    });
    const detach = loggers.attach({
      kind: "test",
      attach(host) {
        host.discovered("a", handle);
        return () => {};
      },
    });
    const { lease } = loggers.holdLevel("a", "DEBUG");
    close(loggers, detach);
    expect(lease.end).toBe("CLOSED");
    expect(applied.slice(-2)).toEqual(["DEBUG", "INFO"]);
    expect(vi.getTimerCount()).toBe(0);
  });
});

test("the number of held levels is limited", () => {
  const members = Array.from({ length: 10_000 }, (_, index) => `m${index}`);
  const loggers = new Loggers({ groups: { g: members } });
  const leases: Lease[] = [];
  const hold = () => leases.push(loggers.holdLevel("g", "DEBUG").lease);
  expect(() => {
    for (let holder = 0; holder < 100; holder++) hold();
  }).toThrow(expect.objectContaining({ code: "RESOURCE_EXHAUSTED", reason: "TOO_MANY_HELD_LEVELS" }));
  expect(leases).toHaveLength(10);
  leases[0]!.release();
  expect(hold).not.toThrow();
});
