import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { integrationGraph } from "../../src/integration-graph/builder.ts";
import { GraphWatch } from "../../src/integration-graph/watch.ts";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "performance"] });
});

afterEach(() => {
  vi.useRealTimers();
});

function setUp() {
  const flow = integrationGraph({ app: "shop" });
  const send = flow.channel("orders").sender(() => {});
  let snapshots = 0;
  const watch = new GraphWatch({
    snapshot() {
      snapshots++;
      return flow.graph.snapshot();
    },
  });
  const looks = () => {
    const before = snapshots;
    snapshots = 0;
    return before;
  };
  const pass = async (milliseconds: number) => {
    await vi.advanceTimersByTimeAsync(milliseconds);
    // Many watchers are told in several turns.
    for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
  };
  return { flow, send, watch, looks, pass };
}

test("watchers of one interval share one timer and one look", async () => {
  const { send, watch, looks, pass } = setUp();
  const wakes = Array.from({ length: 50 }, () => vi.fn());
  const watchers = wakes.map((wake) => watch.watch(1_000, wake));
  expect([vi.getTimerCount(), looks()]).toEqual([1, 1]);
  send();
  await pass(1_000);
  expect(looks()).toBe(1);
  for (const wake of wakes) expect(wake).toHaveBeenCalledTimes(1);
  expect(new Set(watchers.map(({ state }) => state)).size).toBe(1);
  await pass(5_000);
  expect(looks()).toBe(5);
  for (const wake of wakes) expect(wake).toHaveBeenCalledTimes(1);
});

test("nothing runs without watchers, however often they close", async () => {
  const { watch, looks, pass } = setUp();
  expect(vi.getTimerCount()).toBe(0);
  const [one, other] = [watch.watch(1_000, () => {}), watch.watch(1_000, () => {})];
  one.close();
  one.close();
  expect(watch.timers).toBe(1);
  other.close();
  expect([watch.timers, vi.getTimerCount()]).toEqual([0, 0]);
  looks();
  await pass(10_000);
  expect(looks()).toBe(0);
});

test("there are few timers, however many intervals", () => {
  const { watch } = setUp();
  for (let interval = 0; interval < 100_000; interval += 7) watch.watch(interval, () => {});
  expect(watch.timers).toBe(240);
});

test.each([
  [250, 4],
  [1_000, 1],
  [1, 4],
])("an interval of %d ms is %d looks a second", async (interval, count) => {
  const { watch, looks, pass } = setUp();
  watch.watch(interval, () => {});
  looks();
  await pass(1_000);
  expect(looks()).toBe(count);
});

describe("one who joins", () => {
  test("sees the graph as it is, and those who watch already are told", async () => {
    const { flow, watch, pass } = setUp();
    const wake = vi.fn();
    const first = watch.watch(60_000, wake);
    await pass(300);
    flow.channel("late");
    const second = watch.watch(60_000, () => {});
    expect(second.state.nodes.map(({ subject }) => subject.name)).toEqual(["orders", "late"]);
    expect(wake).toHaveBeenCalledTimes(1);
    expect(first.state).toBe(second.state);
  });

  test("makes no look of their own where the last one is fresh", () => {
    const { watch, looks } = setUp();
    for (let count = 0; count < 100; count++) watch.watch(1_000, () => {});
    expect(looks()).toBe(1);
  });
});
