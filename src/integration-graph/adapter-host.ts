import type { AttachOptions, GraphAdapter, GraphHost, MeasuredHandler, Outcome } from "./adapter.ts";
import type { Claims } from "./claims.ts";
import { checkedDeclaration, mergedDeclaration, type NodeDeclaration } from "./declaration.ts";
import { declareLink, declareNode, withdrawLink, withdrawNode } from "./declarers.ts";
import type { GraphElements } from "./elements.ts";
import type { Instruments } from "./instruments.ts";
import { checkEnds } from "./link-ends.ts";
import type { LinkType } from "./link-type.ts";
import type { AnyFunction } from "./measure.ts";
import { type GraphLink, GraphNode, settled } from "./node.ts";
import { endpointKey } from "./node-id.ts";
import type { NumberedNames } from "./numbered-names.ts";
import { isChannel } from "./pattern.ts";
import type { GraphSource } from "./source.ts";
import type { Sources } from "./sources.ts";

/** What the host of an adapter works with. */
export interface HostParts {
  readonly elements: GraphElements;
  readonly sources: Sources;
  readonly instruments: Instruments;
  readonly claims: Claims;
  /** The node of what was seen at run time. */
  readonly observe: (seen: NodeDeclaration) => GraphNode;
  readonly names: NumberedNames;
}

/** The graph as one adapter sees it, and the declarer of what that adapter declares. One adapter may be attached several times. */
export class AdapterHost implements GraphHost {
  readonly yields: boolean;
  readonly #parts: HostParts;
  readonly #name: string;
  readonly #watchesObjects: boolean;
  readonly #sources = new Set<GraphSource>();
  /** Whether it counts the messages of the system that was last asked for. */
  #counts = false;
  #asked = "";
  #askedAt = -1;
  #producer: GraphNode | undefined;
  #closed = false;

  constructor(
    parts: HostParts,
    { name, watchesObjects = false }: Pick<GraphAdapter, "name" | "watchesObjects">,
    { yields = false }: AttachOptions = {},
  ) {
    this.yields = yields;
    this.#parts = parts;
    this.#name = name;
    this.#watchesObjects = watchesObjects;
  }

  get app(): string {
    return this.#parts.elements.app;
  }

  get current(): GraphNode | undefined {
    return this.#parts.instruments.current;
  }

  get currentSender(): GraphNode {
    return this.current ?? this.#ownProducer();
  }

  declare(declaration: NodeDeclaration): GraphNode {
    const { elements } = this.#parts;
    try {
      const checked = checkedDeclaration(declaration);
      if (this.#closed) return elements.find(checked) ?? this.#unseen();
      const before = (elements.part(checked) ?? elements.find(checked))?.declarations.get(this);
      const bothChannels = isChannel(before?.pattern ?? checked.pattern) && isChannel(checked.pattern);
      const agreed = bothChannels || before?.pattern === checked.pattern ? before : undefined;
      return declareNode(elements, mergedDeclaration(agreed, checked), this);
    } catch {
      return this.#refused();
    }
  }

  link(from: GraphNode, type: LinkType, to: GraphNode): GraphLink | undefined {
    if (this.#closed) return undefined;
    try {
      return declareLink(this.#parts.elements, from, type, to, this);
    } catch {
      this.#parts.elements.dropped.links++;
      return undefined;
    }
  }

  withdraw(element: GraphNode | GraphLink): void {
    const { elements } = this.#parts;
    if (element instanceof GraphNode) withdrawNode(elements, element, this);
    else withdrawLink(elements, element, this);
  }

  find(key: string): GraphNode | undefined {
    return this.#parts.elements.find({ name: "", pattern: "message_channel", key });
  }

  unite(node: GraphNode, into: GraphNode): void {
    this.#parts.elements.unite(settled(node), settled(into));
  }

  observe(declaration: NodeDeclaration): GraphNode {
    return this.#parts.observe(declaration);
  }

  way(from: GraphNode, type: LinkType, to: GraphNode): GraphLink | undefined {
    const { elements } = this.#parts;
    const [start, end] = [settled(from), settled(to)];
    for (const node of [start, end]) if (node.dormant) elements.wake(node);
    try {
      checkEnds(start, type, end);
    } catch {
      elements.dropped.links++;
      return undefined;
    }
    return start.linkTo(type, end) ?? elements.connect(start, type, end);
  }

  read(source: GraphSource): void {
    if (this.#closed) return;
    this.#sources.add(source);
    this.#parts.sources.add(source).catch(() => {});
  }

  handler<F extends AnyFunction>(node: GraphNode, fn: F, options?: MeasuredHandler): F {
    return this.#parts.instruments.handler(node, fn, options);
  }

  sender<F extends AnyFunction>(channel: GraphNode, fn: F): F {
    return this.#parts.instruments.sender(channel, fn, this.#ownProducer);
  }

  sent(channel: GraphNode, outcome: Outcome, from?: GraphNode): void {
    if (!this.#closed) this.#parts.instruments.sent(channel, outcome, from, this.#ownProducer);
  }

  handled(endpoint: GraphNode, outcome: Outcome, input?: GraphLink): void {
    if (!this.#closed) this.#parts.instruments.handled(endpoint, outcome, input);
  }

  received(node: GraphNode, outcome: Outcome): void {
    if (!this.#closed) this.#parts.instruments.received(node, outcome);
  }

  within<R>(endpoint: GraphNode, fn: () => R): R {
    return this.#parts.instruments.within(endpoint, fn);
  }

  shownName(name: string, scope?: string): string {
    return this.#parts.names.shown(name, scope);
  }

  collapsed(name: string): void {
    this.#parts.names.count(name);
  }

  counts(system: string): boolean {
    const { claims } = this.#parts;
    if (this.#asked !== system || this.#askedAt !== claims.revision) {
      this.#counts = claims.counts(this.#name, system, this.#watchesObjects);
      this.#asked = system;
      this.#askedAt = claims.revision;
    }
    return this.#counts;
  }

  broker(system: string, address: string): string {
    return this.#parts.elements.brokers.identity(system, address);
  }

  nameBroker(system: string, address: string, identity: string): void {
    const { elements } = this.#parts;
    const renamed = elements.brokers.learn(system, address, identity);
    if (renamed !== undefined) elements.rename(renamed);
  }

  /** The adapter is detached: what it still reports is ignored. */
  close(): void {
    this.#closed = true;
    for (const source of this.#sources) this.#parts.sources.remove(source);
    this.#sources.clear();
  }

  /** The sender outside of any handler. */
  readonly #ownProducer = (): GraphNode => {
    if (this.#producer?.attached) return this.#producer;
    const name = `${this.app}.producer`;
    const key = endpointKey(this.app, "inbound_gateway", name);
    this.#producer = this.declare({ name, pattern: "inbound_gateway", key });
    return this.#producer;
  };

  #refused(): GraphNode {
    this.#parts.elements.dropped.nodes++;
    return this.#unseen();
  }

  #unseen(): GraphNode {
    return new GraphNode(0, "", "", "message_channel", this.#parts.elements.clock());
  }
}
