import type { ChainHandler, NodeDeclaration } from "./declaration.ts";
import type { GraphLink, LinkType } from "./link.ts";
import { defaultComponentType, type PatternType } from "./pattern.ts";
import type { Properties } from "./properties.ts";
import { ReceiveCounters, SendTimers } from "./statistics.ts";

/** One component of a graph, with its statistics. The graph makes it; others read it and record into its statistics. */
export class GraphNode {
  readonly id: number;
  readonly key: string;
  readonly name: string;
  pattern: PatternType;
  /** Whether it is a node of its graph: not where the graph was full, nor after it was removed. */
  attached = false;
  /** Whether statistics are taken. */
  observed = false;
  /** Whether a declaration names this node as its channel. Such a node does not age. */
  referenced = false;
  /** When it became a node, as a reading of `performance.now()`. */
  readonly since: number;
  /** What each declarer says of it. Nobody does where the node was only referred to, or seen at run time. */
  readonly declarations = new Map<object, NodeDeclaration>();
  readonly incoming = new Set<GraphLink>();
  readonly outgoing = new Set<GraphLink>();
  readonly sends = new SendTimers();
  readonly receives = new ReceiveCounters();
  /** The link that a message takes from here to a channel, found before. Emptied when links change. */
  readonly ways = new Map<GraphNode, GraphLink>();

  constructor(id: number, key: string, name: string, pattern: PatternType, since: number) {
    this.id = id;
    this.key = key;
    this.name = name;
    this.pattern = pattern;
    this.since = since;
  }

  get declared(): boolean {
    return this.declarations.size > 0;
  }

  /** The first that declares a component type names it. */
  get componentType(): string {
    for (const { componentType } of this.declarations.values()) if (componentType !== undefined) return componentType;
    return defaultComponentType(this.pattern);
  }

  get properties(): Properties {
    const declared = [...this.declarations.values()].map(({ properties }) => properties ?? {});
    return declared.length === 1 ? declared[0]! : Object.fromEntries(declared.flatMap(Object.entries));
  }

  get handlers(): readonly ChainHandler[] | undefined {
    for (const { handlers } of this.declarations.values()) if (handlers !== undefined) return handlers;
    return undefined;
  }

  /** The link from here to `to` of this type. */
  linkTo(type: LinkType, to: GraphNode): GraphLink | undefined {
    for (const link of this.outgoing) if (link.to === to && link.type === type) return link;
    return undefined;
  }

  /** When a message was last seen here, as a reading of `performance.now()`. */
  get lastSeen(): number {
    const { sends, receives } = this;
    return Math.max(
      this.since,
      sends.successes.last,
      sends.failures.last,
      receives.successes.last,
      receives.failures.last,
    );
  }
}
