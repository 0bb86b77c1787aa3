import type {
  ContentDescriptor,
  Link,
  Node,
  WatchIntegrationGraphResponse_Change as WatchedPiece,
  WatchIntegrationGraphResponse,
} from "../gen/actuator/v3/integration_graph_pb.ts";

/** What a whole event of WatchIntegrationGraph has changed. */
export interface GraphChange {
  /** Whether everything was sent anew. */
  readonly isSnapshot: boolean;
  /** The nodes that are new or have changed, as they are now; after a snapshot all. */
  readonly nodes: ReadonlyMap<number, Node>;
  /** The links that are new or have changed, by {@link linkKey}; after a snapshot all. */
  readonly links: ReadonlyMap<string, Link>;
  /** The ids of nodes that are gone, with all their links. A node may be gone and be sent anew. Empty after a snapshot. */
  readonly removedNodes: ReadonlySet<number>;
  /** Links that are gone. Those of removed nodes may be among them. Empty after a snapshot. */
  readonly removedLinks: ReadonlyMap<string, Link>;
  /** The changed and removed nodes that were known, as they were before; after a snapshot all. */
  readonly nodesBefore: ReadonlyMap<number, Node>;
  /** The changed and removed links that were known, as they were before; after a snapshot all. */
  readonly linksBefore: ReadonlyMap<string, Link>;
  /** The provider, if it was sent: what was left out of the graph has changed. */
  readonly contentDescriptor: ContentDescriptor | undefined;
  readonly revision: bigint;
}

/**
 * What a client of WatchIntegrationGraph knows, kept current by the events of the watch. It imports nothing of Node.js, so that it runs
 * in browsers, too.
 */
export class WatchedGraph {
  #nodes = new Map<number, Node>();
  #links = new Map<string, Link>();
  #contentDescriptor: ContentDescriptor | undefined;
  #change: Change | undefined;

  /** The nodes by their id. While an event continues in the next one, some are still missing or as they were. */
  get nodes(): ReadonlyMap<number, Node> {
    return this.#nodes;
  }

  /** The links by {@link linkKey}. */
  get links(): ReadonlyMap<string, Link> {
    return this.#links;
  }

  /** The provider; undefined until it was sent. */
  get contentDescriptor(): ContentDescriptor | undefined {
    return this.#contentDescriptor;
  }

  /**
   * Applies an event. Returns what has changed if the event is complete; undefined for a heartbeat, while `more` follows, and if
   * nothing is left of the change.
   */
  apply({ event, revision, more }: WatchIntegrationGraphResponse): GraphChange | undefined {
    if (event.case === "snapshot") {
      const before = this.#change?.isSnapshot ? this.#change : { nodesBefore: this.#nodes, linksBefore: this.#links };
      this.#change = new Change(true, before.nodesBefore, before.linksBefore);
      this.#nodes = new Map();
      this.#links = new Map();
      this.#contentDescriptor = undefined;
    } else if (event.case !== "change") return undefined;
    const change = (this.#change ??= new Change(false, new Map(), new Map()));
    if (event.case === "change") this.#removeAll(event.value, change);
    for (const node of event.value.nodes) {
      note(change, change.nodesBefore, this.#nodes, node.nodeId);
      change.nodes.set(node.nodeId, node);
      this.#nodes.set(node.nodeId, node);
    }
    for (const link of event.value.links) {
      const key = linkKey(link);
      note(change, change.linksBefore, this.#links, key);
      change.removedLinks.delete(key);
      change.links.set(key, link);
      this.#links.set(key, link);
    }
    if (event.value.contentDescriptor !== undefined) {
      this.#contentDescriptor = change.contentDescriptor = event.value.contentDescriptor;
    }
    if (more) return undefined;
    this.#change = undefined;
    return change.isNothing ? undefined : { ...change, revision };
  }

  #removeAll({ removedNodes, removedLinks }: WatchedPiece, change: Change): void {
    for (const id of removedNodes) {
      note(change, change.nodesBefore, this.#nodes, id);
      this.#nodes.delete(id);
      change.nodes.delete(id);
      if (!change.isSnapshot) change.removedNodes.add(id);
    }
    if (removedNodes.length > 0) {
      const gone = new Set(removedNodes);
      for (const [key, { from, to }] of this.#links) if (gone.has(from) || gone.has(to)) this.#removeLink(key, change);
    }
    for (const link of removedLinks) {
      const key = linkKey(link);
      this.#removeLink(key, change);
      if (!change.isSnapshot) change.removedLinks.set(key, link);
    }
  }

  #removeLink(key: string, change: Change): void {
    note(change, change.linksBefore, this.#links, key);
    this.#links.delete(key);
    change.links.delete(key);
  }
}

/** The ends and the type of a link, which no other link of the graph shares. */
export function linkKey({ from, type, to }: Pick<Link, "from" | "type" | "to">): string {
  return `${from} ${type} ${to}`;
}

/** Keeps what was known of `key` when the event began. */
function note<Key, Value>({ isSnapshot }: Change, before: Map<Key, Value>, known: Map<Key, Value>, key: Key): void {
  const value = known.get(key);
  if (!isSnapshot && value !== undefined && !before.has(key)) before.set(key, value);
}

/** The pieces of an event so far. If two of them tell the same thing, the later one counts. */
class Change {
  readonly nodes = new Map<number, Node>();
  readonly links = new Map<string, Link>();
  readonly removedNodes = new Set<number>();
  readonly removedLinks = new Map<string, Link>();
  contentDescriptor: ContentDescriptor | undefined;

  readonly isSnapshot: boolean;
  readonly nodesBefore: Map<number, Node>;
  readonly linksBefore: Map<string, Link>;

  constructor(isSnapshot: boolean, nodesBefore: Map<number, Node>, linksBefore: Map<string, Link>) {
    this.isSnapshot = isSnapshot;
    this.nodesBefore = nodesBefore;
    this.linksBefore = linksBefore;
  }

  get isNothing(): boolean {
    const { nodes, links, removedNodes, removedLinks } = this;
    const size = nodes.size + links.size + removedNodes.size + removedLinks.size;
    return !this.isSnapshot && size === 0 && this.contentDescriptor === undefined;
  }
}
