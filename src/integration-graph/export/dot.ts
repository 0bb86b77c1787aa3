import { printable } from "../../common/printable.ts";
import type { GraphSnapshot, LinkSnapshot, NodeSnapshot } from "../snapshot.ts";
import { type Group, groupsOf } from "./groups.ts";
import { hasFailures, leftOutText, linkLabel, numberTexts, shortened } from "./labels.ts";

/** The longest name in a picture; its tooltip has the whole name. */
const MAX_LABEL = 64;

/**
 * Writes a graph in the language of Graphviz, for `dot -Tsvg`: applications and brokers are clusters, failures are red, and what
 * is stale or was never used is grey. Names are escaped, so that they cannot be markup.
 *
 * @example
 * await writeFile("graph.dot", toDot(flow.graph.snapshot()));
 */
export function toDot(graph: GraphSnapshot): string {
  const ids = new Map(graph.nodes.map(({ nodeId }, index) => [nodeId, `n${index}`]));
  const links = graph.links.filter(({ from, to }) => ids.has(from) && ids.has(to));
  const leftOut = leftOutText(graph.contentDescriptor);
  return [
    `digraph ${quoted(graph.contentDescriptor.name ?? "integration graph")} {`,
    '  graph [rankdir="LR", fontname="Helvetica", fontsize="11", color="#b0b0b0", style="rounded"];',
    ...(leftOut === undefined ? [] : [`  label=${quoted(leftOut)};`]),
    '  node [fontname="Helvetica", fontsize="10", shape="box", style="rounded", color="#4a5568"];',
    '  edge [fontname="Helvetica", fontsize="9", color="#4a5568"];',
    ...groupsOf(graph).flatMap((group, index) => clusterLines(group, index, ids)),
    ...links.map((link) => `  ${ids.get(link.from)} -> ${ids.get(link.to)}${attributes(linkAttributes(link))};`),
    "}",
    "",
  ].join("\n");
}

function clusterLines({ title, nodes, kind }: Group, index: number, ids: ReadonlyMap<number, string>): string[] {
  const lines = nodes.map((node) => `${ids.get(node.nodeId)}${attributes(nodeAttributes(node))};`);
  if (title === undefined) return lines.map((line) => `  ${line}`);
  const label = `label=${quoted(shortened(title, MAX_LABEL))}`;
  const look = kind === "broker" ? 'bgcolor="#f4f4f4"' : 'bgcolor="#ffffff"';
  return [`  subgraph cluster_${index} {`, `    ${label}; ${look};`, ...lines.map((line) => `    ${line}`), "  }"];
}

type Attributes = Readonly<Record<string, string | undefined>>;

function nodeAttributes(node: NodeSnapshot): Attributes {
  const numbers = numberTexts(node).map(({ text }) => text);
  return {
    label: [shortened(node.name, MAX_LABEL), `[${shortened(node.componentType, MAX_LABEL)}]`, ...numbers]
      .map(escaped)
      .join("\\n"),
    tooltip: escaped(shortened(node.name, 1_000)),
    ...shapeOf(node),
    ...(hasFailures(node) && { color: "#c53030" }),
    ...(node.stale && { color: "#a0a0a0", fontcolor: "#808080", style: "dashed" }),
  };
}

function shapeOf({ integrationPatternType: pattern }: NodeSnapshot): Attributes {
  if (pattern === "publish_subscribe_channel") return { shape: "ellipse", style: "solid" };
  if (pattern.endsWith("_channel")) return { shape: "cylinder", style: "solid" };
  if (pattern === "router" || pattern === "recipient_list_router") return { shape: "hexagon", style: "solid" };
  return {};
}

/** Of each type of link but input and output. */
const LOOKS: { readonly [type: string]: Attributes } = {
  error: { color: "#c53030", fontcolor: "#c53030", style: "dashed" },
  discard: { style: "dashed" },
  route: { style: "bold" },
};

function linkAttributes(link: LinkSnapshot): Attributes {
  const { type, count } = link;
  const label = linkLabel(link);
  return {
    ...(label !== "" && { label: escaped(label) }),
    ...(count === 0 && type !== "error" && { color: "#a0a0a0" }),
    ...LOOKS[type],
  };
}

function attributes(values: Attributes): string {
  const entries = Object.entries(values).filter(([, value]) => value !== undefined);
  return entries.length === 0 ? "" : ` [${entries.map(([key, value]) => `${key}="${value}"`).join(", ")}]`;
}

function quoted(text: string): string {
  return `"${escaped(text)}"`;
}

/** Backslashes begin escapes in labels, and ampersands entities, even between quotes. */
function escaped(text: string): string {
  return printable(text).replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("&", "&amp;");
}
