import { describe, expect, test } from "vitest";
import type { GraphHost } from "../../src/integration-graph/adapter.ts";
import { integrationGraph } from "../../src/integration-graph/builder.ts";
import type { GraphLimits } from "../../src/integration-graph/elements.ts";
import { channelKey } from "../../src/integration-graph/node-id.ts";
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

describe("in a graph that is full", () => {
  /** A graph, and the host of an adapter. */
  function setUp(limits: GraphLimits) {
    const flow = integrationGraph({ app: "shop", limits });
    let host!: GraphHost;
    flow.attach({
      name: "library",
      attach(given) {
        host = given;
        return () => {};
      },
    });
    const queue = (name: string) =>
      ({ name, pattern: "message_channel", key: channelKey("rabbitmq", "main", "queue", name) }) as const;
    const names = () => flow.graph.snapshot().nodes.map(({ name }) => name);
    return { flow, graph: flow.graph, host, queue, names };
  }

  test("what adapters declare takes the place of what was seen, and what the application declares that of both", () => {
    const { flow, graph, host, queue, names } = setUp({ maxNodes: 3 });
    for (const name of ["seen", "later"]) host.observe(queue(name));
    host.declare(queue("asserted"));
    host.declare(queue("bound"));
    expect(names()).toEqual(["later", "asserted", "bound"]);
    for (const name of ["a", "b"]) flow.channel(name);
    expect(names()).toHaveLength(3);
    expect(names()).toEqual(expect.arrayContaining(["a", "b"]));
    expect(graph.dropped.nodes).toBe(3);
    host.declare(queue("another"));
    host.observe(queue("more"));
    expect(names()).not.toContain("more");
    flow.channel("c");
    flow.channel("d");
    expect(names()).toEqual(["a", "b", "c"]);
  });

  test("so do links, those with the fewest messages first, and a link that was refused costs no more than once", () => {
    const { flow, graph, host, queue } = setUp({ maxLinksPerNode: 2 });
    const [one, other, third] = ["one", "other", "third"].map((name) => host.observe(queue(name)));
    const router = flow.router("r");
    router.handle(() => {
      for (const node of [one!, one!, other!]) host.sent(node, { start: 1, end: 2 });
      for (let message = 0; message < 5; message++) host.sent(third!, { start: 1, end: 2 });
    })();
    expect(links(graph)).toEqual({ "r -route-> one": 2, "r -route-> other": 1 });
    expect(graph.dropped.links).toBe(1);
    flow.router("r", { routes: ["declared"] });
    expect(links(graph)).toEqual({ "r -route-> one": 2, "r -route-> declared": 0 });
    expect(sends(graph, "third")).toEqual([5, 0]);
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
