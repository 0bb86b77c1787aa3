import {
  type GetIntegrationGraphResponse,
  type Link,
  Link_Type as LinkType,
  type Node,
} from "../gen/actuator/v3/integration_graph_pb.ts";
import { styled } from "./output.ts";
import { printable } from "./printable.ts";

type Graph = Pick<GetIntegrationGraphResponse, "nodes" | "links">;

/** What leads to a node, where that is not the plain way on. */
const WAYS: Readonly<Record<number, string>> = {
  [LinkType.ERROR]: "error",
  [LinkType.DISCARD]: "discard",
  [LinkType.ROUTE]: "route",
};

/**
 * The lines of a graph as a tree: what nothing leads to comes first, and beneath each node what it leads to. A node with
 * several ways to it is shown in full once, and by name elsewhere; so circles end. Each line is written once for each link.
 */
export function graphLines({ nodes, links }: Graph): string[] {
  const byId = new Map(nodes.map((node) => [node.nodeId, node]));
  const ways = Map.groupBy(
    links.filter(({ from, to }) => byId.has(from) && byId.has(to)),
    ({ from }) => from,
  );
  const reached = new Set(links.filter(({ from, to }) => from !== to).map(({ to }) => to));
  const shown = new Set<number>();
  const lines: string[] = [];

  /** Walks without recursion: a flow may be longer than the stack is deep. */
  function walk(start: Node): void {
    const open: { readonly node: Node; readonly link?: Link; readonly depth: number }[] = [{ node: start, depth: 0 }];
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      const { node, link, depth } = next;
      const again = shown.has(node.nodeId);
      shown.add(node.nodeId);
      const on = ways.get(node.nodeId) ?? [];
      lines.push("  ".repeat(depth) + wayText(link) + nodeText(node, again && on.length > 0));
      if (again) continue;
      for (const link of on.toReversed()) open.push({ node: byId.get(link.to)!, link, depth: depth + 1 });
    }
  }

  for (const node of nodes) if (!reached.has(node.nodeId)) walk(node);
  // What is left are circles that nothing leads into.
  for (const node of nodes) if (!shown.has(node.nodeId)) walk(node);
  return lines;
}

function wayText(link: Link | undefined): string {
  if (link === undefined) return "";
  const way = WAYS[link.type];
  return way === undefined ? "" : `${styled(link.type === LinkType.ERROR ? "red" : "dim", `${way}:`)} `;
}

function nodeText(node: Node, again: boolean): string {
  const name = `${printable(node.name)} ${styled("dim", `[${printable(node.componentType)}]`)}`;
  return again ? `${name} ${styled("dim", "(see above)")}` : [name, ...numbers(node)].join("  ");
}

function numbers({ sendTimers, receiveCounters }: Node): string[] {
  const parts: string[] = [];
  const { successes, failures } = sendTimers ?? {};
  if (successes !== undefined && successes.count > 0n) {
    parts.push(`${successes.count} ok, mean ${rounded(successes.mean)} ms, max ${rounded(successes.max)} ms`);
  }
  if (failures !== undefined && failures.count > 0n) parts.push(styled("red", `${failures.count} failed`));
  if (receiveCounters !== undefined && receiveCounters.successes + receiveCounters.failures > 0n) {
    parts.push(`${receiveCounters.successes} received`);
    if (receiveCounters.failures > 0n) parts.push(styled("red", `${receiveCounters.failures} receives failed`));
  }
  return parts;
}

function rounded(milliseconds: number): string {
  return milliseconds < 10 ? milliseconds.toFixed(2) : milliseconds.toFixed(0);
}
