import { printable } from "../../common/printable.ts";
import { keyParts } from "../node-id.ts";
import type { GraphSnapshot, LinkSnapshot, NodeSnapshot } from "../snapshot.ts";
import { instancesOfApplications } from "./groups.ts";
import { leftOutText, numberTexts } from "./labels.ts";

/** The parts of a line that may be emphasised. */
export type TextPart = "failure" | "aside";

/** Options of {@link toText}. */
export interface TextOptions {
  /** Emphasises a part of a line, such as with colours of a terminal. Default: no emphasis. */
  readonly style?: (part: TextPart, text: string) => string;
}

/**
 * Writes a graph as an indented tree: nodes without incoming links first, and below each node those it leads to. A node with
 * several incoming links is written in full once and by name elsewhere, so that circles end. Each link is one line. No line
 * has control characters besides those that `style` adds.
 *
 * @example
 * console.log(toText(flow.graph.snapshot()));
 */
export function toText(graph: GraphSnapshot, { style = (_, text) => text }: TextOptions = {}): string {
  const { nodes } = graph;
  const byId = new Map(nodes.map((node) => [node.nodeId, node]));
  const links = graph.links.filter(({ from, to }) => byId.has(from) && byId.has(to));
  const ways = Map.groupBy(links, ({ from }) => from);
  const reached = new Set(links.filter(({ from, to }) => from !== to).map(({ to }) => to));
  const describe = describer(graph, style);
  const shown = new Set<number>();
  const lines: string[] = [];

  /** Without recursion, since a flow may be longer than the stack is deep. */
  function walk(start: NodeSnapshot): void {
    const open: { readonly node: NodeSnapshot; readonly link?: LinkSnapshot; readonly depth: number }[] = [
      { node: start, depth: 0 },
    ];
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      const { node, link, depth } = next;
      const again = shown.has(node.nodeId);
      shown.add(node.nodeId);
      const on = ways.get(node.nodeId) ?? [];
      lines.push("  ".repeat(depth) + wayText(link, style) + describe(node, again && on.length > 0));
      if (again) continue;
      for (const link of on.toReversed()) open.push({ node: byId.get(link.to)!, link, depth: depth + 1 });
    }
  }

  for (const node of nodes) if (!reached.has(node.nodeId)) walk(node);
  // The rest are circles without incoming links.
  for (const node of nodes) if (!shown.has(node.nodeId)) walk(node);
  const leftOut = leftOutText(graph.contentDescriptor);
  if (leftOut !== undefined) lines.push(style("aside", `(${leftOut})`));
  return lines.map((line) => `${line}\n`).join("");
}

/** Emphasises a part of a line. */
export type Style = NonNullable<TextOptions["style"]>;

/** The type of the link to a node, unless it is an input or output. */
function wayText(link: LinkSnapshot | undefined, style: Style): string {
  if (link === undefined || link.type === "input" || link.type === "output") return "";
  return `${style(link.type === "error" ? "failure" : "aside", `${link.type}:`)} `;
}

function describer(graph: GraphSnapshot, style: Style): (node: NodeSnapshot, again: boolean) => string {
  const applications = instancesOfApplications(graph);
  const several = applications.size > 1;

  function remarks(node: NodeSnapshot): string[] {
    const { app, system, broker } = keyParts(node.key);
    const where = system === undefined ? app : `${system} ${broker}`;
    const all = applications.get(app ?? "")?.size ?? 0;
    const instances = node.instances?.length ?? 0;
    return [
      ...(several && where !== undefined ? [`of ${printable(where)}`] : []),
      ...(instances > 0 && instances < all ? [`in ${instances} of ${all} instances`] : []),
      ...(node.stale ? ["stale"] : []),
    ];
  }

  return (node, again) => {
    return again ? `${nodeName(node, style)} ${style("aside", "(see above)")}` : nodeText(node, style, remarks(node));
  };
}

/** Writes one node with its numbers and remarks, without control characters. */
export function nodeText(node: NodeSnapshot, style: Style, remarks = node.stale ? ["stale"] : []): string {
  const name = nodeName(node, style);
  const numbers = numberTexts(node).map(({ text, failure }) => (failure ? style("failure", text) : text));
  return [remarks.length === 0 ? name : `${name} ${style("aside", `(${remarks.join(", ")})`)}`, ...numbers].join("  ");
}

function nodeName(node: NodeSnapshot, style: Style): string {
  return `${printable(node.name)} ${style("aside", `[${printable(node.componentType)}]`)}`;
}
