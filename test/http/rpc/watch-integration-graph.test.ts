import { create } from "@bufbuild/protobuf";
import { durationFromMs } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import fc from "fast-check";
import { afterEach, describe, expect, onTestFinished, test, vi } from "vitest";
import {
  IntegrationGraphService,
  WatchIntegrationGraphRequestSchema,
  type WatchIntegrationGraphResponse,
} from "../../../src/gen/actuator/v3/integration_graph_pb.ts";
import type { RpcOptions } from "../../../src/http/rpc/rpc-options.ts";
import { watchIntegrationGraph } from "../../../src/http/rpc/watch-integration-graph.ts";
import { integrationGraph } from "../../../src/integration-graph/builder.ts";
import { IntegrationGraph } from "../../../src/integration-graph/graph.ts";
import { LINK_TYPES } from "../../../src/integration-graph/link-type.ts";
import { hash31 } from "../../../src/integration-graph/node-id.ts";
import { GraphModel } from "../../support/graph-model.ts";
import { grpcClient, serveRpc, transportOver, WIRES } from "../../support/rpc-harness.ts";

afterEach(() => {
  vi.useRealTimers();
});

/** A reader that takes as many events as it is let, the others later. */
function reader(watch: ReturnType<typeof watchIntegrationGraph>) {
  const model = new GraphModel();
  const events = watch(create(WatchIntegrationGraphRequestSchema));
  let allowed = 0;
  let reading = false;
  async function read(): Promise<void> {
    if (reading) return;
    reading = true;
    for (; allowed > 0; allowed--) {
      const { value, done } = await events.next();
      if (done) return;
      model.take(value);
    }
    reading = false;
  }
  return {
    model,
    allow(count: number) {
      allowed = count;
      void read();
    },
    end: () => events.return!(),
  };
}

/** Lets everything happen that needs no more time. */
async function quiet(...models: readonly GraphModel[]): Promise<void> {
  for (let before = -1, now = 0; before !== now; ) {
    before = now;
    await vi.advanceTimersByTimeAsync(0);
    for (let turn = 0; turn < 100; turn++) await Promise.resolve();
    now = models.reduce((sum, { events }) => sum + events, 0);
  }
}

const name = fc.constantFrom("a", "b", "c", "d", "e", "f", "g", "h");
const pattern = fc.constantFrom(
  "message_channel" as const,
  "pollable_channel" as const,
  "filter" as const,
  "router" as const,
);
const change = fc.oneof(
  fc.record({ do: fc.constant("declare" as const), name, pattern, size: fc.integer({ min: 0, max: 400 }) }),
  {
    arbitrary: fc.record({
      do: fc.constant("link" as const),
      from: name,
      to: name,
      type: fc.constantFrom(...LINK_TYPES),
    }),
    weight: 3,
  },
  { arbitrary: fc.record({ do: fc.constant("send" as const), from: name, to: name }), weight: 3 },
  { arbitrary: fc.record({ do: fc.constant("remove" as const), name }), weight: 2 },
  fc.record({ do: fc.constant("again" as const), name }),
  fc.record({ do: fc.constant("pass" as const), seconds: fc.integer({ min: 1, max: 200 }) }),
);
type Change = typeof change extends fc.Arbitrary<infer C> ? C : never;

function apply(graph: IntegrationGraph, change: Change): void {
  try {
    if (change.do === "declare") {
      const { name, pattern, size } = change;
      graph.declare({ name, pattern, properties: { text: "x".repeat(size) } });
    } else if (change.do === "remove") graph.remove(graph.find(change.name)!);
    else if (change.do === "again") {
      // Gone and back between two looks, without its links and numbers.
      const { pattern } = graph.find(change.name)!;
      graph.remove(graph.find(change.name)!);
      graph.declare({ name: change.name, pattern });
    } else if (change.do === "link") graph.link(graph.find(change.from)!, change.type, graph.find(change.to)!);
    else if (change.do === "send") {
      const [from, to] = [graph.find(change.from)!, graph.find(change.to)!];
      to.sends.successes.record(performance.now() - 1, performance.now(), 3);
      if (from.pattern === "filter" && to.pattern.endsWith("channel")) graph.way(from, to)!.count++;
    }
  } catch {
    // What the graph refuses is no change.
  }
}

test("whoever reads the stream knows the graph at every step, and whoever is slow knows it in the end", async () => {
  const step = fc.record({ changes: fc.array(change, { maxLength: 6 }), permits: fc.integer({ min: 0, max: 2 }) });
  const steps = fc.array(step, { minLength: 1, maxLength: 25 });
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "setInterval", "clearInterval", "performance", "Date"] });
  let caughtUp = 0;
  await fc.assert(
    fc.asyncProperty(steps, fc.constantFrom(520, 600, 1_000, 3_000), async (steps, maxBytes) => {
      const graph = new IntegrationGraph({ app: "shop" }, { hash: (key) => (hash31(key) % 29) + 1 });
      const watch = watchIntegrationGraph(graph, { maxBytes, heartbeatMs: 1e9 });
      const [fast, slow] = [reader(watch), reader(watch)];
      fast.allow(Number.POSITIVE_INFINITY);
      for (const { changes, permits } of steps) {
        for (const change of changes) {
          apply(graph, change);
          if (change.do === "pass") await vi.advanceTimersByTimeAsync(change.seconds * 1_000);
        }
        await vi.advanceTimersByTimeAsync(1_000);
        const before = slow.model.events;
        slow.allow(permits);
        await quiet(fast.model, slow.model);
        fast.model.expectToBe(graph.snapshot());
        if (slow.model.events === before || slow.model.more) continue;
        slow.model.expectToBe(graph.snapshot());
        caughtUp++;
      }
      slow.allow(Number.POSITIVE_INFINITY);
      await quiet(slow.model);
      slow.model.expectToBe(graph.snapshot());
      for (const { end } of [fast, slow]) await end();
      expect(vi.getTimerCount()).toBe(0);
    }),
    { numRuns: 300 },
  );
  expect(caughtUp).toBeGreaterThan(0);
});

test("a link is never told before its nodes, were they made while links are told", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "setInterval", "clearInterval", "performance", "Date"] });
  const flow = integrationGraph({ app: "shop" });
  for (const name of ["a", "b", "c"]) flow.filter(name, { input: "orders" });
  const watch = watchIntegrationGraph(flow.graph, { maxBytes: 520, heartbeatMs: 1e9 });
  const slow = reader(watch);
  slow.allow(5);
  await quiet(slow.model);
  expect([slow.model.nodes.size, slow.model.links.size, slow.model.more]).toEqual([4, 1, true]);
  flow.filter("d", { input: "orders" });
  await vi.advanceTimersByTimeAsync(1_000);
  slow.allow(Number.POSITIVE_INFINITY);
  await quiet(slow.model);
  slow.model.expectToBe(flow.graph.snapshot());
  await slow.end();
});

test.each([
  { maxBytes: 1e6, rounds: 4 },
  { maxBytes: 600, rounds: 4 },
  { maxBytes: 600, rounds: 2 },
])("who missed more than is remembered is told everything anew: %o", async ({ maxBytes, rounds }) => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "setInterval", "clearInterval", "performance", "Date"] });
  const flow = integrationGraph({ app: "shop" });
  flow.channel("stays");
  let channels = Array.from({ length: 1_500 }, (_, index) => flow.channel(`c-${index}`));
  const watch = watchIntegrationGraph(flow.graph, { maxBytes, heartbeatMs: 1e9 });
  const slow = reader(watch);
  slow.allow(Number.POSITIVE_INFINITY);
  await quiet(slow.model);
  slow.model.expectToBe(flow.graph.snapshot());
  // The one that it waits for, with as much as fits of what is gone.
  slow.allow(1);
  for (const channel of channels) channel.remove();
  await vi.advanceTimersByTimeAsync(1_000);
  await quiet(slow.model);
  for (let round = 0; round < rounds; round++) {
    // Names of their own, so that nothing comes back.
    channels = Array.from({ length: 1_500 }, (_, index) => flow.channel(`c${round}-${index}`));
    await vi.advanceTimersByTimeAsync(1_000);
    for (const channel of channels) channel.remove();
    await vi.advanceTimersByTimeAsync(1_000);
  }
  slow.allow(Number.POSITIVE_INFINITY);
  await quiet(slow.model);
  slow.model.expectToBe(flow.graph.snapshot());
  expect([...slow.model.nodes.values()].map(({ name }) => name)).toEqual(["stays"]);
  await slow.end();
});

describe("a stream", () => {
  async function serve(rpc?: Partial<RpcOptions>) {
    const flow = integrationGraph({ app: "shop" });
    const send = flow.channel("orders").sender(() => {});
    const server = await serveRpc({ integrationGraph: flow.graph }, rpc);
    return { ...server, flow, send, client: grpcClient(IntegrationGraphService, server.url) };
  }
  const interval = { seconds: 0n, nanos: 250_000_000 };

  test.each(WIRES)("tells the graph and then what changes, over $protocol, HTTP/$httpVersion", async (wire) => {
    const { url, flow, send } = await serve();
    const client = createClient(IntegrationGraphService, transportOver(wire, url));
    const abort = new AbortController();
    onTestFinished(() => abort.abort());
    const events = client.watchIntegrationGraph({ interval }, { signal: abort.signal })[Symbol.asyncIterator]();
    const next = async () => (await events.next()).value as WatchIntegrationGraphResponse;
    const model = new GraphModel();

    const first = await next();
    expect(first.event.case).toBe("snapshot");
    expect(first.event.value).toMatchObject({ contentDescriptor: { provider: "connect-actuator", name: "shop" } });
    model.take(first);
    model.expectToBe(flow.graph.snapshot());

    send();
    const filter = flow.filter("check", { input: "orders" });
    const second = await next();
    expect(second.event.case).toBe("change");
    model.take(second);
    model.expectToBe(flow.graph.snapshot());

    filter.remove();
    model.take(await next());
    model.expectToBe(flow.graph.snapshot());
    expect([...model.nodes.values()].map(({ name }) => name)).toEqual(["orders"]);
  });

  test("has heartbeats while nothing changes", async () => {
    const { client } = await serve({ heartbeatMs: 30 });
    const events = client.watchIntegrationGraph({ interval })[Symbol.asyncIterator]();
    const cases: unknown[] = [];
    for (let count = 0; count < 3; count++) {
      const { event } = (await events.next()).value as WatchIntegrationGraphResponse;
      cases.push(event.case);
      if (event.case === "heartbeat") expect(event.value.interval).toMatchObject({ seconds: 0n, nanos: 30_000_000 });
    }
    expect(cases).toEqual(["snapshot", "heartbeat", "heartbeat"]);
    await events.return?.();
  });

  test("ends with UNAVAILABLE when the server drains", async () => {
    const { client, rpc } = await serve();
    const events = client.watchIntegrationGraph({})[Symbol.asyncIterator]();
    await events.next();
    const end = (async () => {
      for (;;) if ((await events.next()).done) return;
    })();
    rpc.endStreams();
    await expect(end).rejects.toMatchObject({ code: Code.Unavailable });
  });

  test.each([249, 60_001, 0, -1_000])("with an interval of %d ms is refused", async (milliseconds) => {
    const interval = durationFromMs(milliseconds);
    const { client } = await serve();
    const events = client.watchIntegrationGraph({ interval })[Symbol.asyncIterator]();
    const error = ConnectError.from(await events.next().catch((error) => error));
    expect(error).toMatchObject({
      code: Code.InvalidArgument,
      rawMessage: expect.stringContaining("from 0.25 to 60 seconds"),
    });
  });
});
