import { once } from "node:events";
import { describe, expect, test } from "vitest";
import { integrationGraph } from "../../src/integration-graph/builder.ts";
import type { NodeDeclaration } from "../../src/integration-graph/declaration.ts";
import { IntegrationGraph } from "../../src/integration-graph/graph.ts";
import type { GraphSnapshot } from "../../src/integration-graph/snapshot.ts";
import type { GraphSource, Topology } from "../../src/integration-graph/source.ts";
import { links, nodeOf, sends } from "./support.ts";

const orders: NodeDeclaration = { name: "orders", pattern: "publish_subscribe_channel", componentType: "exchange" };
const billing: NodeDeclaration = { name: "billing", pattern: "pollable_channel", componentType: "queue" };
const consumer: NodeDeclaration = { name: "bill", pattern: "service_activator" };
const whole: Topology = {
  nodes: [orders, billing, consumer],
  links: [
    { from: orders, type: "route", to: billing },
    { from: billing, type: "input", to: consumer },
  ],
};

/** A source that declares what the test says, and counts how often it was asked. */
class Broker implements GraphSource {
  readonly name = "broker";
  topology: Topology | Promise<Topology> | (() => Topology) = whole;
  reads = 0;

  read(): Topology | Promise<Topology> {
    this.reads++;
    return typeof this.topology === "function" ? this.topology() : this.topology;
  }
}

function setUp() {
  const errors: unknown[] = [];
  const g = integrationGraph({ app: "shop", sourceTimeoutMs: 20, onSourceError: (_, error) => errors.push(error) });
  return { g, graph: g.graph, broker: new Broker(), errors };
}

test("a source is read when it is attached", async () => {
  const { graph, broker } = setUp();
  expect(await graph.addSource(broker)).toBe(true);
  expect(graph.snapshot().nodes.map(({ name }) => name)).toEqual(["orders", "billing", "bill"]);
  expect(links(graph)).toEqual({ "orders -route-> billing": 0, "billing -input-> bill": 0 });
  expect(nodeOf(graph, "orders")).toMatchObject({ componentType: "exchange", routes: ["billing"] });
});

test("a rebuild that finds the same changes nothing: neither ids nor numbers nor the revision", async () => {
  const { g, graph, broker } = setUp();
  await graph.addSource(broker);
  g.serviceActivator("bill", { input: "billing" }).handle(() => {})();
  const before = graph.snapshot();
  expect(await graph.rebuild()).toBe(before.revision);
  expect(broker.reads).toBe(2);
  const withoutRates = ({ nodes, ...rest }: GraphSnapshot) => ({
    ...rest,
    nodes: nodes.map((node) => ({ ...node, rate: 0 })),
  });
  expect(withoutRates(graph.snapshot())).toEqual(withoutRates(before));
  expect(links(graph)).toMatchObject({ "billing -input-> bill": 1 });
});

test("a rebuild drops what the source no longer declares, and takes up what it does", async () => {
  const { graph, broker } = setUp();
  await graph.addSource(broker);
  const { revision } = graph;
  const { nodeId } = nodeOf(graph, "billing");
  const audit: NodeDeclaration = { name: "audit", pattern: "pollable_channel" };
  broker.topology = { nodes: [orders, audit], links: [{ from: orders, type: "route", to: audit }] };
  expect(await graph.rebuild()).toBeGreaterThan(revision);
  expect(links(graph)).toEqual({ "orders -route-> audit": 0 });
  expect(graph.find("billing")).toBeUndefined();

  broker.topology = whole;
  await graph.rebuild();
  expect(nodeOf(graph, "billing").nodeId).toBe(nodeId);
});

test("a rebuild drops a link that is declared no more, though its ends stay", async () => {
  const { graph, broker } = setUp();
  await graph.addSource(broker);
  broker.topology = { nodes: whole.nodes, links: [whole.links[1]!] };
  await graph.rebuild();
  expect(links(graph)).toEqual({ "billing -input-> bill": 0 });
  expect(nodeOf(graph, "orders")).not.toHaveProperty("routes");
});

test("a message that goes where a link is declared no more makes it appear again, as one that is seen", async () => {
  const { g, graph, broker } = setUp();
  broker.topology = { nodes: [], links: [{ from: consumer, type: "error", to: orders }] };
  await graph.addSource(broker);
  const handle = g.serviceActivator("bill").handle(g.publishSubscribeChannel("orders").sender(() => {}));
  handle();
  expect(links(graph)).toEqual({ "bill -error-> orders": 1 });
  broker.topology = { nodes: [consumer, orders], links: [] };
  await graph.rebuild();
  handle();
  expect(links(graph)).toEqual({ "bill -output-> orders": 1 });
});

test("what the application or another source declares too stays, without what only the first said", async () => {
  const { g, graph, broker } = setUp();
  const other = new Broker();
  other.topology = { nodes: [{ ...orders, properties: { durable: true } }], links: [] };
  broker.topology = { nodes: [{ ...orders, properties: { bindings: 2 } }, billing, consumer], links: whole.links };
  await graph.addSource(broker);
  await graph.addSource(other);
  g.serviceActivator("bill", { input: "billing" });
  expect(nodeOf(graph, "orders").properties).toEqual({ bindings: 2, durable: true });
  graph.removeSource(broker);
  expect(graph.snapshot().nodes.map(({ name }) => name)).toEqual(["orders", "billing", "bill"]);
  expect(nodeOf(graph, "orders").properties).toEqual({ durable: true });
  expect(links(graph)).toEqual({ "billing -input-> bill": 0 });
  await graph.rebuild();
  expect(broker.reads).toBe(1);
});

test("a source may change the pattern of what it alone declares", async () => {
  const { graph, broker, errors } = setUp();
  await graph.addSource(broker);
  const bridge: NodeDeclaration = { name: "bill", pattern: "bridge" };
  const queue: NodeDeclaration = { name: "billing", pattern: "reactive_channel" };
  broker.topology = { nodes: [bridge, queue], links: [] };
  await graph.rebuild();
  expect(errors).toEqual([]);
  expect(nodeOf(graph, "bill").integrationPatternType).toBe("bridge");
  expect(nodeOf(graph, "billing").integrationPatternType).toBe("reactive_channel");
});

describe("a source keeps its part", () => {
  // In front of what is unfit, to see that nothing of such a topology is taken.
  const fresh: NodeDeclaration = { name: "fresh", pattern: "message_channel" };
  const twice: NodeDeclaration = { name: "orders", pattern: "null_channel" };
  test.each<[when: string, topology: Broker["topology"], message: string | RegExp]>([
    [
      "when it throws",
      () => {
        throw new Error("connection refused");
      },
      "connection refused",
    ],
    ["when it takes too long", new Promise<Topology>(() => {}), /timeout/i],
    ["when a name is unfit", { nodes: [fresh, { name: "", pattern: "bridge" }], links: [] }, "non-empty"],
    [
      "when a pattern is unknown",
      { nodes: [fresh, { name: "x", pattern: "queue" as never }], links: [] },
      'the pattern of "x" must be',
    ],
    [
      "when a link is impossible",
      { nodes: [fresh], links: [{ from: consumer, type: "input", to: orders }] },
      'no "input" link',
    ],
    ["when it contradicts itself", { nodes: [fresh, orders, twice], links: [] }, "declared with two patterns"],
    [
      "when it contradicts the application",
      { nodes: [fresh, { name: "mine", pattern: "bridge" }], links: [] },
      "it is a filter",
    ],
    ["when it gives no topology", null as never, /./],
  ])("%s", async (_, topology, message) => {
    const { g, graph, broker, errors } = setUp();
    g.filter("mine");
    await graph.addSource(broker);
    const before = graph.snapshot();
    broker.topology = topology;
    expect(await graph.rebuild()).toBe(before.revision);
    const stale = before.nodes.map((node) => ({ ...node, stale: node.name !== "mine" }));
    expect(graph.snapshot()).toEqual({ ...before, nodes: stale });
    expect(errors).toHaveLength(1);
    expect(String(errors[0])).toMatch(message);

    broker.topology = { nodes: [], links: [] };
    await graph.rebuild();
    expect(graph.snapshot().nodes.map(({ name }) => name)).toEqual(["mine"]);
  });

  test("and others are read all the same", async () => {
    const { graph, broker } = setUp();
    const other = new Broker();
    broker.topology = () => {
      throw new Error("connection refused");
    };
    expect(await graph.addSource(broker)).toBe(false);
    await graph.addSource(other);
    other.topology = { nodes: [orders], links: [] };
    await graph.rebuild();
    expect(graph.snapshot().nodes.map(({ name }) => name)).toEqual(["orders"]);
  });

  test("and the operator is warned, without what the error says", async () => {
    const graph = new IntegrationGraph({ app: "shop" });
    const broker = new Broker();
    broker.topology = () => {
      throw new Error("connect amqp://user:secret@broker failed");
    };
    const warned = once(process, "warning");
    await graph.addSource(broker);
    const [warning] = await warned;
    expect(warning.message).toContain('"broker"');
    expect(warning.message).not.toContain("secret");
  });
});

describe("what a source declared that is out of reach", () => {
  const stale = (graph: IntegrationGraph) => graph.snapshot().nodes.flatMap(({ name, stale }) => (stale ? [name] : []));
  const down = () => {
    throw new Error("connection refused");
  };

  test("is stale until it is read again", async () => {
    const { graph, broker } = setUp();
    await graph.addSource(broker);
    expect(stale(graph)).toEqual([]);
    broker.topology = down;
    await graph.rebuild();
    expect(stale(graph)).toEqual(["orders", "billing", "bill"]);
    broker.topology = whole;
    await graph.rebuild();
    expect(stale(graph)).toEqual([]);
  });

  test("is not stale where the application or another source declares it too", async () => {
    const { g, graph, broker } = setUp();
    const other = new Broker();
    other.topology = { nodes: [orders], links: [] };
    await graph.addSource(broker);
    await graph.addSource(other);
    g.pollableChannel("billing");
    broker.topology = down;
    await graph.rebuild();
    expect(stale(graph)).toEqual(["bill"]);
    other.topology = down;
    await graph.rebuild();
    expect(stale(graph)).toEqual(["orders", "bill"]);
    graph.removeSource(broker);
    expect(stale(graph)).toEqual(["orders"]);
    graph.removeSource(other);
    expect(graph.snapshot().nodes.map(({ name }) => name)).toEqual(["billing"]);
  });

  test("keeps its numbers, and drops what is gone when it is read again", async () => {
    const { g, graph, broker } = setUp();
    await graph.addSource(broker);
    g.publishSubscribeChannel("orders").sender(() => {})();
    broker.topology = down;
    await graph.rebuild();
    broker.topology = { nodes: [orders], links: [] };
    await graph.rebuild();
    expect(graph.snapshot().nodes.map(({ name }) => name)).toEqual(["orders"]);
    expect(sends(graph, "orders")).toEqual([1, 0]);
  });
});

test("a source that is slow is told to stop", async () => {
  const { graph } = setUp();
  let told: AbortSignal | undefined;
  await graph.addSource({
    name: "slow",
    read(signal) {
      told = signal;
      return new Promise(() => {});
    },
  });
  expect(told!.aborted).toBe(true);
});

test("a source that is detached while it is read declares nothing", async () => {
  const { graph, broker } = setUp();
  const { promise, resolve } = Promise.withResolvers<Topology>();
  broker.topology = promise;
  const attached = graph.addSource(broker);
  graph.removeSource(broker);
  resolve(whole);
  await attached;
  expect(graph.snapshot().nodes).toEqual([]);
});

test("keys of a source tell components of the same name apart", async () => {
  const { g, graph, broker } = setUp();
  const exchange = { ...orders, key: "channel:rabbitmq:prod:exchange:/orders" };
  const queue = { ...billing, name: "orders", key: "channel:rabbitmq:prod:queue:/orders" };
  broker.topology = { nodes: [exchange, queue], links: [{ from: exchange, type: "route", to: queue }] };
  await graph.addSource(broker);
  g.channel("orders");
  expect(graph.snapshot().nodes.map(({ name }) => name)).toEqual(["orders", "orders", "orders"]);
  expect(new Set(graph.snapshot().nodes.map(({ nodeId }) => nodeId)).size).toBe(3);
  expect(links(graph)).toEqual({ "orders -route-> orders": 0 });
});

test("a key that is the name's own means the application's component", async () => {
  const { g, graph, broker } = setUp();
  broker.topology = { nodes: [{ ...orders, key: "channel:orders" }], links: [] };
  await graph.addSource(broker);
  g.publishSubscribeChannel("orders", { properties: { mine: true } });
  expect(graph.snapshot().nodes).toHaveLength(1);
  expect(nodeOf(graph, "orders")).toMatchObject({ componentType: "exchange", properties: { mine: true } });
});

describe("rebuilds", () => {
  test("that are asked for at the same time run one after the other, and share the second run", async () => {
    const { graph, broker } = setUp();
    await graph.addSource(broker);
    const gate = Promise.withResolvers<Topology>();
    broker.topology = gate.promise;
    const first = graph.rebuild();
    broker.topology = { nodes: [orders], links: [] };
    const later = [graph.rebuild(), graph.rebuild()];
    expect(broker.reads).toBe(2);
    gate.resolve(whole);
    await first;
    await Promise.all(later);
    expect(broker.reads).toBe(3);
    expect(graph.snapshot().nodes.map(({ name }) => name)).toEqual(["orders"]);
    await graph.rebuild();
    expect(broker.reads).toBe(4);
  });
});

describe("a node that was only seen", () => {
  function aged() {
    let passed = 0;
    const graph = new IntegrationGraph(
      { app: "shop", observedNodeMaxAgeMs: 1_000 },
      { clock: () => performance.now() + passed },
    );
    return { graph, pass: (milliseconds: number) => (passed += milliseconds) };
  }

  test("leaves at a rebuild when it has been idle for long", async () => {
    const { graph, pass } = aged();
    const seen = graph.observe({ name: "seen", pattern: "message_channel" });
    graph.declare({ name: "declared", pattern: "message_channel" });
    graph.channel("referred-to");
    await graph.rebuild();
    expect(nodeOf(graph, "seen").observed).toBe(true);
    pass(1_000);
    graph.observe({ name: "fresh", pattern: "message_channel" });
    expect(nodeOf(graph, "seen").nodeId).toBe(seen.id);
    await graph.rebuild();
    expect(graph.snapshot().nodes.map(({ name }) => name)).toEqual(["declared", "referred-to", "fresh"]);
    expect(graph.observe({ name: "seen", pattern: "message_channel" }).id).toBe(seen.id);
  });

  test("stays while messages come", async () => {
    const { graph, pass } = aged();
    const seen = graph.observe({ name: "seen", pattern: "message_channel" });
    pass(5_000);
    seen.sends.successes.record(performance.now() + 4_999, performance.now() + 5_000);
    await graph.rebuild();
    expect(sends(graph, "seen")).toEqual([1, 0]);
    pass(2_000);
    await graph.rebuild();
    expect(graph.find("seen")).toBeUndefined();
  });

  test("stays when somebody declares it, with its numbers", async () => {
    const { graph, pass } = aged();
    const seen = graph.observe({ name: "seen", pattern: "message_channel" });
    seen.sends.failures.record(0, 1);
    expect(graph.declare({ name: "seen", pattern: "pollable_channel" })).toBe(seen);
    pass(5_000);
    await graph.rebuild();
    expect(sends(graph, "seen")).toEqual([0, 1]);
  });

  test("is dropped and counted when its name is unfit, and may be recorded into all the same", () => {
    const { graph } = aged();
    const seen = graph.observe({ name: "a\nb", pattern: "message_channel" });
    seen.sends.successes.record(0, 1);
    expect(graph.snapshot().nodes).toEqual([]);
    expect(graph.dropped.nodes).toBe(1);
  });
});
