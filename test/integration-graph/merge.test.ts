import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { integrationGraph } from "../../src/integration-graph/builder.ts";
import { GraphMerger, type GraphPart, mergeGraphs } from "../../src/integration-graph/merge.ts";
import { channelKey, endpointKey, NodeIds } from "../../src/integration-graph/node-id.ts";
import type { GraphSnapshot, LinkSnapshot, NodeSnapshot } from "../../src/integration-graph/snapshot.ts";

/** A graph as one instance has it: its own ids, some of the keys that all know. */
const keys = ["a", "b", "c", "d"].map((name) => channelKey("rabbitmq", "main", "queue", name));
const number = fc.integer({ min: 0, max: 1_000 });
const timer = fc.record({ count: number, mean: number, max: number });
const node = fc.record(
  {
    key: fc.constantFrom(...keys),
    rate: number,
    lastSeenTime: fc.integer({ min: 1, max: 100 }),
    stale: fc.boolean(),
    observed: fc.boolean(),
    sendTimers: fc.record({ successes: timer, failures: timer }),
    receiveCounters: fc.record({ successes: number, failures: number }),
  },
  { requiredKeys: ["key", "rate", "stale", "observed"] },
);
const link = fc.record({
  from: fc.nat(),
  to: fc.nat(),
  type: fc.constantFrom("route" as const, "error" as const),
  count: number,
  declared: fc.boolean(),
});
const graph = fc
  .record({
    nodes: fc.uniqueArray(node, { selector: ({ key }) => key, maxLength: 4 }),
    links: fc.array(link, { maxLength: 6 }),
    revision: number,
  })
  .map(({ nodes, links, revision }): GraphSnapshot => {
    const whole = nodes.map(
      (node, index): NodeSnapshot => ({
        ...node,
        nodeId: index + 1,
        componentType: "channel",
        integrationPatternType: "message_channel",
        integrationPatternCategory: "messaging_channel",
        properties: {},
        name: node.key,
      }),
    );
    const ends = links.map(
      (link): LinkSnapshot => ({
        ...link,
        from: (link.from % Math.max(nodes.length, 1)) + 1,
        to: (link.to % Math.max(nodes.length, 1)) + 1,
      }),
    );
    const seen = new Set<string>();
    const unique = ends.filter(
      ({ from, to, type }) => !seen.has(`${from}${type}${to}`) && seen.add(`${from}${type}${to}`),
    );
    return {
      contentDescriptor: { provider: "p", providerVersion: "0", providerFormatVersion: 1, name: "shop" },
      nodes: whole,
      links: nodes.length === 0 ? [] : unique,
      revision,
    };
  });
const parts = fc
  .array(graph, { minLength: 1, maxLength: 4 })
  .map((graphs): GraphPart[] => graphs.map((graph, index) => ({ instance: `instance-${index}`, graph })));

test("a merged graph is what a naive model says", () => {
  fc.assert(
    fc.property(parts, (parts) => {
      const merged = mergeGraphs(parts);
      const all = parts.flatMap(({ instance, graph }) => graph.nodes.map((node) => ({ instance, node })));
      expect(merged.nodes.map(({ key }) => key)).toEqual([...new Set(all.map(({ node }) => node.key))].sort());
      const ids = new NodeIds();
      for (const node of merged.nodes) {
        const same = all.filter((one) => one.node.key === node.key);
        const numbers = (of: (node: NodeSnapshot) => number | undefined) => same.map((one) => of(one.node) ?? 0);
        const total = (of: (node: NodeSnapshot) => number | undefined) =>
          numbers(of).reduce((sum, one) => sum + one, 0);
        expect(node.nodeId).toBe(ids.take(node.key));
        expect(node.instances).toEqual(same.map(({ instance }) => instance));
        expect(node.rate).toBe(total(({ rate }) => rate));
        expect(node.lastSeenTime ?? 0).toBe(Math.max(...numbers(({ lastSeenTime }) => lastSeenTime)));
        expect(node.stale).toBe(same.every((one) => one.node.stale));
        expect(node.observed).toBe(same.some((one) => one.node.observed));
        expect(node.sendTimers !== undefined).toBe(same.some((one) => one.node.sendTimers !== undefined));
        for (const outcome of ["successes", "failures"] as const) {
          const timer = (of: "count" | "mean" | "max") => (node: NodeSnapshot) => node.sendTimers?.[outcome][of];
          const count = total(timer("count"));
          const time = total((node) => (timer("count")(node) ?? 0) * (timer("mean")(node) ?? 0));
          expect(node.sendTimers?.[outcome].count ?? 0).toBe(count);
          expect(node.sendTimers?.[outcome].mean ?? 0).toBeCloseTo(count === 0 ? 0 : time / count, 6);
          expect(node.sendTimers?.[outcome].max ?? 0).toBe(Math.max(...numbers(timer("max"))));
          expect(node.receiveCounters?.[outcome] ?? 0).toBe(total((node) => node.receiveCounters?.[outcome]));
        }
      }
      const links = parts.flatMap(({ graph }) => graph.links.map((link) => named(graph, link)));
      const names = [...new Set(links.map(({ name }) => name))].sort();
      expect(merged.links.map((link) => named(merged, link).name).sort()).toEqual(names);
      for (const link of merged.links) {
        const same = links.filter(({ name }) => name === named(merged, link).name);
        expect(link.count).toBe(same.reduce((sum, { count }) => sum + count, 0));
        expect(link.declared).toBe(same.some(({ declared }) => declared));
      }
      expect(merged.revision).toBe(parts.reduce((sum, { graph }) => sum + graph.revision, 0));
    }),
    { numRuns: 500 },
  );
});

test("is the same in whatever order the parts come", () => {
  fc.assert(
    fc.property(parts, fc.func(fc.integer()), (parts, order) => {
      const shuffled = parts.toSorted((one, other) => order(one.instance) - order(other.instance));
      expect(mergeGraphs(shuffled)).toEqual(mergeGraphs(parts));
    }),
  );
});

test("merged again and again, it is the same as merged once, and keeps the nodes whose parts are the same", () => {
  const next = fc.record({ parts, kept: fc.array(fc.boolean(), { maxLength: 4 }) });
  fc.assert(
    fc.property(fc.array(next, { minLength: 2, maxLength: 5 }), (rounds) => {
      const merger = new GraphMerger();
      let before: readonly GraphPart[] = [];
      for (const { parts, kept } of rounds) {
        const now = parts.map((part, at) => (kept[at] ? (before[at] ?? part) : part));
        expect(merger.merge(now)).toEqual(mergeGraphs(now));
        before = now;
      }
      const first = merger.merge(before).nodes;
      // Other graphs with the same nodes.
      const same = before.map(({ instance, graph }) => ({ instance, graph: { ...graph, nodes: [...graph.nodes] } }));
      merger.merge(same).nodes.forEach((node, at) => void expect(node).toBe(first[at]));
    }),
  );
});

test("of graphs that were merged before is the one of all instances", () => {
  fc.assert(
    fc.property(parts, parts, (one, other) => {
      const more = other.map(({ graph }, index) => ({ instance: `other-${index}`, graph }));
      const [first, second] = [mergeGraphs(one), mergeGraphs(more)];
      const twice = mergeGraphs([
        { instance: "x", graph: first },
        { instance: "y", graph: second },
      ]);
      const once = mergeGraphs([...one, ...more]);
      const numbers = ({ nodes, links }: GraphSnapshot) => ({
        nodes: nodes.map(({ nodeId, key, rate, stale, instances, sendTimers }) => {
          const { successes } = sendTimers ?? {};
          return { nodeId, key, rate, stale, instances, count: successes?.count, max: successes?.max };
        }),
        links,
      });
      expect(numbers(twice)).toEqual(numbers(once));
    }),
  );
});

describe("applications that share a broker", () => {
  const orders = {
    name: "orders",
    pattern: "publish_subscribe_channel" as const,
    key: channelKey("kafka", "k1", "topic", "orders"),
  };

  function shop() {
    const { graph } = integrationGraph({ app: "shop" });
    const gateway = graph.declare({ name: "POST /orders", pattern: "inbound_gateway" });
    graph.link(gateway, "output", graph.declare({ ...orders, componentType: "kafka:topic" }))!.count = 40;
    return graph.snapshot();
  }
  function billing(count: number) {
    const { graph } = integrationGraph({ app: "billing" });
    const topic = graph.declare({ ...orders, pattern: "message_channel", properties: { seen: count } });
    const key = endpointKey("billing", "service_activator", "bill");
    graph.link(topic, "input", graph.declare({ name: "bill", pattern: "service_activator", key }))!.count = count;
    return graph.snapshot();
  }

  test("meet at its channels, in one chain", () => {
    const merged = mergeGraphs([
      { instance: "shop-1", graph: shop() },
      { instance: "billing-2", graph: billing(12) },
      { instance: "billing-1", graph: billing(10) },
    ]);
    expect(merged.nodes.map(({ name, instances }) => [name, instances])).toEqual([
      ["orders", ["billing-1", "billing-2", "shop-1"]],
      ["bill", ["billing-1", "billing-2"]],
      ["POST /orders", ["shop-1"]],
    ]);
    expect(merged.links.map((link) => [named(merged, link).name, link.count])).toEqual([
      ["channel:kafka:k1:topic:orders input endpoint:billing:service_activator:bill", 22],
      ["endpoint:shop:inbound_gateway:POST /orders output channel:kafka:k1:topic:orders", 40],
    ]);
    const [topic] = merged.nodes;
    expect(topic).toMatchObject({
      integrationPatternType: "publish_subscribe_channel",
      componentType: "kafka:topic",
      properties: { seen: 10 },
    });
    expect(merged.nodes[1]!.input).toBe("orders");
    expect(merged.nodes[2]!.output).toBe("orders");
    expect(merged.contentDescriptor.provider).toBe("connect-actuator");
    expect(merged.contentDescriptor).not.toHaveProperty("name");
  });

  test("keep what a fresh instance says before what a stale one does", () => {
    const graph = billing(1);
    const stale = {
      ...graph,
      nodes: graph.nodes.map((node) => ({ ...node, properties: { old: 1, seen: 0 }, stale: true })),
    };
    const merged = mergeGraphs([
      { instance: "a", graph: stale },
      { instance: "b", graph: billing(2) },
    ]);
    expect(merged.nodes[0]).toMatchObject({ properties: { old: 1, seen: 2 }, stale: false });
    expect(merged.contentDescriptor.name).toBe("billing");
  });
});

test("the graph of nobody is empty", () => {
  expect(mergeGraphs([])).toMatchObject({ nodes: [], links: [], revision: 0 });
});

function named(graph: GraphSnapshot, { from, to, type, count, declared }: LinkSnapshot) {
  const key = (id: number) => graph.nodes.find(({ nodeId }) => nodeId === id)!.key;
  return { name: `${key(from)} ${type} ${key(to)}`, count, declared };
}
