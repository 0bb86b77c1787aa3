import { copyFileSync } from "node:fs";
import fc from "fast-check";
import { pino } from "pino";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { pinoLoggers } from "../../src/adapters/loggers/pino/index.ts";
import type { LoggerHost } from "../../src/loggers/adapter.ts";
import type { Level } from "../../src/loggers/level.ts";
import { Loggers } from "../../src/loggers/loggers.ts";
import type { LoggersOptions } from "../../src/loggers/options.ts";
import type { Logger } from "../../src/loggers/view.ts";
import { nativeHandle } from "../support/native-handle.ts";
import { type StateFolder, stateFolder } from "../support/state-folder.ts";
import { Sequence, step } from "../support/state-sequence.ts";

const MINUTE = 60_000;
let at: StateFolder;
let started: Loggers[];

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance", "Date"] });
  at = stateFolder();
  started = [];
});
afterEach(async () => {
  vi.useRealTimers();
  for (const loggers of started) {
    await loggers.close();
    await loggers.flushed();
  }
  at.remove();
});

function start(options: LoggersOptions = {}): Loggers {
  const loggers = new Loggers({ state: at.path, ...options }, (error) => {
    throw error;
  });
  started.push(loggers);
  return loggers;
}

/** Ends the process as a kill does once everything is on the disk, and starts another after a while. */
async function restart(loggers: Loggers, options: LoggersOptions = {}, away = 0): Promise<Loggers> {
  await loggers.flushed();
  await loggers.close();
  await loggers.flushed();
  vi.setSystemTime(Date.now() + away);
  return start(options);
}

function born(loggers: Loggers, name: string, level?: Level): void {
  const attach = (host: LoggerHost) => {
    host.discovered(name, nativeHandle(level), level);
    return () => {};
  };
  loggers.attach({ kind: "test", attach });
}

const configured = (loggers: Loggers, name: string): Level | undefined => loggers.get(name)?.configuredLevel;

describe("after a restart", () => {
  test("a level is there as it was, with who set it, when, why and through which process", async () => {
    const before = start({ instance: "first" });
    before.setLevel("orders.payment", "DEBUG", { actor: "ann", reason: 'ticket "812"\u2028 ü' });
    before.setLevel("ROOT", "WARN");
    const { override } = before.get("orders.payment") as Logger;
    const after = await restart(before, { instance: "second" }, MINUTE);
    expect(after.get("orders.payment")).toMatchObject({ configuredLevel: "DEBUG", override });
    expect(override).toMatchObject({ actor: "ann", instance: "first" });
    expect(configured(after, "ROOT")).toBe("WARN");
    expect(after.list().loggers.map(({ name }) => name)).toEqual(["ROOT", "orders", "orders.payment"]);
    expect(after.history({ limit: 10 })).toEqual([]);
  });

  test("a temporary level lasts for the rest of its time, and the permanent level comes back", async () => {
    const before = start();
    before.setLevel("a", "WARN", { actor: "ann" });
    before.setLevel("a", "DEBUG", { actor: "ben", ttlMs: 10 * MINUTE });
    vi.advanceTimersByTime(2 * MINUTE);
    const after = await restart(before, {}, 3 * MINUTE);
    vi.advanceTimersByTime(5 * MINUTE - 1);
    expect(after.get("a")).toMatchObject({ configuredLevel: "DEBUG", override: { actor: "ben" } });
    vi.advanceTimersByTime(1);
    expect(after.get("a")).toMatchObject({
      configuredLevel: "WARN",
      override: { actor: "ann", expireTime: undefined },
    });
  });

  test.each<[what: string, away: number, level: Level | undefined]>([
    ["that ended in between is gone", 10 * MINUTE, undefined],
    ["is gone after a long time", 1_000 * MINUTE, undefined],
    ["that is about to end is there", 10 * MINUTE - 1, "DEBUG"],
  ])("a temporary level %s", async (_, away, level) => {
    const before = start();
    before.setLevel("a", "DEBUG", { ttlMs: 10 * MINUTE });
    const after = await restart(before, {}, away);
    expect(configured(after, "a")).toBe(level);
    expect(after.get("a") === undefined).toBe(level === undefined);
  });

  test("with the clock set back, a temporary level lasts no longer than it was set for", async () => {
    const before = start();
    before.setLevel("a", "DEBUG", { ttlMs: 10 * MINUTE });
    const after = await restart(before, {}, -600 * MINUTE);
    vi.advanceTimersByTime(10 * MINUTE);
    expect(configured(after, "a")).toBeUndefined();
  });

  test("a temporary level that has ended leaves the permanent level", async () => {
    const before = start();
    before.setLevel("a", "WARN");
    before.setLevel("a", "DEBUG", { ttlMs: MINUTE });
    before.setLevel("ROOT", "TRACE", { ttlMs: MINUTE });
    const after = await restart(before, {}, MINUTE);
    expect([configured(after, "a"), configured(after, "ROOT")]).toEqual(["WARN", "INFO"]);
  });

  test("a temporary level of ROOT goes back to what the application starts with now", async () => {
    const before = start();
    before.setLevel("ROOT", "TRACE", { ttlMs: MINUTE });
    const after = await restart(before);
    born(after, "ROOT", "ERROR");
    expect(configured(after, "ROOT")).toBe("TRACE");
    vi.advanceTimersByTime(MINUTE);
    expect(configured(after, "ROOT")).toBe("ERROR");
  });

  test("a name that no library has yet waits for its logger, whose own level is the baseline", async () => {
    const before = start();
    before.setLevel("later", "DEBUG");
    const after = await restart(before);
    born(after, "later", "ERROR");
    expect(after.get("later")).toMatchObject({ configuredLevel: "DEBUG", baselineLevel: "ERROR", kind: "test" });
    after.restoreLevel("later");
    const third = await restart(after);
    born(third, "later", "ERROR");
    expect(third.get("later")).toMatchObject({ configuredLevel: "ERROR", override: undefined });
  });

  test("the first line of a logger is written at its level", async () => {
    const before = start();
    before.setLevel("orders", "DEBUG");
    const after = await restart(before);
    const lines: string[] = [];
    const root = pino({ level: "info" }, { write: (line: string) => void lines.push(JSON.parse(line).msg) });
    after.attach(pinoLoggers(root));
    root.child({ name: "orders" }).debug("first");
    root.debug("silent");
    expect(lines).toEqual(["first"]);
  });

  test("a group shows what was set through it, and its members have it", async () => {
    const groups = { web: ["http", "router"], empty: [] };
    const before = start({ groups });
    before.setLevel("web", "WARN", { actor: "ann" });
    before.setLevel("web", "DEBUG", { ttlMs: MINUTE });
    before.setLevel("empty", "ERROR");
    const after = await restart(before, { groups });
    const levels = () => ["web", "http", "router", "empty"].map((name) => configured(after, name));
    expect(levels()).toEqual(["DEBUG", "DEBUG", "DEBUG", "ERROR"]);
    vi.advanceTimersByTime(MINUTE);
    expect(levels()).toEqual(["WARN", "WARN", "WARN", "ERROR"]);
    expect(after.get("web")).toMatchObject({ override: { actor: "ann" } });
  });

  test("a group that is no longer configured leaves its members as they were", async () => {
    const before = start({ groups: { web: ["http", "orders.*"] } });
    born(before, "orders.a");
    before.setLevel("web", "DEBUG");
    const after = await restart(before);
    expect([configured(after, "web"), configured(after, "http")]).toEqual([undefined, "DEBUG"]);
  });

  test("loggers below a prefix have its level when they appear, and those that were changed by themselves have not", async () => {
    const groups = { shop: ["orders.*"] };
    const before = start({ groups });
    before.setLevel("shop", "DEBUG", { ttlMs: 10 * MINUTE });
    for (const name of ["orders.a", "orders.b", "orders.c"]) born(before, name, "ERROR");
    before.restoreLevel("orders.b");
    before.setLevel("orders.c", "TRACE");
    const after = await restart(before, { groups }, MINUTE);
    for (const name of ["orders.a", "orders.b", "orders.c"]) born(after, name, "ERROR");
    const levels = () => ["a", "b", "c"].map((name) => configured(after, `orders.${name}`));
    expect(levels()).toEqual(["DEBUG", "ERROR", "TRACE"]);
    vi.advanceTimersByTime(9 * MINUTE);
    expect(levels()).toEqual(["ERROR", "ERROR", "TRACE"]);
  });

  test.each<[what: string, change: (loggers: Loggers) => void]>([
    ["cleared", (loggers) => loggers.setLevel("a", undefined)],
    ["restored", (loggers) => loggers.restoreLevel("a")],
    ["restored with everything", (loggers) => loggers.restoreAllLevels()],
    ["set for a time that is over", () => vi.advanceTimersByTime(MINUTE)],
  ])("nothing is left of a level that was %s", async (_, change) => {
    const before = start();
    before.setLevel("a", "DEBUG", { ttlMs: MINUTE });
    change(before);
    const after = await restart(before);
    expect(after.list().loggers.map(({ name }) => name)).toEqual(["ROOT"]);
  });

  test("held levels are gone, even if the process was killed meanwhile", async () => {
    const before = start();
    before.setLevel("a", "WARN");
    before.holdLevel("a", "TRACE", { ttlMs: 10 * MINUTE });
    before.holdLevel("b", "TRACE", { ttlMs: 10 * MINUTE });
    await before.flushed();
    const after = start();
    expect([configured(after, "a"), configured(after, "b")]).toEqual(["WARN", undefined]);
  });

  test("levels that the application set itself are gone", async () => {
    const before = start();
    before.setLevel("a", "DEBUG");
    const handle = nativeHandle();
    before.attach({
      kind: "test",
      attach: (host) => {
        host.discovered("a", handle);
        host.changedOutside(handle, "WARN");
        return () => {};
      },
    });
    expect(configured(await restart(before), "a")).toBeUndefined();
  });

  test("names that were stored count as created until their loggers are there, and are all taken", async () => {
    const before = start();
    for (const name of ["a", "b", "c"]) before.setLevel(name, "DEBUG");
    const after = await restart(before, { maxCreated: 2 });
    expect(after.list().loggers).toHaveLength(4);
    expect(() => after.setLevel("d", "DEBUG")).toThrow(expect.objectContaining({ code: "RESOURCE_EXHAUSTED" }));
    for (const name of ["a", "b"]) born(after, name);
    after.setLevel("d", "DEBUG");
  });

  test("names beyond the maximum of loggers are left out, which is reported", async () => {
    const before = start();
    for (const name of ["a", "b", "c"]) before.setLevel(name, "DEBUG");
    await before.flushed();
    const errors: string[] = [];
    const after = new Loggers({ state: at.path, maxLoggers: 3 }, (error) => errors.push(String(error)));
    expect(after.list().loggers).toHaveLength(3);
    expect(errors).toEqual(["Error: 1 stored levels were left out, because there are too many loggers"]);
    expect((after.get("ROOT") as Logger).warnings).toHaveLength(1);
  });
});

test("after any sequence of changes and restarts, levels agree with a naive model", async () => {
  let files = 0;
  const restarting = fc.record({ do: fc.constant("restart" as const), killed: fc.boolean() });
  const anything = fc.oneof({ weight: 27, arbitrary: step }, { weight: 3, arbitrary: restarting });
  await fc.assert(
    fc.asyncProperty(fc.array(anything, { maxLength: 30 }), async (steps) => {
      let state = `${at.path}-${files++}`;
      const sequence = new Sequence({ state });
      for (const next of [...steps, { do: "restart", killed: true } as const]) {
        if (next.do === "restart") {
          await sequence.loggers.flushed();
          // What a process does that is not killed is not seen by the one that goes on from the copy.
          const copy = `${at.path}-${files++}`;
          const exists = at.names().includes(state.slice(at.folder.length + 1));
          if (next.killed && exists) copyFileSync(state, copy);
          await sequence.loggers.close();
          await sequence.loggers.flushed();
          if (next.killed) state = copy;
          sequence.model.restart();
          sequence.start({ state });
        } else sequence.run(next);
        sequence.check();
      }
      sequence.checkAll();
      await sequence.loggers.close();
      await sequence.loggers.flushed();
    }),
    { numRuns: 300 },
  );
});
