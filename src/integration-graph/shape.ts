import type { LinkType } from "./link-type.ts";
import type { GraphLink, GraphNode } from "./node.ts";
import { PATTERN_TRAITS, patternCategory } from "./pattern.ts";
import type { LinkSnapshot, NodeSnapshot } from "./snapshot.ts";

/** What of a node stays the same from one revision to the next. */
type NodeShape = Omit<NodeSnapshot, "rate" | "stale">;

/** What of a graph stays the same from one revision to the next; the numbers are filled in when a snapshot is taken. */
export interface Shape {
  readonly nodes: readonly { readonly node: GraphNode; readonly shape: NodeShape }[];
  readonly links: readonly GraphLink[];
}

/** The structure of nodes and their links, both in the order in which they became known. */
export function shapeOf(nodes: Iterable<GraphNode>, links: Iterable<GraphLink>): Shape {
  return { nodes: Array.from(nodes, (node) => ({ node, shape: nodeShape(node) })), links: [...links] };
}

/** What numbers are seen against. */
export interface Moment {
  /** A reading of `performance.now()`. */
  readonly now: number;
  /** Turns such a reading into milliseconds since the epoch. */
  readonly wallTime: (reading: number) => number;
  /** The declarers that could not be read when they were last asked. */
  readonly outOfReach: ReadonlySet<object>;
}

/** The nodes with their numbers as they are now. */
export function nodeSnapshots({ nodes }: Shape, { now, wallTime, outOfReach }: Moment): NodeSnapshot[] {
  return nodes.map(({ node, shape }) => {
    const { sendTimers, receiveCounters } = PATTERN_TRAITS[node.pattern];
    const { sends, receives, lastMessage } = node;
    return {
      ...shape,
      rate: lastMessage === 0 ? 0 : node.rate(now),
      stale: outOfReach.size > 0 && isStale(node, outOfReach),
      ...(lastMessage > 0 && { lastSeenTime: wallTime(lastMessage) }),
      ...(sendTimers && { sendTimers: { successes: sends.successes.snapshot(), failures: sends.failures.snapshot() } }),
      ...(receiveCounters && {
        receiveCounters: { successes: receives.successes.snapshot(), failures: receives.failures.snapshot() },
      }),
    };
  });
}

/** The links with their counts as they are now. */
export function linkSnapshots({ links }: Shape): LinkSnapshot[] {
  return links.map(({ from, to, type, tally, declared }) => ({
    from: from.id,
    to: to.id,
    type,
    count: tally.count,
    declared,
  }));
}

/**
 * The fields that name channels say the same as the links and are made of them, so the two never disagree. Where
 * several links share a type, the field names the one that was declared first.
 */
function nodeShape(node: GraphNode): NodeShape {
  const { pattern } = node;
  const isRouter = PATTERN_TRAITS[pattern].links.includes("route");
  const routes = [...node.outgoing].filter(({ type }) => type === "route").map(({ to }) => to.name);
  return {
    nodeId: node.id,
    componentType: node.componentType,
    integrationPatternType: pattern,
    integrationPatternCategory: patternCategory(pattern),
    properties: node.properties,
    name: node.name,
    observed: node.observed,
    key: node.key,
    ...named("input", first(node.incoming, "input")?.from),
    ...named("output", first(node.outgoing, "output")?.to),
    ...named("errors", first(node.outgoing, "error")?.to),
    ...named("discards", first(node.outgoing, "discard")?.to),
    ...((isRouter || routes.length > 0) && { routes }),
    ...((pattern === "chain" || node.handlers !== undefined) && { handlers: node.handlers ?? [] }),
  };
}

function isStale({ declared, declarers }: GraphNode, outOfReach: ReadonlySet<object>): boolean {
  return declared && [...declarers].every((declarer) => outOfReach.has(declarer));
}

function named<F extends string>(field: F, channel: GraphNode | undefined): { readonly [K in F]?: string } {
  return channel === undefined ? {} : ({ [field]: channel.name } as { [K in F]: string });
}

function first(links: Iterable<GraphLink>, type: LinkType): GraphLink | undefined {
  let seen: GraphLink | undefined;
  for (const link of links) {
    if (link.type !== type) continue;
    if (link.declared) return link;
    seen ??= link;
  }
  return seen;
}
