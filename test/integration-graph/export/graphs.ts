import fc from "fast-check";
import { GraphBuilder } from "../../../src/integration-graph/builder.ts";
import { IntegrationGraph } from "../../../src/integration-graph/graph.ts";
import { mergeGraphs } from "../../../src/integration-graph/merge.ts";
import { channelKey, endpointKey } from "../../../src/integration-graph/node-id.ts";
import type { GraphSnapshot, NodeSnapshot } from "../../../src/integration-graph/snapshot.ts";

/** Names that mean something to DOT, HTML, Mermaid, Markdown or a terminal. */
export const HOSTILE_NAMES = [
  'a"b',
  "a\\",
  '\\"',
  "a\\nb\\lc\\N\\G",
  "line\nbreak\r\ttab",
  "<b>bold</b>",
  "<<table><tr><td>x</td></tr></table>>",
  "<script>alert(1)</script>",
  "&amp; &lt; &#65; &",
  "#quot; #35; #lt;",
  "a;b->c{d}[e]",
  "end",
  "graph",
  "%% comment",
  "`code`",
  "**bold** _it_",
  "1. list",
  "- list",
  "]) --> n0",
  "日本語 ünïcödé 🎉",
  "\u202eevil\u0000\u001b[31m",
  "\ud800",
  "javascript:alert(1)",
  "'",
  " ",
  "x".repeat(300),
] as const;

/** A graph as a server could answer it that keeps to nothing: every node has one of these names, and leads to the next. */
export function graphOfNames(names: readonly string[]): GraphSnapshot {
  const patterns = ["message_channel", "service_activator", "publish_subscribe_channel", "router"] as const;
  return {
    contentDescriptor: { provider: "p", providerVersion: "0", providerFormatVersion: 1, name: names[0]! },
    nodes: names.map(
      (name, index): NodeSnapshot => ({
        nodeId: index - 3,
        name,
        key: index % 2 === 0 ? channelKey(name, name, "queue", name) : endpointKey(name, "service_activator", name),
        componentType: name,
        integrationPatternType: patterns[index % patterns.length]!,
        integrationPatternCategory: "messaging_channel",
        properties: {},
        observed: true,
        rate: 0,
        stale: index % 5 === 0,
      }),
    ),
    links: names.map((_, index) => ({
      ...{ from: index - 3, to: ((index + 1) % names.length) - 3, count: index, declared: true },
      type: (["input", "output", "error", "discard", "route"] as const)[index % 5]!,
    })),
    revision: 1,
  };
}

export const anyName = fc.oneof(
  fc.string({ unit: "binary", minLength: 1, maxLength: 20 }),
  fc.constantFrom(...HOSTILE_NAMES),
);

/** Two applications, one of them with two instances, that meet at a broker. */
export function twoApplications(): GraphSnapshot {
  const orders = {
    name: "orders",
    pattern: "publish_subscribe_channel" as const,
    componentType: "kafka:topic",
    key: channelKey("kafka", "k1", "topic", "orders"),
  };
  const graphOf = (app: string, declare: (flow: GraphBuilder) => void) => {
    const flow = new GraphBuilder(new IntegrationGraph({ app }));
    declare(flow);
    return flow.graph.snapshot();
  };
  const shop = graphOf("shop", ({ graph }) => {
    const gateway = graph.declare({ name: "POST /orders", pattern: "inbound_gateway" });
    graph.link(gateway, "output", graph.declare(orders))!.count = 40;
  });
  const billing = graphOf("billing", ({ graph }) => {
    const bill = graph.observe({ name: "bill", pattern: "service_activator" });
    for (const failed of [false, false, true]) bill.sends[failed ? "failures" : "successes"].record(0, 4);
    graph.link(graph.declare(orders), "input", bill)!.count = 3;
  });
  const idle = graphOf("billing", ({ graph }) => {
    graph.observe({ name: "nightly", pattern: "inbound_channel_adapter" });
  });
  const atRest = { ...billing, nodes: billing.nodes.map((node) => ({ ...node, rate: node.rate && 0.05 })) };
  return mergeGraphs([
    { instance: "shop-1", graph: shop },
    { instance: "billing-1", graph: atRest },
    { instance: "billing-2", graph: idle },
  ]);
}
