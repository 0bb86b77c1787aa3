import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { integrationGraph } from "../../src/integration-graph/builder.ts";
import { GraphWatch } from "../../src/integration-graph/watch.ts";
import { nodeOf } from "./support.ts";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "setTimeout", "clearTimeout", "performance"] });
});

afterEach(() => {
  vi.useRealTimers();
});

/** A broker that can be away, with a queue that has a number of consumers. */
async function setUp(options: { readonly refreshMs?: number } = {}) {
  const { graph } = integrationGraph({ app: "shop", ...options });
  const broker = { reads: 0, away: false, consumers: 1 };
  await graph.addSource({
    name: "broker",
    read() {
      broker.reads++;
      if (broker.away) throw new Error("away");
      const properties = { consumers: broker.consumers };
      return { nodes: [{ name: "orders", pattern: "message_channel", properties }], links: [] };
    },
  });
  return { graph, broker, watch: new GraphWatch(graph) };
}

test("while a client watches, facts of brokers and stale marks are at most 30 seconds old", async () => {
  const warnings = vi.spyOn(process, "emitWarning").mockImplementation(() => {});
  const { graph, broker, watch } = await setUp();
  const watcher = watch.watch(1_000, () => {});
  expect(broker.reads).toBe(1);
  broker.consumers = 2;
  await vi.advanceTimersByTimeAsync(30_000);
  expect(nodeOf(graph, "orders").properties).toEqual({ consumers: 2 });
  broker.away = true;
  await vi.advanceTimersByTimeAsync(30_000);
  expect(nodeOf(graph, "orders").stale).toBe(true);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(warnings).toHaveBeenCalledTimes(1);
  broker.away = false;
  await vi.advanceTimersByTimeAsync(30_000);
  expect(nodeOf(graph, "orders").stale).toBe(false);
  expect(broker.reads).toBe(6);
  watcher.close();
});

test("while no client watches, no source is read; the next watch begins with a reading if the last is long ago", async () => {
  const { broker, watch } = await setUp();
  const [one, other] = [watch.watch(1_000, () => {}), watch.watch(250, () => {})];
  one.close();
  other.close();
  expect(vi.getTimerCount()).toBe(0);
  await vi.advanceTimersByTimeAsync(3_600_000);
  expect(broker.reads).toBe(1);
  const again = watch.watch(1_000, () => {});
  await vi.advanceTimersByTimeAsync(0);
  expect(broker.reads).toBe(2);
  again.close();
  watch.watch(1_000, () => {}).close();
  await vi.advanceTimersByTimeAsync(3_600_000);
  expect([broker.reads, vi.getTimerCount()]).toEqual([2, 0]);
});

test("the interval is an option", async () => {
  const { broker, watch } = await setUp({ refreshMs: 500 });
  const watcher = watch.watch(1_000, () => {});
  await vi.advanceTimersByTimeAsync(1_100);
  expect(broker.reads).toBe(3);
  watcher.close();
  expect(() => integrationGraph({ app: "shop", refreshMs: 0 })).toThrow("refreshMs");
});
