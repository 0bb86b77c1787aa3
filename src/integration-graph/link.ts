import type { GraphNode } from "./node.ts";
import { isChannel, type PatternType } from "./pattern.ts";

/** The kinds of links, as the original's: see the notes on each in `proto/actuator/v3/integration_graph.proto`. */
export const LINK_TYPES = ["input", "output", "error", "discard", "route"] as const;

/** A kind of link. */
export type LinkType = (typeof LINK_TYPES)[number];

/** A way that messages take between two nodes of a graph. */
export class GraphLink {
  readonly from: GraphNode;
  readonly to: GraphNode;
  readonly type: LinkType;
  /** Who declared the link. Nobody did when it was only seen at run time. */
  readonly declarers = new Set<object>();
  /** How many messages were seen on this way. */
  count = 0;

  constructor(from: GraphNode, type: LinkType, to: GraphNode) {
    this.from = from;
    this.type = type;
    this.to = to;
  }

  get declared(): boolean {
    return this.declarers.size > 0;
  }
}

interface LinkEnd {
  readonly name: string;
  readonly pattern: PatternType;
}

/** Throws a TypeError where links of this type do not lead from such a component to such a component. */
export function checkEnds(from: LinkEnd, type: LinkType, to: LinkEnd): void {
  const toChannel = type !== "input";
  // Between two channels only a broker leads: an exchange routes to queues, a queue has a dead-letter exchange.
  const fromFits = type === "route" || type === "error" || isChannel(from.pattern) !== toChannel;
  if (isChannel(to.pattern) !== toChannel || !fromFits) {
    throw new TypeError(`no "${type}" link can lead from ${from.pattern} "${from.name}" to ${to.pattern} "${to.name}"`);
  }
}
