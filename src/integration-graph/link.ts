import type { GraphNode } from "./node.ts";
import { isChannel, type PatternType } from "./pattern.ts";

/** The kinds of links, as the original's: see the notes on each in `proto/actuator/v3/integration_graph.proto`. */
export const LINK_TYPES = ["input", "output", "error", "discard", "route"] as const;

/** A kind of link. */
export type LinkType = (typeof LINK_TYPES)[number];

/** A way that messages take between two nodes of a graph. */
export class GraphLink {
  /** Another one where the node became one with it. */
  from: GraphNode;
  /** Another one where the node became one with it. */
  to: GraphNode;
  readonly type: LinkType;
  /** Who declared the link. Nobody did when it was only seen at run time. */
  readonly declarers = new Set<object>();
  /** Whether it left its graph with a node that was idle for long. It comes back with the next message. */
  dormant = false;
  /** Shared by links that became one, so that whoever kept either counts on both. */
  tally = { count: 0 };

  constructor(from: GraphNode, type: LinkType, to: GraphNode) {
    this.from = from;
    this.type = type;
    this.to = to;
  }

  get declared(): boolean {
    return this.declarers.size > 0;
  }

  /** How many messages were seen on this way. */
  get count(): number {
    return this.tally.count;
  }

  set count(count: number) {
    this.tally.count = count;
  }
}

interface LinkEnd {
  readonly name: string;
  readonly pattern: PatternType;
}

/** Throws a TypeError where links of this type do not lead from such a component to such a component. */
export function checkEnds(from: LinkEnd, type: LinkType, to: LinkEnd): void {
  const toChannel = type !== "input";
  // Between two channels only a broker leads: an exchange routes to queues and exchanges, a subject to streams, a stream to
  // those that mirror it; a queue has a dead-letter exchange.
  const fromFits = type === "route" || type === "error" || isChannel(from.pattern) !== toChannel;
  if (isChannel(to.pattern) !== toChannel || !fromFits) {
    throw new TypeError(`no "${type}" link can lead from ${from.pattern} "${from.name}" to ${to.pattern} "${to.name}"`);
  }
}
