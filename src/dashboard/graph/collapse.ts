import type { Link, Node } from "../../gen/actuator/v3/integration_graph_pb.ts";
import { keyParts } from "../../integration-graph/node-id.ts";
import { type Card, type Path, type Picture, wayOf } from "./model.ts";
import { patternWords, systemName } from "./words.ts";

/** What nodes are collapsed by. */
export type Grouping = "application" | "broker" | "pattern";

export const GROUPINGS: readonly Grouping[] = ["application", "broker", "pattern"];

/** Above this many nodes, groups are collapsed before the layout. */
export const MAX_NODES = 300;

/**
 * The title of the group that each node belongs to; none if it has no such group. A channel belongs to the application that reads it, if
 * that is one alone, or else to the only one that writes it.
 */
function titlesOf(nodes: readonly Node[], links: Iterable<Link>, grouping: Grouping): ReadonlyMap<Node, string> {
  const titles = new Map<Node, string>();
  const put = (node: Node, title: string | undefined) => title !== undefined && titles.set(node, title);
  if (grouping === "application") {
    const byId = new Map(nodes.map((node) => [node.nodeId, node]));
    const [readers, writers] = [new Map<number, Set<string>>(), new Map<number, Set<string>>()];
    for (const { from, to } of links) {
      noteUser(readers, byId.get(from), byId.get(to));
      noteUser(writers, byId.get(to), byId.get(from));
    }
    for (const node of nodes) {
      const { app, system, broker } = keyParts(node.key);
      const own = app ?? (system === "node" ? broker : undefined);
      put(node, own ?? onlyOne(readers.get(node.nodeId)) ?? onlyOne(writers.get(node.nodeId)));
    }
  } else if (grouping === "broker") {
    for (const node of nodes) {
      const { system, broker } = keyParts(node.key);
      if (system !== undefined && system !== "node") put(node, `${systemName(system)} ${broker}`);
    }
  } else for (const node of nodes) put(node, patternWords(node));
  return titles;
}

function noteUser(users: Map<number, Set<string>>, channel: Node | undefined, user: Node | undefined): void {
  const app = user && keyParts(user.key).app;
  if (channel === undefined || app === undefined) return;
  const known = users.get(channel.nodeId);
  if (known === undefined) users.set(channel.nodeId, new Set([app]));
  else known.add(app);
}

function onlyOne(titles: ReadonlySet<string> | undefined): string | undefined {
  return titles?.size === 1 ? [...titles][0] : undefined;
}

/** The groups with more than one node by their titles, the largest first. */
export function groupsOf(
  nodes: readonly Node[],
  links: Iterable<Link>,
  grouping: Grouping,
): ReadonlyMap<string, readonly Node[]> {
  const groups = new Map<string, Node[]>();
  for (const [node, title] of titlesOf(nodes, links, grouping)) {
    const members = groups.get(title);
    if (members === undefined) groups.set(title, [node]);
    else members.push(node);
  }
  return new Map([...groups].filter(([, members]) => members.length > 1).sort(([, a], [, b]) => b.length - a.length));
}

/** Fewer cards than these say nothing about a system. */
const MIN_CARDS = 3;

/**
 * What to collapse by when there are too many nodes: the first of {@link GROUPINGS} that leaves few enough cards, but more than one or
 * two; if none does, what leaves the fewest.
 */
export function groupingFor(nodes: readonly Node[], links: readonly Link[]): Grouping | undefined {
  if (nodes.length <= MAX_NODES) return undefined;
  const left = GROUPINGS.map((grouping) => {
    let cards = nodes.length;
    for (const members of groupsOf(nodes, links, grouping).values()) cards -= members.length - 1;
    return { grouping, cards };
  });
  const fit = left.find(({ cards }) => cards >= MIN_CARDS && cards <= MAX_NODES);
  return (fit ?? left.sort((a, b) => a.cards - b.cards)[0])!.grouping;
}

/** What is drawn of `nodes`: `groups` of them as one card each, but those whose title is in `open`. */
export function pictureOf(
  nodes: readonly Node[],
  links: ReadonlyMap<string, Link>,
  { groups, open }: { readonly groups: ReadonlyMap<string, readonly Node[]>; readonly open: ReadonlySet<string> },
): Picture {
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
