import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { integrationGraphJson } from "../../src/http/rest/integration-graph.ts";
import { integrationGraph } from "../../src/integration-graph/builder.ts";
import { declareRecordedGraph } from "./recorded-graph.ts";

interface RecordedNode {
  readonly nodeId: number;
  readonly name: string;
  readonly [field: string]: unknown;
}

const recorded: {
  readonly nodes: readonly RecordedNode[];
  readonly links: readonly { readonly from: number; readonly to: number; readonly type: string }[];
} = JSON.parse(readFileSync(new URL("fixtures/spring-graph-recorded.json", import.meta.url), "utf8"));

const builder = integrationGraph({ app: "recorded" });
declareRecordedGraph(builder);
const declared: typeof recorded = JSON.parse(integrationGraphJson(builder.graph.snapshot()));

describe("the builder declares the graph that the original was recorded with", () => {
  test("with all of its nodes, in its order", () => {
    expect(declared.nodes.map(({ name }) => name)).toEqual(recorded.nodes.map(({ name }) => name));
    expect(declared.nodes).toHaveLength(68);
  });

  test.each(recorded.nodes)("$name has the same fields", (node) => {
    expect(withoutNumbers(declared.nodes.find(({ name }) => name === node.name)!)).toEqual(withoutNumbers(node));
  });

  test("with all of its links", () => {
    expect(linkNames(declared)).toEqual(linkNames(recorded));
    expect(declared.links).toHaveLength(70);
  });
});

/** Ids apart, and numbers only by their shape: which a node has, and with which keys. */
function withoutNumbers({ nodeId, ...node }: RecordedNode): unknown {
  return JSON.parse(JSON.stringify(node), (_, value) => (typeof value === "number" ? "number" : value));
}

function linkNames({ nodes, links }: typeof recorded): string[] {
  const names = new Map(nodes.map(({ nodeId, name }) => [nodeId, name]));
  return links.map(({ from, to, type }) => `${names.get(from)} -${type}-> ${names.get(to)}`).sort();
}
