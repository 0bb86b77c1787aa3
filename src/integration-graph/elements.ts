import type { NodeDeclaration } from "./declaration.ts";
import { GraphLink, type LinkType } from "./link.ts";
import { GraphNode } from "./node.ts";
import { NodeIds, nodeKey } from "./node-id.ts";

/** How large a graph may grow. */
export interface GraphLimits {
  /** Nodes; 2,000 unless said otherwise. */
  readonly nodes?: number | undefined;
  /** Links; 10,000 unless said otherwise. */
  readonly links?: number | undefined;
  /** Links that begin at one node; 200 unless said otherwise. */
  readonly linksPerNode?: number | undefined;
}

/** What a test puts in the place of time and chance. */
export interface GraphInternals {
  /** Reads the time as `performance.now()` does. */
  readonly clock?: (() => number) | undefined;
  /** Hashes a key to 1…2³¹−1. */
  readonly hash?: ((key: string) => number) | undefined;
}

/** The nodes and links of a graph, within its limits. Whoever changes them ends up in here. */
export class GraphElements {
  readonly app: string;
  readonly clock: () => number;
  /** How many nodes and links were refused. */
  readonly dropped = { nodes: 0, links: 0 };
  /** Grows with every change. */
  revision = 0;

  readonly #limits: { readonly nodes: number; readonly links: number; readonly linksPerNode: number };
  readonly #ids: NodeIds;
  readonly #nodes = new Map<string, GraphNode>();
  /** The nodes whose keys follow from their names, which are therefore unique. */
  readonly #names = new Map<string, GraphNode>();
  readonly #links = new Set<GraphLink>();

  constructor(app: string, limits: GraphLimits = {}, internals: GraphInternals = {}) {
    this.app = app;
    this.#limits = {
      nodes: limits.nodes ?? 2_000,
      links: limits.links ?? 10_000,
      linksPerNode: limits.linksPerNode ?? 200,
    };
    this.clock = internals.clock ?? (() => performance.now());
    this.#ids = new NodeIds(internals.hash);
  }

  /** In the order in which they became known. */
  get nodes(): readonly GraphNode[] {
    return [...this.#nodes.values()];
  }

  /** In the order in which they became known. */
  get links(): readonly GraphLink[] {
    return [...this.#links];
  }

  /** The node that was declared or seen under `name`, unless it has a key that somebody gave. */
  named(name: string): GraphNode | undefined {
    return this.#names.get(name);
  }

  /** The node that a declaration speaks of. */
  find({ key, name, pattern }: NodeDeclaration): GraphNode | undefined {
    if (key !== undefined) return this.#nodes.get(key);
    return this.#names.get(name) ?? this.#nodes.get(nodeKey(this.app, pattern, name));
  }

  holds(node: GraphNode): boolean {
    return this.#nodes.get(node.key) === node;
  }

  /** Makes a node of a declaration that speaks of none yet. Where the graph is full, the node is not part of it. */
  add(declaration: NodeDeclaration): GraphNode {
    const { name, pattern } = declaration;
    const key = declaration.key ?? nodeKey(this.app, pattern, name);
    if (this.#nodes.size >= this.#limits.nodes) {
      this.dropped.nodes++;
      return new GraphNode(0, key, name, pattern, this.clock());
    }
    const node = new GraphNode(this.#ids.take(key), key, name, pattern, this.clock());
    node.attached = true;
    this.#nodes.set(key, node);
    if (declaration.key === undefined) this.#names.set(name, node);
    this.changed();
    return node;
  }

  /** Takes a node away, with its links. */
  remove(node: GraphNode): void {
    if (!this.holds(node)) return;
    for (const link of [...node.incoming, ...node.outgoing]) this.disconnect(link);
    this.#nodes.delete(node.key);
    if (this.#names.get(node.name) === node) this.#names.delete(node.name);
    this.#ids.release(node.id);
    node.attached = false;
    this.changed();
  }

  /** Makes a link that is not there yet. Undefined where one of the two is no node of this graph, or a limit is reached. */
  connect(from: GraphNode, type: LinkType, to: GraphNode): GraphLink | undefined {
    if (!this.holds(from) || !this.holds(to)) return undefined;
    if (from.outgoing.size >= this.#limits.linksPerNode || this.#links.size >= this.#limits.links) {
      this.dropped.links++;
      return undefined;
    }
    const link = new GraphLink(from, type, to);
    from.outgoing.add(link);
    to.incoming.add(link);
    this.#links.add(link);
    from.ways.delete(to);
    this.changed();
    return link;
  }

  disconnect(link: GraphLink): void {
    const { from, to } = link;
    from.outgoing.delete(link);
    to.incoming.delete(link);
    from.ways.delete(to);
    this.#links.delete(link);
    this.changed();
  }

  changed(): void {
    this.revision++;
  }
}
