import { Brokers, type BrokerTable } from "./brokers.ts";
import { mergedDeclaration, type NodeDeclaration } from "./declaration.ts";
import type { LinkType } from "./link-type.ts";
import { GraphLink, GraphNode, settled } from "./node.ts";
import { NodeIds, nodeKey } from "./node-id.ts";

/** How large a graph may grow. */
export interface GraphLimits {
  /** How many nodes it may have. Default: 2,000. */
  readonly maxNodes?: number | undefined;
  /** How many links it may have. Default: 10,000. */
  readonly maxLinks?: number | undefined;
  /** How many links may begin at one node. Default: 200. */
  readonly maxLinksPerNode?: number | undefined;
}

/** What a test puts in the place of time and chance. */
export interface GraphInternals {
  /** Reads the time as `performance.now()` does. */
  readonly clock?: (() => number) | undefined;
  /** Hashes a key to 1…2³¹−1. */
  readonly hash?: ((key: string) => number) | undefined;
}

interface ElementsOptions {
  readonly app: string;
  readonly limits?: GraphLimits | undefined;
  readonly observedNodeMaxAgeMs?: number | undefined;
  readonly brokers?: BrokerTable | undefined;
}

/** The nodes and links of a graph, within its limits. Every change is made here. */
export class GraphElements {
  readonly app: string;
  readonly brokers: Brokers;
  readonly clock: () => number;
  /** How many nodes and links were refused. */
  readonly dropped = { nodes: 0, links: 0 };
  /** The declarers that could not be read when they were last asked. */
  readonly outOfReach = new Set<object>();
  /** Grows with every change. */
  revision = 0;

  readonly #limits: Required<{ [Name in keyof GraphLimits]: number }>;
  readonly #maxAge: number;
  readonly #ids: NodeIds;
  readonly #nodes = new Map<string, GraphNode>();
  /** The nodes whose keys follow from their names, which are therefore unique. */
  readonly #names = new Map<string, GraphNode>();
  readonly #links = new Set<GraphLink>();
  /** Before this time no node can be too old, as far as was known when they were last looked through. */
  #noneAgedBefore = 0;

  constructor(options: ElementsOptions, internals: GraphInternals = {}) {
    const { app, limits = {}, observedNodeMaxAgeMs = 3_600_000, brokers } = options;
    this.app = app;
    this.brokers = new Brokers(brokers);
    this.#limits = {
      maxNodes: limits.maxNodes ?? 2_000,
      maxLinks: limits.maxLinks ?? 10_000,
      maxLinksPerNode: limits.maxLinksPerNode ?? 200,
    };
    this.#maxAge = observedNodeMaxAgeMs;
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

  /** The node that was declared or seen under `name`, unless it was given a key. */
  named(name: string): GraphNode | undefined {
    return this.#names.get(name);
  }

  /** The node that a declaration speaks of. */
  find({ key, name, pattern }: NodeDeclaration): GraphNode | undefined {
    if (key !== undefined) return this.#nodes.get(this.brokers.current(key));
    return this.#names.get(name) ?? this.#nodes.get(nodeKey(this.app, pattern, name));
  }

  holds(node: GraphNode): boolean {
    return this.#nodes.get(node.key) === node;
  }

  /** Makes a node of a declaration that speaks of none yet. Where the graph is full, the node is not part of it. */
  add(declaration: NodeDeclaration): GraphNode {
    const { name, pattern } = declaration;
    const key = this.brokers.current(declaration.key ?? nodeKey(this.app, pattern, name));
    const node = new GraphNode(0, key, name, pattern, this.clock());
    if (!this.#hasRoom()) this.dropped.nodes++;
    else this.#put(node, declaration.key === undefined);
    return node;
  }

  /** Takes a node away, with its links. A dormant one comes back with its next message. */
  remove(node: GraphNode, { dormant = false } = {}): void {
    if (!this.holds(node)) return;
    for (const link of [...node.incoming, ...node.outgoing]) {
      this.disconnect(link);
      link.dormant = dormant;
      if (!dormant) continue;
      // Its declarer may be gone when it wakes.
      link.declarers.clear();
      node.asleep.push(link);
    }
    this.#drop(node);
    node.dormant = dormant;
    this.changed();
  }

  /** Removes what is not declared and was idle for too long. */
  removeAged(): void {
    const now = this.clock();
    let oldest = now;
    for (const node of this.#nodes.values()) {
      if (node.declared || node.referenced) continue;
      if (node.lastSeen < now - this.#maxAge) this.remove(node, { dormant: true });
      else if (node.lastSeen < oldest) oldest = node.lastSeen;
    }
    this.#noneAgedBefore = oldest + this.#maxAge;
  }

  /** Puts a dormant node back, as its next message has come. Where the graph is full it sleeps on. */
  wake(node: GraphNode): void {
    if (!node.dormant) return;
    node.key = this.brokers.current(node.key);
    const other = this.#nodes.get(node.key);
    if (other === undefined) {
      const isNamed = node.key === nodeKey(this.app, node.pattern, node.name) && !this.#names.has(node.name);
      if (this.#hasRoom()) this.#put(node, isNamed);
    } else {
      uniteNodes(node, other);
      this.changed();
    }
    if (!node.dormant) for (const link of node.asleep.splice(0)) this.wakeLink(link);
  }

  /** The same for a link. Where an end is not awake, it comes back with that. */
  wakeLink(link: GraphLink): void {
    if (!link.dormant) return;
    link.from = settled(link.from);
    link.to = settled(link.to);
    const sleeper = [link.from, link.to].find((end) => !end.attached);
    if (sleeper !== undefined) {
      if (sleeper.dormant && !sleeper.asleep.includes(link)) sleeper.asleep.push(link);
      return;
    }
    const other = link.from.linkTo(link.type, link.to);
    if (other !== undefined) uniteLinks(link, other);
    else this.#join(link);
  }

  /** Gives every node whose key begins with `from` one that begins with `to`; two with one key become one. */
  rename({ from, to }: { readonly from: string; readonly to: string }): void {
    for (const node of this.nodes) {
      if (!node.key.startsWith(from)) continue;
      const key = to + node.key.slice(from.length);
      const other = this.#nodes.get(key);
      this.#drop(node);
      if (other === undefined) {
        node.key = key;
        this.#put(node, false);
      } else {
        for (const link of [...node.incoming, ...node.outgoing]) this.#move(link, node, other);
        uniteNodes(node, other);
      }
      this.changed();
    }
  }

  /** Makes a link that is not there yet. Undefined where one of the two is no node of this graph, or a limit is reached. */
  connect(from: GraphNode, type: LinkType, to: GraphNode): GraphLink | undefined {
    const link = new GraphLink(from, type, to);
    return this.#join(link) ? link : undefined;
  }

  disconnect(link: GraphLink): void {
    const { from, to } = link;
    from.outgoing.delete(link);
    to.incoming.delete(link);
    from.ways.clear();
    this.#links.delete(link);
    this.changed();
  }

  changed(): void {
    this.revision++;
  }

  #hasRoom(): boolean {
    if (this.#nodes.size < this.#limits.maxNodes) return true;
    if (this.clock() > this.#noneAgedBefore) this.removeAged();
    return this.#nodes.size < this.#limits.maxNodes;
  }

  #put(node: GraphNode, isNamed: boolean): void {
    node.id = this.#ids.take(node.key);
    node.attached = true;
    node.dormant = false;
    this.#nodes.set(node.key, node);
    if (isNamed) this.#names.set(node.name, node);
    this.changed();
  }

  #drop(node: GraphNode): void {
    this.#nodes.delete(node.key);
    if (this.#names.get(node.name) === node) this.#names.delete(node.name);
    this.#ids.release(node.id);
    node.attached = false;
  }

  #join(link: GraphLink): boolean {
    const { from, to } = link;
    if (!this.holds(from) || !this.holds(to)) return false;
    if (from.outgoing.size >= this.#limits.maxLinksPerNode || this.#links.size >= this.#limits.maxLinks) {
      this.dropped.links++;
      return false;
    }
    from.outgoing.add(link);
    to.incoming.add(link);
    this.#links.add(link);
    from.ways.clear();
    link.dormant = false;
    this.changed();
    return true;
  }

  #move(link: GraphLink, node: GraphNode, into: GraphNode): void {
    this.disconnect(link);
    if (link.from === node) link.from = into;
    if (link.to === node) link.to = into;
    const other = link.from.linkTo(link.type, link.to);
    if (other !== undefined) uniteLinks(link, other);
    else this.#join(link);
  }
}

/** Gives `into` all that `node` has but its links. From then on they share their statistics. */
function uniteNodes(node: GraphNode, into: GraphNode): void {
  if (!into.declared && node.declared) into.pattern = node.pattern;
  for (const [declarer, declaration] of node.declarations) {
    into.declarations.set(declarer, united(into.declarations.get(declarer), declaration));
  }
  into.observed ||= node.observed;
  into.referenced ||= node.referenced;
  into.since = Math.min(into.since, node.since);
  into.sent = Math.max(into.sent, node.sent);
  into.sends.absorb(node.sends);
  into.receives.absorb(node.receives);
  node.sends = into.sends;
  node.receives = into.receives;
  node.ways.clear();
  node.dormant = false;
  node.successor = into;
}

/** Gives `into` all that `link` has but its ends. From then on they share their count. */
function uniteLinks(link: GraphLink, into: GraphLink): void {
  for (const declarer of link.declarers) into.declarers.add(declarer);
  into.count += link.count;
  link.tally = into.tally;
  link.dormant = false;
}

function united(known: NodeDeclaration | undefined, declaration: NodeDeclaration): NodeDeclaration {
  try {
    return known === undefined ? declaration : { ...mergedDeclaration(declaration, known), pattern: known.pattern };
  } catch {
    return known!;
  }
}
