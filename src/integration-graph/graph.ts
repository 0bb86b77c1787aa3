import { isDeepStrictEqual } from "node:util";
import { checkEnds, GraphLink, type LinkType } from "./link.ts";
import { checkedDeclaration, checkedName, GraphNode, type NodeDeclaration } from "./node.ts";
import { NodeIds, nodeKey } from "./node-id.ts";
import { isChannel, PATTERN_TRAITS } from "./pattern.ts";
import { PROVIDER } from "./provider.ts";
import type { GraphSnapshot } from "./snapshot.ts";
import { checkedTopology, type GraphSource, readSource, type Topology } from "./source.ts";
import { linkSnapshots, nodeSnapshots, type Structure, structureOf } from "./structure.ts";

/** How large a graph may grow. */
export interface GraphLimits {
  /** Nodes; 2,000 unless said otherwise. */
  readonly nodes?: number | undefined;
  /** Links that begin at one node; 200 unless said otherwise. */
  readonly linksPerNode?: number | undefined;
  /** Links; 10,000 unless said otherwise. */
  readonly links?: number | undefined;
}

/** How a graph is kept. */
export interface IntegrationGraphOptions {
  /** The application's name. It is part of the identity of its endpoints, and `contentDescriptor.name`. */
  readonly app: string;
  readonly limits?: GraphLimits | undefined;
  /** How long a node that was only seen at run time outlives its last message, in milliseconds; 1 hour by default. */
  readonly observedNodeMaxAge?: number | undefined;
  /** How long a source may take to answer, in milliseconds; 5,000 by default. */
  readonly sourceTimeout?: number | undefined;
  /** Told when a source could not be read; by default a process warning that names the source only. */
  readonly onSourceError?: ((source: GraphSource, error: unknown) => void) | undefined;
  /** Reads the time as `performance.now()` does. For tests. */
  readonly clock?: (() => number) | undefined;
  /** Hashes a key to 1…2³¹−1. For tests. */
  readonly hash?: ((key: string) => number) | undefined;
}

/** The application itself, among those who declare. */
const APPLICATION: object = Object.freeze({ name: "application" });

/** The order in which the links from an owner to one and the same channel are thought of for a message sent there. */
const WAYS: readonly LinkType[] = ["route", "output", "discard", "error"];

/**
 * The integration components of an application and the links between them: the one store that the builder and every
 * adapter feed, and that all answers are read from.
 *
 * Ids follow from names and stay the same for the life of the store. `revision` grows with every change of structure;
 * numbers do not change it. What does not fit into the limits is not shown, and counted in `dropped`; measuring it
 * does no harm.
 */
export class IntegrationGraph {
  readonly app: string;
  readonly #limits: { readonly nodes: number; readonly linksPerNode: number; readonly links: number };
  readonly #observedNodeMaxAge: number;
  readonly #sourceTimeout: number;
  readonly #onSourceError: (source: GraphSource, error: unknown) => void;
  readonly #clock: () => number;
  readonly #ids: NodeIds;

  readonly #nodes = new Map<string, GraphNode>();
  /** The nodes whose keys follow from their names, which are therefore unique. */
  readonly #names = new Map<string, GraphNode>();
  readonly #links = new Set<GraphLink>();
  readonly #sources = new Set<GraphSource>();
  readonly #dropped = { nodes: 0, links: 0 };

  #revision = 0;
  #structure: Structure | undefined;
  #rebuilding: Promise<number> | undefined;
  #rebuildNext: Promise<number> | undefined;

  constructor(options: IntegrationGraphOptions) {
    this.app = checkedName(options.app, "application's name");
    const { nodes = 2_000, linksPerNode = 200, links = 10_000 } = options.limits ?? {};
    this.#limits = { nodes, linksPerNode, links };
    this.#observedNodeMaxAge = options.observedNodeMaxAge ?? 3_600_000;
    this.#sourceTimeout = options.sourceTimeout ?? 5_000;
    this.#onSourceError = options.onSourceError ?? warnOfSource;
    this.#clock = options.clock ?? (() => performance.now());
    this.#ids = new NodeIds(options.hash);
  }

  /** Grows with every change of structure. */
  get revision(): number {
    return this.#revision;
  }

  /** How many nodes and links were refused because a limit was reached or, at run time, their name was unfit. */
  get dropped(): { readonly nodes: number; readonly links: number } {
    return { ...this.#dropped };
  }

  /** The node that was declared or seen under `name`. */
  find(name: string): GraphNode | undefined {
    return this.#names.get(name);
  }

  /**
   * Makes a component a node. A second declaration of the same name merges with the first; properties are united.
   *
   * Throws a TypeError where the declaration is unfit, and an Error where the name is declared with another pattern.
   * Where the graph is full, the node that comes back is not part of it.
   */
  declare(declaration: NodeDeclaration): GraphNode {
    const checked = checkedDeclaration(declaration);
    const node = this.#settle(checked, APPLICATION) ?? this.#create(checked);
    return this.#state(node, APPLICATION, merge(node.declarations.get(APPLICATION), checked));
  }

  /**
   * Says that statistics are taken of a node, or that a component was seen at run time which nobody may have declared.
   * A node that is only seen ages: a rebuild drops it when it has been idle for long. Never throws for a name seen.
   */
  observe(seen: GraphNode | NodeDeclaration): GraphNode {
    const node = seen instanceof GraphNode ? seen : this.#seen(seen);
    if (this.#holds(node) && !node.observed) {
      node.observed = true;
      this.#changed();
    }
    return node;
  }

  /** The channel of this name, for a component that refers to it. Where there is none, it becomes a message channel. */
  channel(name: string): GraphNode {
    const checked = checkedDeclaration({ name, pattern: "message_channel" });
    const node = this.#names.get(checked.name) ?? this.#create(checked);
    if (!isChannel(node.pattern))
      throw new Error(`"${node.name}" is a ${node.pattern} and cannot be used as a channel`);
    node.referenced = true;
    return node;
  }

  /**
   * Declares a link. Returns it, or undefined where one of the two is no node of this graph or a limit is reached.
   * Throws a TypeError where links of this type do not lead from such a node to such a node.
   */
  link(from: GraphNode, type: LinkType, to: GraphNode): GraphLink | undefined {
    return this.#declareLink(from, type, to, APPLICATION);
  }

  /**
   * The link that a message takes from `owner` to `channel`. Where none is declared, a new one is seen: a `route` from
   * a router, an `output` from everybody else.
   */
  way(owner: GraphNode, channel: GraphNode): GraphLink | undefined {
    const known = owner.ways.get(channel);
    if (known !== undefined) return known;
    for (const type of WAYS) {
      const link = owner.linkTo(type, channel);
      if (link !== undefined) return remember(link);
    }
    const type = PATTERN_TRAITS[owner.pattern].links.includes("route") ? "route" : "output";
    const link = this.#connect(owner, type, channel);
    return link === undefined ? undefined : remember(link);
  }

  /** Takes a node out of the graph, with its links. It comes back with the same id when it is declared again. */
  remove(node: GraphNode): void {
    if (!this.#holds(node)) return;
    for (const link of [...node.incoming, ...node.outgoing]) this.#disconnect(link);
    this.#nodes.delete(node.key);
    if (this.#names.get(node.name) === node) this.#names.delete(node.name);
    this.#ids.release(node.id);
    node.attached = false;
    this.#changed();
  }

  /** The graph as it is now. */
  snapshot(): GraphSnapshot {
    this.#structure ??= structureOf(this.#nodes.values(), this.#links);
    return {
      contentDescriptor: { ...PROVIDER, name: this.app },
      nodes: nodeSnapshots(this.#structure),
      links: linkSnapshots(this.#structure),
      revision: this.#revision,
    };
  }

  /** Adds a source and reads it. Resolves to whether it could be read; where not, the next rebuild tries again. */
  async attach(source: GraphSource): Promise<boolean> {
    this.#sources.add(source);
    return this.#read(source);
  }

  /** Takes a source away, with what it alone declares. */
  detach(source: GraphSource): void {
    if (this.#sources.delete(source)) this.#apply(source, { nodes: [], links: [] });
  }

  /**
   * Reads every source again and drops what is gone: what sources no longer declare, and nodes only seen at run time
   * that have been idle for too long. Ids and counters stay. Resolves to the revision.
   *
   * A call while another one runs waits for a run that begins after it, so that it sees what changed before it.
   */
  rebuild(): Promise<number> {
    if (this.#rebuilding === undefined) {
      this.#rebuilding = this.#rebuild().finally(() => {
        this.#rebuilding = undefined;
      });
      return this.#rebuilding;
    }
    this.#rebuildNext ??= this.#rebuilding.then(() => {
      this.#rebuildNext = undefined;
      return this.rebuild();
    });
    return this.#rebuildNext;
  }

  async #rebuild(): Promise<number> {
    await Promise.all(Array.from(this.#sources, (source) => this.#read(source)));
    const oldest = this.#clock() - this.#observedNodeMaxAge;
    for (const node of [...this.#nodes.values()]) {
      if (!node.declared && !node.referenced && node.lastSeen < oldest) this.remove(node);
    }
    return this.#revision;
  }

  async #read(source: GraphSource): Promise<boolean> {
    try {
      const topology = await readSource(source, this.#sourceTimeout);
      if (this.#sources.has(source)) this.#apply(source, topology);
      return true;
    } catch (error) {
      this.#onSourceError(source, error);
      return false;
    }
  }

  #apply(source: GraphSource, topology: Topology): void {
    // Everything is checked before anything is changed, so that an unfit topology leaves the source's part as it was.
    const checked = checkedTopology(topology);
    for (const declaration of checked.values()) this.#conflict(declaration, source);

    const nodes = new Map<NodeDeclaration, GraphNode>();
    for (const [declaration, fit] of checked) {
      nodes.set(declaration, this.#state(this.#settle(fit, source) ?? this.#create(fit), source, fit));
    }
    const links = new Set<GraphLink | undefined>();
    for (const { from, type, to } of topology.links) {
      links.add(this.#declareLink(nodes.get(from)!, type, nodes.get(to)!, source));
    }

    for (const link of [...this.#links]) {
      if (!links.has(link) && link.declarers.delete(source) && !link.declared) this.#disconnect(link);
    }
    const kept = new Set(nodes.values());
    for (const node of [...this.#nodes.values()]) {
      if (kept.has(node) || !node.declarations.delete(source)) continue;
      if (node.declared || node.referenced) this.#changed();
      else this.remove(node);
    }
  }

  /** The node that a declaration speaks of, where there is one already. A node that nobody declared gives way. */
  #settle(declaration: NodeDeclaration, declarer: object): GraphNode | undefined {
    const node = this.#conflict(declaration, declarer);
    if (node === undefined || node.pattern === declaration.pattern) return node;
    if (!isChannel(node.pattern)) {
      this.remove(node);
      return undefined;
    }
    node.pattern = declaration.pattern;
    this.#changed();
    return node;
  }

  /** The node that a declaration speaks of. Throws where it is declared with another pattern. */
  #conflict(declaration: NodeDeclaration, declarer: object): GraphNode | undefined {
    const node = this.#lookUp(declaration);
    if (node === undefined || node.pattern === declaration.pattern) return node;
    // A source may change its mind from one reading to the next; the application may not.
    const others = [...node.declarations.keys()].some((other) => other !== declarer || other === APPLICATION);
    const channelIsUsed = node.referenced && !isChannel(declaration.pattern);
    if (others || channelIsUsed) {
      throw new Error(`"${node.name}" cannot be a ${declaration.pattern}: it is a ${node.pattern} already`);
    }
    return node;
  }

  #lookUp({ key, name, pattern }: NodeDeclaration): GraphNode | undefined {
    if (key !== undefined) return this.#nodes.get(key);
    return this.#names.get(name) ?? this.#nodes.get(nodeKey(this.app, pattern, name));
  }

  #seen(declaration: NodeDeclaration): GraphNode {
    try {
      const checked = checkedDeclaration(declaration);
      return this.#lookUp(checked) ?? this.#create(checked);
    } catch {
      this.#dropped.nodes++;
      return new GraphNode(0, "", "", "message_channel", this.#clock());
    }
  }

  #create({ key: given, name, pattern }: NodeDeclaration): GraphNode {
    const key = given ?? nodeKey(this.app, pattern, name);
    if (this.#nodes.size >= this.#limits.nodes) {
      this.#dropped.nodes++;
      return new GraphNode(0, key, name, pattern, this.#clock());
    }
    const node = new GraphNode(this.#ids.take(key), key, name, pattern, this.#clock());
    node.attached = true;
    this.#nodes.set(key, node);
    if (given === undefined) this.#names.set(name, node);
    this.#changed();
    return node;
  }

  #state(node: GraphNode, declarer: object, declaration: NodeDeclaration): GraphNode {
    if (!isDeepStrictEqual(node.declarations.get(declarer), declaration)) {
      node.declarations.set(declarer, declaration);
      if (node.attached) this.#changed();
    }
    return node;
  }

  #declareLink(from: GraphNode, type: LinkType, to: GraphNode, declarer: object): GraphLink | undefined {
    checkEnds(from, type, to);
    const link = from.linkTo(type, to) ?? this.#connect(from, type, to);
    if (link !== undefined && !link.declarers.has(declarer)) {
      link.declarers.add(declarer);
      this.#changed();
    }
    return link;
  }

  #connect(from: GraphNode, type: LinkType, to: GraphNode): GraphLink | undefined {
    if (!this.#holds(from) || !this.#holds(to)) return undefined;
    if (from.outgoing.size >= this.#limits.linksPerNode || this.#links.size >= this.#limits.links) {
      this.#dropped.links++;
      return undefined;
    }
    const link = new GraphLink(from, type, to);
    from.outgoing.add(link);
    to.incoming.add(link);
    this.#links.add(link);
    from.ways.delete(to);
    this.#changed();
    return link;
  }

  #disconnect(link: GraphLink): void {
    link.from.outgoing.delete(link);
    link.to.incoming.delete(link);
    link.from.ways.delete(link.to);
    this.#links.delete(link);
    this.#changed();
  }

  #holds(node: GraphNode): boolean {
    return this.#nodes.get(node.key) === node;
  }

  #changed(): void {
    this.#revision++;
    this.#structure = undefined;
  }
}

function remember(link: GraphLink): GraphLink {
  link.from.ways.set(link.to, link);
  return link;
}

function merge(before: NodeDeclaration | undefined, now: NodeDeclaration): NodeDeclaration {
  if (before === undefined) return now;
  return Object.freeze({
    ...now,
    componentType: now.componentType ?? before.componentType,
    properties: Object.freeze({ ...before.properties, ...now.properties }),
    handlers: now.handlers ?? before.handlers,
  });
}

function warnOfSource(source: GraphSource): void {
  process.emitWarning(`the integration graph could not read its source "${source.name}"; its part stays as it was`);
}
