import { randomUUID } from "node:crypto";
import type { AttachOptions, Detach, GraphAdapter } from "./adapter.ts";
import { Adapters } from "./adapters.ts";
import type { BrokerTable } from "./brokers.ts";
import { countsOf, type NodeCounts } from "./counts.ts";
import { checkedDeclaration, checkedName, mergedDeclaration, type NodeDeclaration } from "./declaration.ts";
import { APPLICATION } from "./declarer.ts";
import { declareLink, declareNode } from "./declarers.ts";
import { GraphElements, type GraphInternals, type GraphLimits } from "./elements.ts";
import { Instruments } from "./instruments.ts";
import { patternConflict } from "./invalid.ts";
import type { LinkType } from "./link-type.ts";
import { type GraphLink, GraphNode, settled } from "./node.ts";
import { NumberedNames } from "./numbered-names.ts";
import { oneAtATime } from "./one-at-a-time.ts";
import { isChannel, PATTERN_TRAITS } from "./pattern.ts";
import { PROVIDER } from "./provider.ts";
import { linkSnapshots, nodeSnapshots, type Shape, shapeOf } from "./shape.ts";
import type { GraphSnapshot } from "./snapshot.ts";
import type { GraphSource } from "./source.ts";
import { type ReadingOptions, Sources } from "./sources.ts";
import type { TemporaryName } from "./temporary-name.ts";
import { WallClock } from "./wall-clock.ts";

/** How a graph is kept. */
export interface IntegrationGraphOptions extends ReadingOptions {
  /** The application's name. It is part of the ids of its endpoints, and `contentDescriptor.name`. */
  readonly app: string;
  /**
   * The most nodes and links of the graph, such as `{ maxNodes: 5_000, maxLinksPerNode: 500 }`. What exceeds them is counted in
   * `dropped`. What is declared takes the place of what was only seen.
   */
  readonly limits?: GraphLimits | undefined;
  /** Names for brokers that do not give their own: `{ "redis://10.0.0.1:6379/0": "jobs" }`. */
  readonly brokers?: BrokerTable | undefined;
  /**
   * Which names of queues and channels are made up at run time; all names of one pattern share a node, and of a regular expression
   * each match becomes `*`: `[...DEFAULT_TEMPORARY_NAMES, "session-*", /tenant-[a-z]+/]`. Replaces {@link DEFAULT_TEMPORARY_NAMES}.
   */
  readonly temporaryNames?: readonly TemporaryName[] | undefined;
  /** How often sources are read again while a client watches the graph, in milliseconds; 30 seconds by default. */
  readonly refreshMs?: number | undefined;
  /** How long a node that was only seen at run time outlives its last message, in milliseconds; 1 hour by default. */
  readonly observedNodeMaxAgeMs?: number | undefined;
}

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
  /** Measures functions for its nodes. For its components. */
  readonly instruments: Instruments;
  readonly #elements: GraphElements;
  readonly #sources: Sources;
  readonly #adapters: Adapters;
  readonly #names: NumberedNames;
  readonly #wallClock = new WallClock();
  readonly #instanceId = randomUUID();
  /** As in {@link IntegrationGraphOptions}. */
  readonly refreshMs: number | undefined;
  #shape: { readonly of: Shape; readonly revision: number } | undefined;

  /**
   * @param internals for tests
   * @throws ActuatorError INVALID_ARGUMENT if the application's name or another option is invalid.
   */
  constructor(options: IntegrationGraphOptions, internals?: GraphInternals) {
    const app = checkedName(options.app, "application's name");
    this.#elements = new GraphElements({ ...options, app }, internals);
    this.#sources = new Sources(this.#elements, options);
    this.refreshMs = options.refreshMs;
    this.instruments = new Instruments(this);
    this.#names = new NumberedNames({
      temporaryNames: options.temporaryNames,
      maxNumberedNames: options.limits?.maxNumberedNames,
      onIdsFound: () => this.#elements.fold((name) => this.#names.count(name)),
    });
    this.#elements.shownAgain = (name) => this.#names.shownAgain(name);
    this.#adapters = new Adapters({
      elements: this.#elements,
      sources: this.#sources,
      instruments: this.instruments,
      observe: (seen) => this.observe(seen),
      names: this.#names,
    });
  }

  /** The application's name. */
  get app(): string {
    return this.#elements.app;
  }

  /** Grows with every change of structure. */
  get revision(): number {
    return this.#elements.revision;
  }

  /** How many nodes and links were left out because a limit was reached or, at run time, their name was unfit. */
  get dropped(): { readonly nodes: number; readonly links: number } {
    return { ...this.#elements.dropped };
  }

  /** How many names of destinations have no node of their own, because they have ids or are temporary; counted up to 10,000. */
  get collapsed(): number {
    return this.#names.collapsed;
  }

  /** The node that was declared or seen under `name`. */
  find(name: string): GraphNode | undefined {
    return this.#elements.named(name);
  }

  /**
   * Makes a component a node. A second declaration of the same name merges with the first; properties are united.
   *
   * If the graph is full, the node that is returned is not part of it.
   *
   * @throws ActuatorError INVALID_ARGUMENT if the declaration is invalid, FAILED_PRECONDITION if the name has another pattern.
   */
  declare(declaration: NodeDeclaration): GraphNode {
    const checked = checkedDeclaration(declaration);
    const before = this.#elements.find(checked)?.declarations.get(APPLICATION);
    return declareNode(this.#elements, mergedDeclaration(before, checked), APPLICATION);
  }

  /**
   * Says that statistics are taken of a node, or that a component was seen at run time, declared or not.
   * A node that is only seen ages: a rebuild drops it when it has been idle for long. Never throws for a name seen.
   */
  observe(seen: GraphNode | NodeDeclaration): GraphNode {
    const node = seen instanceof GraphNode ? seen : this.#seen(seen);
    if (!node.observed && this.#elements.holds(node)) {
      node.observed = true;
      this.#elements.changed();
    }
    return node;
  }

  /**
   * The channel of this name, for a component that refers to it. If there is none, it becomes a message channel.
   *
   * @throws ActuatorError INVALID_ARGUMENT if the name is invalid, FAILED_PRECONDITION if it is not a channel's.
   */
  channel(name: string): GraphNode {
    const checked = checkedDeclaration({ name, pattern: "message_channel" });
    const node = this.#elements.find(checked) ?? this.#elements.add(checked, APPLICATION);
    if (!isChannel(node.pattern))
      throw patternConflict(`"${node.name}" is a ${node.pattern} and cannot be used as a channel`);
    node.referenced = true;
    return node;
  }

  /**
   * Declares a link. Returns it, or undefined if one of the two is not a node of this graph or a limit is reached.
   *
   * @throws ActuatorError INVALID_ARGUMENT if links of this type do not lead from such a node to such a node.
   */
  link(from: GraphNode, type: LinkType, to: GraphNode): GraphLink | undefined {
    return declareLink(this.#elements, from, type, to, APPLICATION);
  }

  /**
   * The link that a message takes from `owner` to `channel`. If none is declared, a new one is created: a `route` from
   * a router, an `output` from any other component.
   */
  way(owner: GraphNode, channel: GraphNode): GraphLink | undefined {
    const known = owner.ways.get(channel);
    if (known !== undefined) return known;
    const [from, to] = [settled(owner), settled(channel)];
    // Refused before. Forgotten as soon as a link of the owner changes.
    if (from === owner && from.ways.has(channel)) return undefined;
    const declared = WAYS.map((type) => from.linkTo(type, to)).find((link) => link !== undefined);
    const undeclared = PATTERN_TRAITS[from.pattern].links.includes("route") ? "route" : "output";
    const link = declared ?? this.#elements.connect(from, undeclared, to);
    // Only a node that is part of the graph is updated when links are removed.
    const isRefused = link === undefined && channel.attached && this.#elements.isFull(from);
    if (from === owner && (link !== undefined || isRefused)) owner.ways.set(channel, link);
    return link;
  }

  /** Puts back a node that left because it was idle, and `link`, one of its links: a message has come. */
  wake(node: GraphNode, link?: GraphLink): void {
    this.#elements.wake(node);
    if (link === undefined) return;
    this.#elements.wake(link.from);
    this.#elements.wake(link.to);
    this.#elements.wakeLink(link);
  }

  /** Takes a node out of the graph, with its links. It comes back with the same id when it is declared again. */
  remove(node: GraphNode): void {
    this.#elements.remove(node);
  }

  /** The graph as it is now. */
  snapshot(): GraphSnapshot {
    const { app, revision, clock, outOfReach, dropped, brokers } = this.#elements;
    if (this.#shape?.revision !== revision) {
      this.#shape = { of: shapeOf(this.#elements.nodes, this.#elements.links), revision };
    }
    return {
      contentDescriptor: {
        ...PROVIDER,
        name: app,
        ...(dropped.nodes + dropped.links > 0 && { dropped: dropped.nodes + dropped.links }),
        ...(this.collapsed > 0 && { collapsed: this.collapsed }),
      },
      nodes: nodeSnapshots(this.#shape.of, { now: clock(), wallTime: this.#wallClock.read(), outOfReach }),
      links: linkSnapshots(this.#shape.of),
      revision,
      instanceId: this.#instanceId,
      ...(brokers.named.length > 0 && { brokers: brokers.named }),
    };
  }

  /** What every node has counted as of now. */
  counts(): readonly NodeCounts[] {
    return countsOf(this.#elements.nodes, this.#elements.clock());
  }

  /** As {@link GraphBuilder.attach}. */
  attach(adapter: GraphAdapter, options?: AttachOptions): Detach {
    return this.#adapters.attach(adapter, options);
  }

  /** Adds a source and reads it. Resolves to whether it could be read; where not, the next rebuild tries again. */
  addSource(source: GraphSource): Promise<boolean> {
    return this.#sources.add(source);
  }

  /** Takes a source away, with what it alone declares. */
  removeSource(source: GraphSource): void {
    this.#sources.remove(source);
  }

  /**
   * Reads every source again and drops what is gone: what sources no longer declare, and nodes only seen at run time
   * that have been idle for too long. Ids and counters stay. Resolves to the revision.
   *
   * A call while another one runs waits for a run that begins after it, so that it sees what changed before it.
   */
  readonly rebuild: () => Promise<number> = oneAtATime(async () => {
    await this.#sources.readAll();
    this.#elements.removeAged();
    return this.#elements.revision;
  });

  #seen(declaration: NodeDeclaration): GraphNode {
    try {
      const checked = checkedDeclaration(declaration);
      const known = this.#elements.find(checked);
      const node = known ?? this.#elements.add(checked);
      if (node.seenAs === undefined) {
        node.seenAs = checked;
        if (known !== undefined && !known.declared) this.#elements.changed();
      }
      // A holder of the node of a full graph need not ask again.
      if (!node.attached) node.dormant = true;
      return node;
    } catch {
      this.#elements.dropped.nodes++;
      return new GraphNode(0, "", "", "message_channel", this.#elements.clock());
    }
  }
}
