import { describe, expect, test } from "vitest";
import { integrationGraph } from "../../src/integration-graph/builder.ts";
import { links, nodeOf, sends } from "./support.ts";

describe("a graph that is full", () => {
  test("counts the nodes that it does not take, and their functions work unseen", () => {
    const g = integrationGraph({ app: "shop", limits: { maxNodes: 2 } });
    const send = g.channel("a").sender(() => "sent");
    const handle = g.serviceActivator("b", { output: "a" }).handle(() => send());
    const late = g.channel("c").sender(() => "late");
    const lateHandle = g.serviceActivator("d", { input: "c", output: "a" }).handle(() => send() + late());
    expect(g.graph.dropped).toEqual({ nodes: 3, links: 0 });
    expect([handle(), lateHandle()]).toEqual(["sent", "sentlate"]);
    expect(g.graph.snapshot().nodes.map(({ name }) => name)).toEqual(["a", "b"]);
    expect(links(g.graph)).toEqual({ "b -output-> a": 1 });
    expect(sends(g.graph, "a")).toEqual([2, 0]);
  });

  test("takes a node again when another one went", () => {
    const g = integrationGraph({ app: "shop", limits: { maxNodes: 1 } });
    const first = g.channel("a");
    g.channel("b");
    first.remove();
    g.channel("b");
    expect(g.graph.snapshot().nodes.map(({ name }) => name)).toEqual(["b"]);
    expect(g.graph.dropped.nodes).toBe(1);
  });

  test("counts the links that it does not take, and the messages arrive all the same", () => {
    const g = integrationGraph({ app: "shop", limits: { maxLinksPerNode: 2 } });
    const senders = ["a", "b", "c"].map((name) => g.channel(name).sender(() => name));
    const handle = g.router("r").handle(() => senders.map((send) => send()));
    expect(handle()).toEqual(["a", "b", "c"]);
    expect(links(g.graph)).toEqual({ "r -route-> a": 1, "r -route-> b": 1 });
    expect(g.graph.dropped).toEqual({ nodes: 0, links: 1 });
    expect(sends(g.graph, "c")).toEqual([1, 0]);
  });

  test("has a limit for all links together", () => {
    const g = integrationGraph({ app: "shop", limits: { maxLinks: 1 } });
    g.serviceActivator("a", { input: "in", output: "out" });
    expect(links(g.graph)).toEqual({ "in -input-> a": 0 });
    expect(nodeOf(g.graph, "a")).not.toHaveProperty("output");
    expect(g.graph.dropped.links).toBe(1);
  });

  test("does not change its structure by what it refuses", () => {
    const g = integrationGraph({ app: "shop", limits: { maxNodes: 1 } });
    g.channel("a");
    const { revision } = g.graph;
    g.serviceActivator("b", { input: "a" }).handle(() => {})();
    g.graph.observe({ name: "c", pattern: "message_channel" });
    expect(g.graph.revision).toBe(revision);
  });
});

test("a graph of 2,000 nodes is taken without a word, and the next node is dropped", () => {
  const g = integrationGraph({ app: "shop" });
  for (let index = 0; index <= 2_000; index++) g.channel(`c${index}`);
  expect(g.graph.snapshot().nodes).toHaveLength(2_000);
  expect(g.graph.dropped.nodes).toBe(1);
});

test("a graph of 2,000 nodes and 4,000 links is shown whole", () => {
  const g = integrationGraph({ app: "shop" });
  const name = (index: number) => `channel-${index % 1_000}`;
  for (let index = 0; index < 1_000; index++) {
    g.filter(`filter-${index}`, {
      input: name(index),
      output: name(index + 1),
      discard: name(index + 2),
      error: name(index + 3),
    });
  }
  const snapshot = g.graph.snapshot();
  expect(snapshot.nodes).toHaveLength(2_000);
  expect(snapshot.links).toHaveLength(4_000);
  const ids = new Set(snapshot.nodes.map(({ nodeId }) => nodeId));
  expect(ids.size).toBe(2_000);
  expect(snapshot.links.every(({ from, to }) => ids.has(from) && ids.has(to))).toBe(true);
  expect(g.graph.dropped).toEqual({ nodes: 0, links: 0 });
});
