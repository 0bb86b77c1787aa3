import { describe, expect, test } from "vitest";
import { type GraphBuilder, integrationGraph } from "../../src/integration-graph/builder.ts";
import type { Component } from "../../src/integration-graph/component.ts";
import { LINK_TYPES, type LinkType } from "../../src/integration-graph/link-type.ts";
import type { AnyOptions } from "../../src/integration-graph/options.ts";
import { PATTERN_TRAITS, PATTERNS, type PatternType } from "../../src/integration-graph/pattern.ts";

type Numbers = "send" | "receive" | "both" | "none";
type Row = readonly [pattern: PatternType, componentType: string, numbers: Numbers, options: readonly Option[]];
type Option = "input" | "output" | "error" | "discard" | "routes" | "default";

const replying = ["input", "output", "error"] as const;
const discarding = ["input", "output", "error", "discard"] as const;
const routing = ["input", "default", "error", "routes"] as const;

/** Every pattern, by the category it belongs to. What it shows and may be linked with is what the original has. */
const table: { readonly [category: string]: readonly Row[] } = {
  messaging_channel: [
    ["message_channel", "channel", "send", []],
    ["publish_subscribe_channel", "publish-subscribe-channel", "send", []],
    ["executor_channel", "channel", "send", []],
    ["pollable_channel", "channel", "both", []],
    ["reactive_channel", "channel", "send", []],
    ["null_channel", "null-channel", "both", []],
  ],
  messaging_endpoint: [
    ["service_activator", "service-activator", "send", replying],
    ["outbound_channel_adapter", "outbound-channel-adapter", "send", ["input", "error"]],
    ["inbound_channel_adapter", "inbound-channel-adapter", "receive", ["output", "error"]],
    ["outbound_gateway", "outbound-gateway", "send", replying],
    ["inbound_gateway", "gateway", "none", ["output", "error"]],
    ["bridge", "bridge", "send", replying],
  ],
  message_routing: [
    ["splitter", "splitter", "send", discarding],
    ["filter", "filter", "send", discarding],
    ["aggregator", "aggregator", "send", discarding],
    ["resequencer", "resequencer", "send", discarding],
    ["barrier", "barrier", "send", discarding],
    ["chain", "chain", "send", replying],
    ["scatter_gather", "scatter-gather", "send", replying],
    ["delayer", "delayer", "send", replying],
    ["router", "router", "send", routing],
    ["recipient_list_router", "recipient-list-router", "send", routing],
  ],
  message_transformation: [
    ["transformer", "transformer", "send", replying],
    ["header_enricher", "header-enricher", "send", replying],
    ["content_enricher", "content-enricher", "send", replying],
    ["header_filter", "header-filter", "send", replying],
    ["claim_check_in", "claim-check-in", "send", replying],
    ["claim_check_out", "claim-check-out", "send", replying],
  ],
  system_management: [
    ["control_bus", "control-bus", "send", replying],
    ["message_store", "message-store", "none", []],
  ],
};

const rows = Object.entries(table).flatMap(([category, patterns]) =>
  patterns.map(([pattern, componentType, numbers, options]) => ({
    category,
    pattern,
    componentType,
    numbers,
    options,
    method: pattern.replace(/_./g, ([, letter]) => letter!.toUpperCase()),
  })),
);

/** What each option becomes: a link, and a field of the node. */
const optionTable: { readonly [O in Option]: { readonly type: LinkType; readonly field: string } } = {
  input: { type: "input", field: "input" },
  output: { type: "output", field: "output" },
  default: { type: "output", field: "output" },
  error: { type: "error", field: "errors" },
  discard: { type: "discard", field: "discards" },
  routes: { type: "route", field: "routes" },
};

test("the table names every pattern and every type of link", () => {
  expect(rows.map(({ pattern }) => pattern)).toEqual(Object.values(PATTERNS).flat());
  expect(Object.keys(table)).toEqual(Object.keys(PATTERNS));
  expect(new Set(Object.values(optionTable).map(({ type }) => type))).toEqual(new Set(LINK_TYPES));
});

describe.each(rows)("$method", ({ method, category, pattern, componentType, numbers, options }) => {
  test(`declares a ${pattern}`, () => {
    const builder = integrationGraph({ app: "shop" });
    const component = declare(builder, method, "it");
    expect(component.name).toBe("it");
    expect(builder.graph.snapshot().nodes).toEqual([
      {
        nodeId: component.node.id,
        name: "it",
        componentType,
        integrationPatternType: pattern,
        integrationPatternCategory: category,
        properties: {},
        observed: false,
        key: component.node.key,
        rate: 0,
        stale: false,
        ...((numbers === "send" || numbers === "both") && { sendTimers: { successes: none, failures: none } }),
        ...((numbers === "receive" || numbers === "both") && { receiveCounters: { successes: 0, failures: 0 } }),
        ...(options.includes("routes") && { routes: [] }),
        ...(pattern === "chain" && { handlers: [] }),
      },
    ]);
  });

  test("takes another component type and properties", () => {
    const builder = integrationGraph({ app: "shop" });
    declare(builder, method, "it", { componentType: "kafka-consumer", properties: { partitions: [1, 2] } });
    expect(builder.graph.snapshot().nodes[0]).toMatchObject({
      componentType: "kafka-consumer",
      properties: { partitions: [1, 2] },
    });
  });

  test.each(Object.keys(optionTable) as Option[])("links %s where the pattern has it, and only there", (option) => {
    const builder = integrationGraph({ app: "shop" });
    const value = option === "routes" ? ["there"] : "there";
    const { type, field } = optionTable[option];
    if (!PATTERN_TRAITS[pattern].links.includes(type)) {
      expect(options).not.toContain(option);
      expect(() => declare(builder, method, "it", { [option]: value })).toThrow(
        `"it" is a ${pattern} and has no "${option}"`,
      );
      expect(builder.graph.snapshot().nodes).toEqual([]);
      return;
    }
    const { node } = declare(builder, method, "it", { [option]: value });
    const { nodes, links } = builder.graph.snapshot();
    expect(nodes.find(({ name }) => name === "it")).toMatchObject({ [field]: value });
    const there = builder.graph.find("there")!.id;
    const [from, to] = type === "input" ? [there, node.id] : [node.id, there];
    expect(links).toEqual([{ from, to, type, count: 0, declared: true }]);
  });
});

test.each([
  ["channel", "message_channel"],
  ["gateway", "inbound_gateway"],
])("%s is short for the method of %s", (method, pattern) => {
  const builder = integrationGraph({ app: "shop" });
  declare(builder, method, "it");
  expect(builder.graph.snapshot().nodes[0]).toMatchObject({ integrationPatternType: pattern });
});

const none = { count: 0, mean: 0, max: 0 };

function declare(builder: GraphBuilder, method: string, name: string, options?: AnyOptions): Component {
  const methods = builder as unknown as { [method: string]: (name: string, options?: AnyOptions) => Component };
  return methods[method]!(name, options);
}
