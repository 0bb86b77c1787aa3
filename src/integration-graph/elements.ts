import { Brokers, type BrokerTable } from "./brokers.ts";
import { mergedDeclaration, type NodeDeclaration } from "./declaration.ts";
import { APPLICATION, type Declarer } from "./declarer.ts";
import type { LinkType } from "./link-type.ts";
import { GraphLink, GraphNode, settled } from "./node.ts";
import { NodeIds, nodeKey } from "./node-id.ts";
import { isChannel } from "./pattern.ts";

/** How large a graph may grow. */
export interface GraphLimits {
  /** How many nodes it may have. Default: 2,000. */
  readonly maxNodes?: number | undefined;
  /** How many links it may have. Default: 10,000. */
  readonly maxLinks?: number | undefined;
  /** How many links may begin at one node. Default: 200. */
  readonly maxLinksPerNode?: number | undefined;
  /**
   * How many destinations whose names differ only in a number, such as `user-1` and `user-2`, have nodes of their own. If there
   * are more, all of them share one node, `user-*`. Default: 20.
   */
  readonly maxNumberedNames?: number | undefined;
}

/** How many nodes that share another one are remembered by their keys. */
const MAX_PARTS = 10_000;

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
  /** Gives a name that is shown as it is shown now. */
  shownAgain: (name: string) => string = (name) => name;
  /** How many nodes and links were refused. */
  readonly dropped = { nodes: 0, links: 0 };
  /** The declarers that could not be read when they were last asked. */
  readonly outOfReach = new Set<object>();
  /** Grows with every change. */
  revision = 0;

  readonly #limits: Required<{ [Name in Exclude<keyof GraphLimits, "maxNumberedNames">]: number }>;
  readonly #maxAge: number;
  readonly #ids: NodeIds;
  readonly #nodes = new Map<string, GraphNode>();
  /** The nodes whose keys follow from their names, which are therefore unique. */
  readonly #names = new Map<string, GraphNode>();
  readonly #links = new Set<GraphLink>();
  /** The nodes of single names that share another one, by their own keys. */
  readonly #parts = new Map<string, GraphNode>();
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
  find(declaration: NodeDeclaration): GraphNode | undefined {
    const { key, name, pattern } = declaration;
    const part = this.part(declaration);
    if (part !== undefined) return settled(part);
    if (key !== undefined) return this.#nodes.get(this.brokers.current(key));
    return this.#names.get(name) ?? this.#nodes.get(nodeKey(this.app, pattern, name));
  }

  holds(node: GraphNode): boolean {
    return this.#nodes.get(node.key) === node;
  }

  /** The node of a declaration's own name, if it shares another one. */
  part({ key }: NodeDeclaration): GraphNode | undefined {
    const part = key === undefined ? undefined : this.#parts.get(this.brokers.current(key));
    return part !== undefined && settled(part).attached ? part : undefined;
  }

  /**
   * Makes a node of a declaration that speaks of none yet. Where the graph is full, what is declared takes the place of what was
   * only seen, and what the application declares that of everything else; otherwise the node is not part of it.
   */
  add(declaration: NodeDeclaration, declarer?: Declarer): GraphNode {
    const { name, pattern } = declaration;
    const key = this.brokers.current(declaration.key ?? nodeKey(this.app, pattern, name));
    const node = new GraphNode(0, key, name, pattern, this.clock());
    const shown = declaration.key === undefined ? name : this.shownAgain(name);
    if (shown !== name && key.endsWith(name)) return this.#addPart(node, { ...declaration, name: shown }, declarer);
    if (this.#hasRoom() || this.#displaceNode(declarer)) this.#put(node, declaration.key === undefined);
    else this.dropped.nodes++;
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
      link.parts.clear();
      node.asleep.push(link);
    }
    this.#drop(node);
    node.dormant = dormant;
    if (dormant) for (const part of this.#parts.values()) if (settled(part) === node) part.dormant = true;
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
    if (node.successor !== undefined) {
      this.wake(settled(node));
      node.dormant = settled(node).dormant;
      return;
    }
    node.key = this.brokers.current(node.key);
    const other = this.#nodes.get(node.key);
    if (other === undefined) {
      const isNamed = node.key === nodeKey(this.app, node.pattern, node.name) && !this.#names.has(node.name);
      if (this.#hasRoom()) {
        this.#put(node, isNamed);
        // Others of its kind may have come to share a node meanwhile.
        const name = this.#foldedName(node, this.shownAgain(node.name));
        if (name !== undefined) this.#share(node, name);
      }
    } else {
      uniteNodes(node, other);
      moveDeclarations(node, other);
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
    if (other !== undefined) mergeLinks(link, other);
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
        moveDeclarations(node, other);
      }
      this.changed();
    }
  }

  /**
   * Has destinations whose names are shown differently now share a node, with their links and numbers, and their handlers as well
   * if these are named for them. Names that the application declares stay. Calls `folded` with the old names.
   */
  fold(folded: (name: string) => void): void {
    for (const node of this.nodes) {
      const name = this.#foldedName(node, this.shownAgain(node.name));
      if (name === undefined) continue;
      const receivers = [...node.outgoing].filter(({ type }) => type === "input").map(({ to }) => to);
      this.#share(node, name);
      if (!isChannel(node.pattern)) continue;
      folded(node.name);
      for (const receiver of receivers) {
        const renamed = this.#foldedName(receiver, replacedWord(receiver.name, node.name, name));
        if (renamed !== undefined) this.#share(receiver, renamed);
      }
    }
  }

  /** Two nodes turn out to be one: `node` has the links and numbers of `into` from now on, and they have its own. */
  unite(node: GraphNode, into: GraphNode): void {
    if (node === into || !this.holds(node) || !this.holds(into)) return;
    this.#become(node, () => into);
  }

  /** Whether no further link can begin at a node. */
  isFull(node: GraphNode): boolean {
    return node.outgoing.size >= this.#limits.maxLinksPerNode;
  }

  /** Makes a link that is not there yet. Undefined where one of the two is no node of this graph, or a limit is reached. */
  connect(from: GraphNode, type: LinkType, to: GraphNode, declarer?: Declarer): GraphLink | undefined {
    const link = new GraphLink(from, type, to);
    return this.#join(link, declarer) ? link : undefined;
  }

  disconnect(link: GraphLink): void {
    const { from, to } = link;
    if (from.outgoing.delete(link) && isAside(link)) from.asides--;
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

  /** Hides the node that was idle for longest of those that give way to a declaration. It comes back when there is room. */
  #displaceNode(declarer: Declarer | undefined): boolean {
    if (declarer === undefined) return false;
    const others = [...this.#nodes.values()].filter((node) => !node.referenced && !node.declarations.has(APPLICATION));
    const seen = others.filter((node) => !node.declared);
    const [first, ...rest] = seen.length > 0 || declarer !== APPLICATION ? seen : others;
    if (first === undefined) return false;
    this.remove(
      rest.reduce((oldest, node) => (node.lastSeen < oldest.lastSeen ? node : oldest), first),
      { dormant: true },
    );
    this.dropped.nodes++;
    return true;
  }

  /** The same for the link with the fewest messages. */
  #displaceLink(links: Iterable<GraphLink>, declarer: Declarer | undefined): boolean {
    if (declarer === undefined) return false;
    const others = [...links].filter((link) => !link.declarers.has(APPLICATION));
    const seen = others.filter((link) => !link.declared);
    const [first, ...rest] = seen.length > 0 || declarer !== APPLICATION ? seen : others;
    if (first === undefined) return false;
    this.disconnect(rest.reduce((least, link) => (link.count < least.count ? link : least), first));
    this.dropped.links++;
    return true;
  }

  /** The name that a node shares with others; undefined if it keeps its own, which is at the end of its key. */
  #foldedName(node: GraphNode, name: string): string | undefined {
    const keeps = name === node.name || node.referenced || node.declarations.has(APPLICATION) || !this.holds(node);
    return keeps || !node.key.endsWith(node.name) ? undefined : name;
  }

  /** Adds a node that shares that of another name. Returns the latter. */
  #addPart(part: GraphNode, declaration: NodeDeclaration, declarer: Declarer | undefined): GraphNode {
    const shared = { ...declaration, key: part.key.slice(0, -part.name.length) + declaration.name };
    const into = this.find(shared) ?? this.add(shared, declarer);
    uniteNodes(part, into);
    this.#rememberPart(part);
    return into;
  }

  #rememberPart(part: GraphNode): void {
    this.#parts.set(part.key, part);
    if (this.#parts.size > MAX_PARTS) this.#parts.delete(this.#parts.keys().next().value!);
  }

  /** Has a node share that of another name, which is made of it if there is none. */
  #share(node: GraphNode, name: string): void {
    const key = node.key.slice(0, -node.name.length) + name;
    this.#become(node, () => {
      const known = this.#nodes.get(key);
      if (known !== undefined) return known;
      const made = new GraphNode(0, key, name, node.pattern, node.since);
      this.#put(made, false);
      return made;
    });
  }

  /** @param other called when the node has made room for it */
  #become(node: GraphNode, other: () => GraphNode): void {
    const links = [...node.incoming, ...node.outgoing];
    this.#drop(node);
    const into = other();
    for (const link of links) {
      this.disconnect(link);
      const [from, to] = [link.from === node ? into : link.from, link.to === node ? into : link.to];
      const shared = from.linkTo(link.type, to) ?? this.connect(from, link.type, to);
      if (shared === undefined) continue;
      uniteLinks(link, shared);
      for (const part of [...link.parts, link]) if (part.declarers.size > 0) shared.parts.add(part);
      link.parts.clear();
    }
    uniteNodes(node, into);
    for (const part of [...node.parts, node]) if (part.declarations.size > 0) into.parts.add(part);
    node.parts.clear();
    this.#rememberPart(node);
    this.changed();
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

  #join(link: GraphLink, declarer?: Declarer): boolean {
    const { from, to } = link;
    if (!this.holds(from) || !this.holds(to)) return false;
    const { maxLinks } = this.#limits;
    const fits =
      (!this.isFull(from) || this.#displaceLink(from.outgoing, declarer)) &&
      (this.#links.size < maxLinks || this.#displaceLink(this.#links, declarer));
    if (!fits) {
      this.dropped.links++;
      return false;
    }
    from.outgoing.add(link);
    if (isAside(link)) from.asides++;
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
    if (other !== undefined) mergeLinks(link, other);
    else this.#join(link);
  }
}

/** Gives `into` all that `node` has but its links and declarations. From then on they share their statistics. */
function uniteNodes(node: GraphNode, into: GraphNode): void {
  if (!into.declared && node.declared) into.pattern = node.pattern;
  into.seenAs ??= node.seenAs;
  into.observed ||= node.observed;
  into.referenced ||= node.referenced;
  into.since = Math.min(into.since, node.since);
  into.sent = Math.max(into.sent, node.sent);
  into.sends.absorb(node.sends);
  into.receives.absorb(node.receives);
  node.ways.clear();
  node.dormant = false;
  node.successor = into;
}

/** The same for two links with the same ends, which have one declaration. */
function mergeLinks(link: GraphLink, into: GraphLink): void {
  uniteLinks(link, into);
  for (const declarer of link.declarers) into.declarers.add(declarer);
  for (const part of link.parts) into.parts.add(part);
  link.declarers.clear();
  link.parts.clear();
}

/** The declarations of one destination under two names become those of one node. */
function moveDeclarations(node: GraphNode, into: GraphNode): void {
  for (const [declarer, declaration] of node.declarations) {
    into.declarations.set(declarer, united(into.declarations.get(declarer), declaration));
  }
  for (const part of node.parts) into.parts.add(part);
  node.declarations.clear();
  node.parts.clear();
}

function isAside({ type }: GraphLink): boolean {
  return type === "discard" || type === "error";
}

/** `text` with `name` replaced by another one where it stands as a word. */
function replacedWord(text: string, name: string, by: string): string {
  const at = text.indexOf(name);
  const word = /[\p{L}\d]/u;
  if (at < 0 || word.test(text[at - 1] ?? "") || word.test(text[at + name.length] ?? "")) return text;
  return text.slice(0, at) + by + text.slice(at + name.length);
}

/** Gives `into` all that `link` has but its ends and declarers. From then on their count is one. */
function uniteLinks(link: GraphLink, into: GraphLink): void {
  into.count += link.count;
  link.successor = into;
  link.dormant = false;
}

function united(known: NodeDeclaration | undefined, declaration: NodeDeclaration): NodeDeclaration {
  try {
    return known === undefined ? declaration : { ...mergedDeclaration(declaration, known), pattern: known.pattern };
  } catch {
    return known!;
  }
}
