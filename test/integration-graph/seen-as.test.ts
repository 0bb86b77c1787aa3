import { describe, expect, it } from "vitest";
import type { NodeDeclaration } from "../../src/integration-graph/declaration.ts";
import { IntegrationGraph } from "../../src/integration-graph/graph.ts";

const QUEUE: NodeDeclaration = {
  name: "work",
  pattern: "message_channel",
  componentType: "amqp:queue",
  properties: { durable: true },
};

function shown(graph: IntegrationGraph) {
  const [node] = graph.snapshot().nodes;
  return { componentType: node?.componentType, properties: node?.properties };
}

describe("a component that was seen at run time", () => {
  it("is shown as what it was seen as, while nobody declares it", () => {
    const graph = new IntegrationGraph({ app: "shop" });
    graph.observe(QUEUE);
    expect(shown(graph)).toEqual({ componentType: "amqp:queue", properties: { durable: true } });
    graph.declare({ ...QUEUE, componentType: "declared", properties: {} });
    expect(shown(graph)).toEqual({ componentType: "declared", properties: {} });
  });

  it("is shown as that from then on where it was only referred to before", () => {
    const graph = new IntegrationGraph({ app: "shop" });
    graph.channel("work");
    const { revision } = graph;
    graph.observe(QUEUE);
    expect(graph.revision).toBeGreaterThan(revision);
    expect(shown(graph).componentType).toBe("amqp:queue");
  });

  it("does not change what it is by being seen again, or as something else", () => {
    const graph = new IntegrationGraph({ app: "shop" });
    graph.observe(QUEUE);
    const { revision } = graph;
    graph.observe({ ...QUEUE, componentType: "other" });
    graph.observe({ ...QUEUE, pattern: "publish_subscribe_channel", componentType: "other" });
    expect(graph.revision).toBe(revision);
    expect(shown(graph).componentType).toBe("amqp:queue");
    const declared = new IntegrationGraph({ app: "shop" });
    declared.declare({ name: "work", pattern: "pollable_channel" });
    declared.observe(QUEUE);
    expect(shown(declared)).toEqual({ componentType: "channel", properties: {} });
  });
});
