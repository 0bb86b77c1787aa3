import { describe, expect, test } from "vitest";
import { GraphBuilder } from "../../src/integration-graph/builder.ts";
import { IntegrationGraph } from "../../src/integration-graph/graph.ts";
import { watchedAgain, watchedGraph } from "../../src/integration-graph/watched-graph.ts";

function setUp() {
  let passed = 0;
  const graph = new IntegrationGraph(
    { app: "shop", onSourceError: () => {} },
    { clock: () => performance.now() + passed },
  );
  const flow = new GraphBuilder(graph);
  const send = flow.channel("orders").sender(() => {});
  flow.serviceActivator("bill", { input: "orders", output: "paid" });
  let state = watchedGraph(graph.snapshot());
  return {
    flow,
    graph,
    send,
    pass: (seconds: number) => {
      passed += seconds * 1_000;
    },
    /** What is news, by name. */
    look() {
      const before = state;
      state = watchedAgain(before, graph.snapshot());
      const news = <S>(list: readonly { subject: S; version: number }[]) =>
        list.filter(({ version }) => version > before.version).map(({ subject }) => subject);
      return {
        same: state === before,
        nodes: news(state.nodes).map(({ name }) => name),
        links: news(state.links).map(({ type }) => type),
        removedNodes: news(state.removedNodes),
        removedLinks: news(state.removedLinks).map(({ type }) => type),
        state,
      };
    },
  };
}

test("where nothing changes there is no news, and nothing is made", () => {
  const { look } = setUp();
  expect(look()).toMatchObject({ same: true, nodes: [], links: [] });
});

test("a message is news of its channel only", () => {
  const { look, send } = setUp();
  send();
  expect(look()).toMatchObject({ same: false, nodes: ["orders"], links: [] });
  expect(look().same).toBe(true);
});

describe("a rate", () => {
  test("that falls is news when it is off by a fifth, and when it comes to rest", () => {
    const { look, send, pass } = setUp();
    send();
    look();
    pass(13);
    expect(look().same).toBe(true);
    pass(1);
    expect(look().nodes).toEqual(["orders"]);
    pass(600);
    expect(look().nodes).toEqual(["orders"]);
    pass(600);
    expect(look().same).toBe(true);
  });
});

test("a source that is out of reach, and back, is news of its nodes", async () => {
  const { look, graph } = setUp();
  let reachable = true;
  await graph.addSource({
    name: "broker",
    read() {
      if (!reachable) throw new Error("out of reach");
      return { nodes: [{ name: "audit", pattern: "message_channel" }], links: [] };
    },
  });
  look();
  reachable = false;
  await graph.rebuild();
  expect(look().nodes).toEqual(["audit"]);
  expect(look().same).toBe(true);
  reachable = true;
  await graph.rebuild();
  expect(look().nodes).toEqual(["audit"]);
});

test("what goes is told until it comes back", () => {
  const { look, flow, graph } = setUp();
  const { id } = graph.find("bill")!;
  graph.remove(graph.find("bill")!);
  expect(look()).toMatchObject({ removedNodes: [id], removedLinks: ["input", "output"], nodes: [] });
  flow.serviceActivator("bill", { input: "orders" });
  const back = look();
  expect(back).toMatchObject({ nodes: ["bill"], links: ["input"], removedNodes: [], removedLinks: [] });
  expect(back.state.removedNodes).toEqual([]);
  expect(back.state.removedLinks.map(({ subject }) => subject.type)).toEqual(["output"]);
});

test("a node that changes its fields is news, properties and all", () => {
  const { look, flow } = setUp();
  flow.channel("orders", { properties: { durable: true } });
  expect(look().nodes).toEqual(["orders"]);
  flow.channel("orders", { properties: { durable: true } });
  expect(look().nodes).toEqual([]);
  flow.serviceActivator("bill", { error: "failed" });
  expect(look()).toMatchObject({ nodes: ["bill", "failed"], links: ["error"] });
});
