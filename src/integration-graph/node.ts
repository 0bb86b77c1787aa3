import { isDeepStrictEqual } from "node:util";
import { ContextValue } from "./context-frames.ts";
import type { ChainHandler, NodeDeclaration } from "./declaration.ts";
import type { LinkType } from "./link-type.ts";
import { defaultComponentType, type PatternType } from "./pattern.ts";
import type { Properties } from "./properties.ts";
import { ReceiveCounters, SendTimers } from "./statistics.ts";

/** One component of a graph, with its statistics. The graph makes it; others read it and record into its statistics. */
export class GraphNode {
  /** Follows from the key. */
  id: number;
  /** Another one once the broker of a channel is known by its own name. */
  key: string;
  readonly name: string;
  pattern: PatternType;
  /** Whether it is a node of its graph: not where the graph was full, nor after it was removed. */
  attached = false;
  /** Whether it left its graph because it was idle for long, or found it full. It comes back with the next message. */
  dormant = false;
  /** The links that come back with it. */
  readonly asleep: GraphLink[] = [];
  /** The node that this one became one with. Its statistics are those of both, so a holder of either records into them. */
  successor: GraphNode | undefined;
  /** Whether statistics are taken. */
  observed = false;
  /** Whether a declaration names this node as its channel. Such a node does not age. */
  referenced = false;
  /** When it became a node, as a reading of `performance.now()`. */
  since: number;
  /** When it last sent a message, if that is reported apart from its own statistics. */
  sent = 0;
  /** The declaration of each declarer; none if the node was only referred to, or seen at run time. */
  readonly declarations = new Map<object, NodeDeclaration>();
  /** The declared nodes of single names that this one stands for; each is withdrawn by itself. */
  readonly parts = new Set<GraphNode>();
  /** What it was seen as at run time, which applies if it is not declared. */
  seenAs: NodeDeclaration | undefined;
  readonly incoming = new Set<GraphLink>();
  readonly outgoing = new Set<GraphLink>();
  /** The link that a message takes from here to a channel, found before; undefined if it was refused. Emptied when links change. */
  readonly ways = new Map<GraphNode, GraphLink | undefined>();
  /** How many of the outgoing links are of type discard or error. */
  asides = 0;
  /** Of every message, as long as there are no asides: one object, so that its context is the same each time. */
  readonly invocation = new Invocation(this);

  readonly #sends = new SendTimers();
  readonly #receives = new ReceiveCounters();

  constructor(id: number, key: string, name: string, pattern: PatternType, since: number) {
    this.id = id;
    this.key = key;
    this.name = name;
    this.pattern = pattern;
    this.since = since;
  }

  get sends(): SendTimers {
    return this.successor === undefined ? this.#sends : this.successor.sends;
  }

  get receives(): ReceiveCounters {
    return this.successor === undefined ? this.#receives : this.successor.receives;
  }

  get declared(): boolean {
    return this.declarations.size > 0 || this.parts.size > 0;
  }

  /** Who declares it, and the nodes that it stands for. */
  get declarers(): ReadonlySet<object> {
    const parts = Array.from(this.parts, ({ declarations }) => [...declarations.keys()]);
    return new Set([...this.declarations.keys(), ...parts.flat()]);
  }

  /** The first that declares a component type names it. */
  get componentType(): string {
    for (const { declarations } of [this, ...this.parts]) {
      for (const { componentType } of declarations.values()) if (componentType !== undefined) return componentType;
    }
    return this.#seen?.componentType ?? defaultComponentType(this.pattern);
  }

  /** Of the nodes that it stands for, those properties that all of them have. */
  get properties(): Properties {
    const all = [this, ...this.parts].filter(({ declarations }) => declarations.size > 0);
    if (all.length === 0) return this.#seen?.properties ?? {};
    const [first, ...rest] = all.map(({ declarations }) => propertiesOf([...declarations.values()]));
    if (rest.length === 0) return first!;
    const common = ([name, value]: [string, unknown]) =>
      rest.every((properties) => isDeepStrictEqual(properties[name], value));
    return Object.fromEntries(Object.entries(first!).filter(common));
  }

  /** Seen as something else than it is, nothing of that is shown. */
  get #seen(): NodeDeclaration | undefined {
    return this.seenAs?.pattern === this.pattern ? this.seenAs : undefined;
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

  /** When a message was last seen here, as a reading of `performance.now()`; 0 where none was. */
  get lastMessage(): number {
    return Math.max(this.sent, this.sends.last, this.receives.last);
  }

  /** When it became a node, or a message was last seen. */
  get lastSeen(): number {
    return Math.max(this.since, this.lastMessage);
  }

  /** In messages a second. A message that was put into a channel and taken out again is one. */
  rate(now: number): number {
    return Math.max(this.sends.rate(now), this.receives.rate(now));
  }
}

function propertiesOf(declarations: readonly NodeDeclaration[]): Properties {
  const declared = declarations.map(({ properties }) => properties ?? {});
  return declared.length === 1 ? declared[0]! : Object.fromEntries(declared.flatMap(Object.entries));
}

/** A way that messages take between two nodes of a graph. Nodes know their links and links their nodes: they are one structure. */
export class GraphLink {
  /** Another one where the node became one with it. */
  from: GraphNode;
  /** Another one where the node became one with it. */
  to: GraphNode;
  readonly type: LinkType;
  /** The declarers of the link; none if it was only seen at run time. */
  readonly declarers = new Set<object>();
  /** The declared links of single names that this one stands for; each is withdrawn by itself. */
  readonly parts = new Set<GraphLink>();
  /** Whether it left its graph with a node that was idle for long. It comes back with the next message. */
  dormant = false;
  /** The link that this one became one with. A holder of either counts on both. */
  successor: GraphLink | undefined;
  readonly #tally = { count: 0 };

  constructor(from: GraphNode, type: LinkType, to: GraphNode) {
    this.from = from;
    this.type = type;
    this.to = to;
  }

  get tally(): { count: number } {
    return this.successor === undefined ? this.#tally : this.successor.tally;
  }

  get declared(): boolean {
    return this.declarers.size > 0 || this.parts.size > 0;
  }

  /** How many messages were seen on this way. */
  get count(): number {
    return this.tally.count;
  }

  set count(count: number) {
    this.tally.count = count;
  }
}

/** A message on its way through an endpoint: what is sent meanwhile is sent by `owner`. */
export class Invocation extends ContextValue {
  readonly owner: GraphNode;
  /** Whether the message was counted on the owner's discard link, or error link, already. */
  discarded = false;
  failed = false;

  constructor(owner: GraphNode) {
    super();
    this.owner = owner;
  }
}

/** The node or link itself, or the one that it became one with. */
export function settled<E extends { readonly successor: E | undefined }>(element: E): E {
  let at = element;
  while (at.successor !== undefined) at = at.successor;
  return at;
}
