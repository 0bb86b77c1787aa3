import type { GraphHost } from "../../../integration-graph/adapter.ts";
import type { LinkType } from "../../../integration-graph/link-type.ts";
import type { GraphNode } from "../../../integration-graph/node.ts";
import type { Properties } from "../../../integration-graph/properties.ts";
import { Destination, declarationOf, type Kind, Way, wayKey } from "./destination.ts";

/** So many destinations of published messages are remembered before they are looked up again. */
const MAX_REMEMBERED = 1_000;

/** The queues and exchanges of one virtual host of one broker, and the ways between them, each as long as there is a reason. */
export class Topology {
  readonly #host: GraphHost;
  readonly #place: { readonly broker: string; readonly vhost: string };
  readonly #destinations = { queue: new Map<string, Destination>(), exchange: new Map<string, Destination>() };
  /** The nodes that messages were sent to, by the names that the application used. */
  readonly #published = { queue: new Map<string, GraphNode>(), exchange: new Map<string, GraphNode>() };

  /** Grows with every way that comes or goes. */
  revision = 0;

  constructor(host: GraphHost, broker: string, vhost: string) {
    this.#host = host;
    this.#place = { broker, vhost };
  }

  find(kind: Kind, name: string): Destination | undefined {
    return this.#destinations[kind].get(this.#host.shownName(name));
  }

  /** Puts a destination down for `reason`, or else as what a way is about to lead to or from. */
  hold(kind: Kind, name: string, reason?: string, properties?: Properties): Destination {
    const shown = this.#host.shownName(name);
    let destination = this.#destinations[kind].get(shown);
    if (destination === undefined) {
      const node = this.#declare(kind, shown, false, properties);
      destination = new Destination(kind, shown, shown !== name, node);
      this.#destinations[kind].set(shown, destination);
      this.#published[kind].clear();
    } else if (properties !== undefined) {
      destination.node = this.#declare(kind, shown, destination.polled, properties);
    }
    if (reason !== undefined) destination.reasons.add(reason);
    return destination;
  }

  /** Messages are taken out of a queue one by one. */
  poll(queue: Destination): void {
    if (queue.polled) return;
    queue.polled = true;
    queue.node = this.#declare("queue", queue.name, true);
  }

  connect(from: Destination, type: LinkType, to: Destination, reason: string): Way {
    let way = from.outgoing.get(wayKey(type, to));
    if (way === undefined) {
      way = new Way(from, type, to, this.#host.link(from.node, type, to.node));
      from.outgoing.set(way.key, way);
      to.incoming.add(way);
      this.revision++;
    }
    way.reasons.add(reason);
    return way;
  }

  /** A reason for a way is no more: all of them, where none is named. */
  disconnect(way: Way, reason?: string): void {
    if (reason === undefined) way.reasons.clear();
    else way.reasons.delete(reason);
    if (way.reasons.size > 0) return;
    way.from.outgoing.delete(way.key);
    way.to.incoming.delete(way);
    this.revision++;
    if (way.link !== undefined) this.#host.withdraw(way.link);
    this.#leave(way.from);
    this.#leave(way.to);
  }

  /** Nothing but the ways to it keeps a destination any more. */
  release(destination: Destination): void {
    destination.reasons.clear();
    this.#leave(destination);
  }

  /** Whether messages are known to come from one destination to another, directly or not. */
  leads(from: Destination, to: Destination): boolean {
    const seen = new Set([from]);
    for (const at of seen) {
      for (const way of at.outgoing.values()) if (way.type === "route") seen.add(way.to);
    }
    return seen.has(to);
  }

  /** The node that a published message goes to: the default exchange hands it to the queue that the routing key names. */
  published(exchange: unknown, routingKey: unknown): GraphNode {
    const kind = exchange === "" ? "queue" : "exchange";
    const name = kind === "queue" ? routingKey : exchange;
    const known = this.#published[kind].get(name as string);
    if (known !== undefined) return known;
    const node = this.#lookUp(kind, String(name));
    if (this.#published[kind].size >= MAX_REMEMBERED) this.#published[kind].clear();
    this.#published[kind].set(name as string, node);
    return node;
  }

  #lookUp(kind: Kind, name: string): GraphNode {
    const shown = this.#host.shownName(name);
    const destination = this.#destinations[kind].get(shown);
    return destination?.node ?? this.#host.observe(declarationOf(kind, shown, this.#place));
  }

  /** Somebody else may have declared the queue already, as one that is polled or as one that is not. */
  #declare(kind: Kind, name: string, polled: boolean, properties?: Properties): GraphNode {
    const node = this.#host.declare(declarationOf(kind, name, this.#place, { polled, properties }));
    if (node.key !== "" || kind === "exchange") return node;
    return this.#host.declare(declarationOf(kind, name, this.#place, { polled: !polled, properties }));
  }

  #leave(destination: Destination): void {
    const { kind, name, node, reasons, incoming, outgoing } = destination;
    if (reasons.size > 0 || incoming.size > 0 || outgoing.size > 0) return;
    if (this.#destinations[kind].get(name) !== destination) return;
    this.#destinations[kind].delete(name);
    this.#published[kind].clear();
    this.#host.withdraw(node);
  }
}
