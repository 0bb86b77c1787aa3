import type { Link, Node } from "../../gen/actuator/v3/integration_graph_pb.ts";
import { keyParts } from "../../integration-graph/node-id.ts";
import { type Card, type Path, type Picture, wayOf } from "./model.ts";
import { patternWords, systemName } from "./words.ts";

/** What nodes are collapsed by. */
export type Grouping = "application" | "broker" | "pattern";

export const GROUPINGS: readonly Grouping[] = ["application", "broker", "pattern"];

/** Above this many nodes, groups are collapsed before the layout. */
export const MAX_NODES = 300;

/** The title of the group that a node belongs to; undefined: none. */
export function groupOf(node: Node, grouping: Grouping): string | undefined {
  if (grouping === "pattern") return patternWords(node);
  const { app, system, broker } = keyParts(node.key);
  if (grouping === "application") return app ?? (system === "node" ? broker : undefined);
  return system === undefined || system === "node" ? undefined : `${systemName(system)} ${broker}`;
}

/** The titles of the groups with more than one node, the largest first. */
export function groupsOf(nodes: Iterable<Node>, grouping: Grouping): ReadonlyMap<string, readonly Node[]> {
  const groups = new Map<string, Node[]>();
  for (const node of nodes) {
    const title = groupOf(node, grouping);
    if (title === undefined) continue;
    const members = groups.get(title);
    if (members === undefined) groups.set(title, [node]);
    else members.push(node);
  }
  return new Map([...groups].filter(([, members]) => members.length > 1).sort(([, a], [, b]) => b.length - a.length));
}

/**
 * What to collapse by when there are too many nodes: what leaves the most cards of those that leave few enough; if none does, what
 * leaves the fewest.
 */
export function groupingFor(nodes: readonly Node[]): Grouping | undefined {
  if (nodes.length <= MAX_NODES) return undefined;
  const left = GROUPINGS.map((grouping) => {
    let cards = nodes.length;
    for (const members of groupsOf(nodes, grouping).values()) cards -= members.length - 1;
    return { grouping, cards };
  });
  const few = left.filter(({ cards }) => cards <= MAX_NODES).sort((a, b) => b.cards - a.cards);
  return (few[0] ?? left.sort((a, b) => a.cards - b.cards)[0])!.grouping;
}

/** What is drawn of `nodes`. Groups whose title is in `open` are not collapsed. */
export function pictureOf(
  nodes: readonly Node[],
  links: ReadonlyMap<string, Link>,
  { grouping, open }: { readonly grouping: Grouping | undefined; readonly open: ReadonlySet<string> },
): Picture {
  const groups = grouping === undefined ? new Map<string, readonly Node[]>() : groupsOf(nodes, grouping);
  const cardOf = new Map<number, string>();
  const cards: Card[] = [];
  for (const [title, members] of groups) {
    if (open.has(title)) continue;
    const id = `group:${title}`;
    for (const { nodeId } of members) cardOf.set(nodeId, id);
    cards.push({ id, title, isGroup: true, nodes: members });
  }
  for (const node of nodes) {
    if (cardOf.has(node.nodeId)) continue;
    cardOf.set(node.nodeId, String(node.nodeId));
    cards.push({ id: String(node.nodeId), title: node.name, isGroup: false, nodes: [node] });
  }
  const paths = new Map<string, Path & { links: string[] }>();
  for (const [key, link] of links) {
    const [from, to, way] = [cardOf.get(link.from), cardOf.get(link.to), wayOf(link)];
    // Within a collapsed group nothing is drawn.
    if (from === undefined || to === undefined || (from === to && link.from !== link.to)) continue;
    if (from === to && from.startsWith("group:")) continue;
    const id = `${from} ${way} ${to}`;
    const path = paths.get(id);
    if (path === undefined) paths.set(id, { id, from, to, way, links: [key] });
    else path.links.push(key);
  }
  return { cards, paths: [...paths.values()] };
}

/** The ids of the nodes at most `depth` links away from those of `from`, in either direction. */
export function nodesNear(from: Iterable<number>, depth: number, links: Iterable<Link>): ReadonlySet<number> {
  const neighbours = new Map<number, number[]>();
  const join = (one: number, other: number) => {
    const known = neighbours.get(one);
    if (known === undefined) neighbours.set(one, [other]);
    else known.push(other);
  };
  for (const link of links) {
    join(link.from, link.to);
    join(link.to, link.from);
  }
  const found = new Set(from);
  let edge = [...found];
  for (let step = 0; step < depth; step++) {
    edge = edge.flatMap((id) => neighbours.get(id) ?? []).filter((id) => !found.has(id) && found.add(id));
  }
  return found;
}
