import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import type { LoggerHost } from "../../src/loggers/adapter.ts";
import type { LevelChange } from "../../src/loggers/history.ts";
import { Loggers } from "../../src/loggers/loggers.ts";
import type { LoggersOverview } from "../../src/loggers/view.ts";
import { LoggersWatch } from "../../src/loggers/watch.ts";
import { nativeHandle } from "../support/native-handle.ts";
import { libraryOf } from "../support/rpc-harness.ts";

const faked = [
  "setTimeout",
  "clearTimeout",
  "setInterval",
  "clearInterval",
  "setImmediate",
  "performance",
  "Date",
] as const;
beforeEach(() => void vi.useFakeTimers({ toFake: [...faked] }));
afterEach(() => void vi.useRealTimers());

/** Loggers that count who listens and what is asked of them. */
class CountingLoggers extends Loggers {
  listeners = 0;
  lists = 0;

  override onRevision(listener: () => void): () => void {
    this.listeners++;
    const off = super.onRevision(listener);
    return () => {
      this.listeners--;
      off();
    };
  }

  override onChange(listener: (change: LevelChange) => void): () => void {
    this.listeners++;
    return super.onChange(listener);
  }

  override list(): LoggersOverview {
    this.lists++;
    return super.list();
  }
}

function watched(options: ConstructorParameters<typeof Loggers>[0] = {}) {
  const loggers = new CountingLoggers(options);
  let host: LoggerHost | undefined;
  loggers.attach({
    kind: "test",
    attach(given) {
      host = given;
      return () => {};
    },
  });
  const watch = new LoggersWatch(loggers);
  const discover = (name: string) => void host!.discovered(name, nativeHandle());
  const changedSince = (revision: number) =>
    [...watch.state.loggers, ...watch.state.groups]
      .filter((dated) => dated.revision > revision)
      .map(({ subject }) => subject.name);
  return { loggers, watch, discover, changedSince };
}

describe("a watch", () => {
  test("costs nothing without watchers", () => {
    const { loggers, watch } = watched();
    loggers.setLevel("a", "DEBUG");
    vi.advanceTimersByTime(10_000);
    expect([loggers.lists, loggers.listeners, vi.getTimerCount()]).toEqual([0, 0, 0]);
    const leave = [watch.watch(() => {}), watch.watch(() => {})];
    expect([loggers.listeners, watch.size]).toEqual([1, 2]);
    loggers.setLevel("a", "INFO");
    for (const leaves of [...leave, ...leave]) leaves();
    expect([loggers.listeners, watch.size, vi.getTimerCount()]).toEqual([0, 0, 0]);
    const { lists } = loggers;
    loggers.setLevel("a", "DEBUG");
    vi.advanceTimersByTime(10_000);
    expect(loggers.lists).toBe(lists);
    watch.watch(() => {});
    expect(watch.state.revision).toBe(loggers.revision);
  });

  test("keeps the state before for as long as a watcher asks for compact changes", async () => {
    const { loggers, watch } = watched();
    const change = async () => {
      loggers.setLevel("a", "DEBUG");
      await vi.advanceTimersByTimeAsync(2_000);
      return watch.state.before?.revision;
    };
    watch.watch(() => {});
    expect(await change()).toBeUndefined();
    const { revision } = watch.state;
    const leave = watch.watch(() => {}, { compact: true });
    expect(await change()).toBe(revision);
    leave();
    expect(await change()).toBeUndefined();
  });

  test("does not take a logger whose native loggers differ for changed", () => {
    const { loggers, watch, discover, changedSince } = watched();
    discover("a");
    loggers.attach(libraryOf(["a"], "other"));
    loggers.setLevel("a", "DEBUG");
    const native = nativeHandle("WARN");
    const attach = (host: LoggerHost) => {
      host.discovered("a", native, "WARN");
      return () => {};
    };
    loggers.attach({ kind: "fixed", attach });
    native.apply("ERROR");
    watch.watch(() => {});
    const { revision } = watch.state;
    expect(loggers.get("a")).toMatchObject({ warnings: [expect.stringContaining("differ")] });
    loggers.setLevel("b", "DEBUG");
    vi.advanceTimersByTime(2_000);
    expect(changedSince(revision)).toEqual(["b"]);
  });

  test("only sets a timer at a change", () => {
    const { loggers, watch, discover } = watched();
    watch.watch(() => {});
    const { lists } = loggers;
    for (let index = 0; index < 1_000; index++) discover(`a${index}`);
    expect([loggers.lists, vi.getTimerCount()]).toEqual([lists, 2]);
  });

  const changes: readonly (readonly [string, (given: ReturnType<typeof watched>) => void, readonly string[]])[] = [
    ["a level that is set", ({ loggers }) => loggers.setLevel("a.b", "DEBUG"), ["a.b", "a.b.c"]],
    ["a level that is inherited", ({ loggers }) => loggers.setLevel("a", "WARN"), ["a", "a.b", "a.b.c", "g"]],
    [
      "a level as far as it is inherited",
      ({ loggers }) => loggers.setLevel("ROOT", "WARN"),
      ["ROOT", "a", "a.b", "a.b.c", "b"],
    ],
    ["the same level by another operator", ({ loggers }) => loggers.setLevel("x", "ERROR", { actor: "ann" }), ["x"]],
    ["a group, with its members", ({ loggers }) => loggers.setLevel("g", "OFF"), ["a", "a.b", "a.b.c", "b", "g"]],
    ["a new logger", ({ discover }) => discover("a.b.bb"), ["a.b.bb"]],
    [
      "new loggers at both ends and between, with a change",
      ({ discover, loggers }) => {
        for (const name of ["Z", "z", "a.a"]) discover(name);
        loggers.setLevel("x", "INFO");
      },
      ["Z", "a.a", "x", "z"],
    ],
    [
      "nothing, if all came back",
      ({ loggers }) => {
        loggers.holdLevel("a", "DEBUG").lease.release();
      },
      [],
    ],
  ];
  test.each(changes)("sees %s", (_, change, names) => {
    const given = watched({ groups: { g: ["a", "b"] } });
    for (const name of ["a.b.c", "b", "x"]) given.discover(name);
    given.loggers.setLevel("x", "ERROR");
    const woken = vi.fn();
    given.watch.watch(woken);
    const { revision } = given.watch.state;
    change(given);
    vi.advanceTimersByTime(100);
    expect(given.changedSince(revision)).toEqual(names);
    expect(woken).toHaveBeenCalledOnce();
  });

  test("reports many changes in a row ten times a second, the first at once and the last at the end", async () => {
    const { loggers, watch } = watched();
    const seen: [time: number, revision: number][] = [];
    const start = performance.now();
    watch.watch(() => seen.push([performance.now() - start, watch.state.revision]));
    for (let index = 0; index < 100; index++) {
      loggers.setLevel("a", index % 2 === 0 ? "DEBUG" : "INFO");
      await vi.advanceTimersByTimeAsync(10);
    }
    await vi.advanceTimersByTimeAsync(200);
    expect(seen[0]![0]).toBeLessThan(10);
    expect(seen.length).toBeGreaterThanOrEqual(10);
    expect(seen.length).toBeLessThanOrEqual(12);
    expect(seen.at(-1)![1]).toBe(loggers.revision);
  });

  test("notifies all of many watchers in turns", async () => {
    const { loggers, watch } = watched();
    const woken = Array.from({ length: 100 }, () => vi.fn());
    const leave = woken.map((watcher) => watch.watch(watcher));
    const count = () => woken.filter((watcher) => watcher.mock.calls.length > 0).length;
    loggers.setLevel("a", "DEBUG");
    await vi.advanceTimersByTimeAsync(1);
    expect(count()).toBeLessThan(100);
    loggers.setLevel("a", "INFO");
    leave[99]!();
    await vi.advanceTimersByTimeAsync(50);
    expect(Math.max(...woken.map((watcher) => watcher.mock.calls.length))).toBe(1);
    await vi.advanceTimersByTimeAsync(150);
    expect(woken.map((watcher) => watcher.mock.calls.length)).toEqual([...new Array(99).fill(2), 0]);
  });

  test.each([
    [0, 100],
    [50, 500],
    [1_000, 2_000],
  ])("that takes %i ms to tell tells no sooner than after %i ms again, and no later", async (takes, pause) => {
    const { loggers, watch } = watched();
    const start = performance.now();
    const woken: number[] = [];
    watch.watch(() => {
      woken.push(performance.now() - start);
      passing += takes;
    });
    const now = performance.now.bind(performance);
    let passing = 0;
    vi.spyOn(performance, "now").mockImplementation(() => now() + passing);
    onTestFinished(() => void vi.restoreAllMocks());
    loggers.setLevel("a", "DEBUG");
    await vi.advanceTimersByTimeAsync(1);
    loggers.setLevel("a", "INFO");
    await vi.advanceTimersByTimeAsync(pause + 50);
    expect(woken).toHaveLength(2);
    expect(woken[1]! - woken[0]!).toBeGreaterThanOrEqual(pause);
    expect(woken[1]! - woken[0]!).toBeLessThan(pause + 50);
  });

  test("gives a new watcher the current state, and the others as well", () => {
    const { loggers, watch } = watched();
    const woken = vi.fn();
    watch.watch(woken);
    loggers.setLevel("a", "DEBUG");
    watch.watch(() => {});
    expect(watch.state.revision).toBe(loggers.revision);
    vi.advanceTimersByTime(100);
    expect(woken).toHaveBeenCalledOnce();
  });

  test("reads libraries that do not announce changes once a second, and survives one that fails", async () => {
    const { loggers, watch } = watched();
    let failing = false;
    let host: LoggerHost | undefined;
    const refresh = vi.fn(() => {
      if (failing) throw new Error("broken");
      if (refresh.mock.calls.length === 3) host!.discovered("late", nativeHandle());
    });
    loggers.attach({
      kind: "silent",
      refresh,
      attach(given) {
        host = given;
        return () => {};
      },
    });
    const woken = vi.fn();
    watch.watch(woken);
    await vi.advanceTimersByTimeAsync(5_050);
    expect(refresh.mock.calls.length).toBeGreaterThanOrEqual(4);
    expect(refresh.mock.calls.length).toBeLessThanOrEqual(6);
    expect(woken).toHaveBeenCalledOnce();
    failing = true;
    await vi.advanceTimersByTimeAsync(3_000);
    failing = false;
    loggers.setLevel("a", "DEBUG");
    await vi.advanceTimersByTimeAsync(1_100);
    expect(watch.state.revision).toBe(loggers.revision);
  });
});
