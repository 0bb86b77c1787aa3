import { printable } from "../../common/printable.ts";
import type { GraphSnapshot, LinkSnapshot, NodeSnapshot } from "../snapshot.ts";
import { groupsOf } from "./groups.ts";
import { leftOutText, linkLabel, numberTexts, shortened } from "./labels.ts";

/** The limits of Mermaid in its default configuration. */
const MAX_LINKS = 500;
const MAX_TEXT = 50_000;
const MAX_LABEL = 64;

/**
 * Writes a graph as a Mermaid flowchart, which GitHub draws in Markdown: applications and brokers are subgraphs. Names are
 * escaped, so that they cannot be markup.
 *
 * @throws RangeError if the graph is larger than Mermaid draws: 500 links, 50,000 characters.
 * @example
 * await writeFile("graph.md", `\`\`\`mermaid\n${toMermaid(flow.graph.snapshot())}\`\`\`\n`);
 */
export function toMermaid(graph: GraphSnapshot): string {
  const ids = new Map(graph.nodes.map(({ nodeId }, index) => [nodeId, `n${index}`]));
  const links = graph.links.filter(({ from, to }) => ids.has(from) && ids.has(to));
  if (links.length > MAX_LINKS) throw tooLarge(`${links.length} links`, `${MAX_LINKS}`);
  const errors = links.flatMap(({ type }, index) => (type === "error" ? [index] : []));
  const stale = graph.nodes.filter((node) => node.stale).map(({ nodeId }) => ids.get(nodeId));
  const leftOut = leftOutText(graph.contentDescriptor);
  const text = [
    "flowchart LR",
    ...(leftOut === undefined ? [] : [`  leftOut["${escaped(leftOut)}"]`, "  style leftOut stroke-dasharray:4"]),
    ...groupsOf(graph).flatMap(({ title, nodes }, index) => {
      const lines = nodes.map((node) => `${ids.get(node.nodeId)}${shaped(node)}`);
      if (title === undefined) return lines.map((line) => `  ${line}`);
      const label = escaped(shortened(title, MAX_LABEL));
      return [`  subgraph g${index}["${label}"]`, ...lines.map((line) => `    ${line}`), "  end"];
    }),
    ...links.map((link) => `  ${ids.get(link.from)} ${arrow(link)} ${ids.get(link.to)}`),
    ...(errors.length > 0 ? [`  linkStyle ${errors.join(",")} stroke:#c53030`] : []),
    ...(stale.length > 0
      ? ["  classDef stale stroke-dasharray:4,color:#808080", `  class ${stale.join(",")} stale`]
      : []),
    "",
  ].join("\n");
  if (text.length > MAX_TEXT) throw tooLarge(`${text.length} characters of text`, MAX_TEXT.toLocaleString("en"));
  return text;
}

function tooLarge(size: string, limit: string): RangeError {
  return new RangeError(`the graph has ${size}, and Mermaid draws no more than ${limit}: use the format dot or svg`);
}

function shaped(node: NodeSnapshot): string {
  const lines = [node.name, `[${node.componentType}]`].map((text) => escaped(shortened(text, MAX_LABEL)));
  const label = `"${[...lines, ...numberTexts(node).map(({ text }) => escaped(text))].join("<br/>")}"`;
  const { integrationPatternType: pattern } = node;
  if (pattern === "publish_subscribe_channel") return `([${label}])`;
  if (pattern.endsWith("_channel")) return `[(${label})]`;
  if (pattern === "router" || pattern === "recipient_list_router") return `{{${label}}}`;
  return `[${label}]`;
}

const ARROWS: Readonly<Record<LinkSnapshot["type"], string>> = {
  input: "-->",
  output: "-->",
  route: "==>",
  error: "-.->",
  discard: "-.->",
};

function arrow(link: LinkSnapshot): string {
  const label = linkLabel(link);
  return label === "" ? ARROWS[link.type] : `${ARROWS[link.type]}|"${label}"|`;
}

/** Writes every character but plain ones as an entity: quotes, HTML and Markdown markup, and what begins an entity. */
function escaped(text: string): string {
  const entity = (character: string) => `#${character.codePointAt(0)};`;
  return printable(text)
    .replace(/[^\p{L}\p{N}\p{M} _.,:/-]/gu, entity)
    .replace(/^[-\d]/, entity);
}
