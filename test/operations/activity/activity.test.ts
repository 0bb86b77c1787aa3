import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { integrationGraph } from "../../../src/integration-graph/builder.ts";
import { Activity, type ActivitySources } from "../../../src/operations/activity/activity.ts";
import { Health } from "../../../src/operations/health/health.ts";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "setTimeout", "clearTimeout", "performance", "Date"] });
  // A reading of 0 says that nothing was counted.
  vi.advanceTimersByTime(1);
});

afterEach(() => {
  vi.useRealTimers();
});

const SECOND = 1_000;
const HOUR = 3_600 * SECOND;

function setUp(sources: Partial<ActivitySources> = {}) {
  const flow = integrationGraph({ app: "shop" });
  const charge = flow.serviceActivator("charge", { input: "payments" });
  const handle = charge.handle((fails: boolean) => {
    if (fails) throw new Error("declined");
  });
  const pay = (times: number, failing = 0) => {
    for (let index = 0; index < times; index++) {
      try {
        handle(index < failing);
      } catch {
        // Counted.
      }
    }
  };
  const send = flow.channel("payments").sender(() => {});
  const onError = vi.fn();
  const activity = new Activity({ health: new Health(), graph: flow.graph, onError, ...sources });
  return { activity, pay, send, onError, pass: (ms: number) => vi.advanceTimersByTimeAsync(ms) };
}

test("a message counts once at a component, not in the channel before it, and only within the last minute", async () => {
  const { activity, pay, send, pass } = setUp();
  const watcher = activity.watch(() => {});
  for (let index = 0; index < 10; index++) send();
  pay(10);
  await pass(2 * SECOND);
  expect(watcher.state!.now.messages).toBe(10);
  await pass(50 * SECOND);
  pay(5);
  await pass(2 * SECOND);
  expect(watcher.state!.now.messages).toBe(15);
  await pass(30 * SECOND);
  expect(watcher.state!.now.messages).toBe(5);
  await pass(60 * SECOND);
  expect(watcher.state!.now.messages).toBe(0);
  watcher.close();
});

test("a node fails for a minute after its last failure; its history goes on and begins when it failed", async () => {
  const { activity, pay, pass } = setUp();
  const watcher = activity.watch(() => {});
  expect(watcher.state).toMatchObject({ now: { failingNodes: 0 }, failingNodes: [], nodes: 2 });
  const failedAt = Date.now();
  pay(8, 2);
  await pass(2 * SECOND);
  expect(watcher.state!.failingNodes).toMatchObject([{ name: "charge", failures: 2, messages: 8, since: failedAt }]);
  await pass(30 * SECOND);
  pay(1, 1);
  await pass(30 * SECOND);
  expect(watcher.state!.failingNodes).toMatchObject([{ since: failedAt, history: [2, 1] }]);
  await pass(60 * SECOND);
  expect(watcher.state).toMatchObject({ now: { failingNodes: 0 }, failingNodes: [] });
  watcher.close();
});

test("the history is an hour, ends a minute after the last watch, and nothing runs then", async () => {
  const { activity, pass } = setUp();
  expect(vi.getTimerCount()).toBe(0);
  const [one, other] = [activity.watch(() => {}), activity.watch(() => {})];
  await pass(2 * HOUR);
  expect(one.state!.samples).toHaveLength(120);
  one.close();
  one.close();
  other.close();
  await pass(50 * SECOND);
  const again = activity.watch(() => {});
  expect(again.state!.samples).toHaveLength(120);
  again.close();
  await pass(61 * SECOND);
  expect(vi.getTimerCount()).toBe(0);
  const later = activity.watch(() => {});
  expect(later.state!.samples).toHaveLength(1);
  later.close();
});

test("sessions are counted once a minute, never twice at a time, and errors are reported once", async () => {
  let answer: ((count: number) => void) | undefined;
  const count = vi.fn<() => Promise<number | undefined>>(() => new Promise((resolve) => (answer = resolve)));
  const { activity, onError, pass } = setUp({ sessions: { count } });
  const watcher = activity.watch(() => {});
  await pass(180 * SECOND);
  // The first count has not ended.
  expect(count).toHaveBeenCalledTimes(1);
  expect(onError).toHaveBeenCalledTimes(1);
  answer!(3);
  count.mockImplementation(async () => 7);
  await pass(2 * SECOND);
  expect(watcher.state!.now.sessions).toBe(7);
  count.mockImplementation(() => Promise.reject(new Error("down")));
  await pass(180 * SECOND);
  expect(count).toHaveBeenCalledTimes(5);
  expect(watcher.state!.now.sessions).toBeUndefined();
  expect(onError).toHaveBeenCalledTimes(2);
  watcher.close();
});

test("watches are woken only by what has changed", async () => {
  const { activity, pay, pass } = setUp();
  const wake = vi.fn();
  const watcher = activity.watch(wake);
  const { calls } = wake.mock;
  const before = calls.length;
  await pass(10 * SECOND);
  expect(calls).toHaveLength(before);
  pay(1);
  await pass(10 * SECOND);
  expect(calls).toHaveLength(before + 1);
  watcher.close();
});
