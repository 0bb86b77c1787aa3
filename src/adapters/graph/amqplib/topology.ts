import type { GraphHost } from "../../../integration-graph/adapter.ts";
import type { LinkType } from "../../../integration-graph/link-type.ts";
import type { GraphLink, GraphNode } from "../../../integration-graph/node.ts";
import type { Properties } from "../../../integration-graph/properties.ts";
import { rabbitmqDestination } from "../../kit/messaging/broker-destinations.ts";
import { Destination, DestinationRegistry } from "../../kit/messaging/destinations.ts";

/** The system of these brokers in keys and counts. */
export const SYSTEM = "rabbitmq";

export type Kind = "queue" | "exchange";

/** A queue or an exchange that this application mentioned. */
export class AmqpDestination extends Destination<Kind> {
  readonly outgoing = new Map<string, Way>();
  readonly incoming = new Set<Way>();

  /** The way of its messages that were rejected or expired. */
  get deadLetters(): Way | undefined {
    for (const way of this.outgoing.values()) if (way.type === "error") return way;
    return undefined;
  }
}

/** A way from one destination to another, and its reasons: bindings, dead-lettering, an alternate exchange. */
export class Way {
  readonly from: AmqpDestination;
  readonly type: LinkType;
  readonly to: AmqpDestination;
  readonly link: GraphLink | undefined;
  readonly reasons = new Set<string>();

  constructor(from: AmqpDestination, type: LinkType, to: AmqpDestination, link: GraphLink | undefined) {
    this.from = from;
    this.type = type;
    this.to = to;
    this.link = link;
  }
}

/** The queues and exchanges of one virtual host of one broker, and the ways between them. */
export class Topology {
  readonly #host: GraphHost;
  readonly #destinations: DestinationRegistry<Kind, AmqpDestination>;
  /** Grows with every way that is added or removed. */
  revision = 0;

  constructor(host: GraphHost, broker: string, vhost: string) {
    this.#host = host;
    this.#destinations = new DestinationRegistry<Kind, AmqpDestination>(host, {
      kinds: ["queue", "exchange"],
      type: AmqpDestination,
      declaration: (kind, name, details) => rabbitmqDestination(kind, name, { broker, vhost }, details),
    });
  }

  find(kind: Kind, name: string): AmqpDestination | undefined {
    return this.#destinations.find(kind, name);
  }

  /** Keeps a destination for `reason`. */
  hold(kind: Kind, name: string, reason: string, properties?: Properties): AmqpDestination {
    return this.#destinations.hold(kind, name, reason, properties);
  }

  /** Messages are taken out of a queue one by one. */
  poll(queue: AmqpDestination): void {
    this.#destinations.poll(queue);
  }

  /** Adds a reason for a way, which keeps both of its ends. */
  connect(from: AmqpDestination, type: LinkType, to: AmqpDestination, reason: string): Way {
    const key = keyOf(type, to);
    let way = from.outgoing.get(key);
    if (way === undefined) {
      way = new Way(from, type, to, this.#host.link(from.node, type, to.node));
      from.outgoing.set(key, way);
      to.incoming.add(way);
      from.hold(way);
      to.hold(way);
      this.revision++;
    }
    way.reasons.add(reason);
    return way;
  }

  /** The same for ends that are known by name only, and kept by the way alone. */
  connectNamed(from: readonly [Kind, string], type: LinkType, to: readonly [Kind, string], reason: string): Way {
    const [start, end] = [this.hold(...from, CONNECTING), this.hold(...to, CONNECTING)];
    // One node stands for many queues with generated names: so many bindings are one.
    const lasting = start.temporary || end.temporary ? reason.replace(/^binding .*/s, "binding *") : reason;
    const way = this.connect(start, type, end, lasting);
    start.release(CONNECTING);
    end.release(CONNECTING);
    return way;
  }

  /** Removes a reason for a way, or all of them. */
  disconnect(way: Way, reason?: string): void {
    if (reason === undefined) way.reasons.clear();
    else way.reasons.delete(reason);
    if (way.reasons.size > 0) return;
    way.from.outgoing.delete(keyOf(way.type, way.to));
    way.to.incoming.delete(way);
    this.revision++;
    if (way.link !== undefined) this.#host.withdraw(way.link);
    way.from.release(way);
    way.to.release(way);
  }

  /** Removes all reasons for a destination except for the ways to and from it. */
  release(destination: AmqpDestination): void {
    for (const user of [...destination.users]) if (!(user instanceof Way)) destination.release(user);
  }

  /** Whether messages are known to reach one destination from another, directly or not. */
  leads(from: AmqpDestination, to: AmqpDestination): boolean {
    const seen = new Set([from]);
    for (const at of seen) {
      for (const way of at.outgoing.values()) if (way.type === "route") seen.add(way.to);
    }
    return seen.has(to);
  }

  /** The node that a published message goes to: the default exchange passes it to the queue that the routing key names. */
  published(exchange: unknown, routingKey: unknown): GraphNode {
    return exchange === ""
      ? this.#destinations.sentTo("queue", routingKey)
      : this.#destinations.sentTo("exchange", exchange);
  }
}

const CONNECTING = "connecting";

/** Unique among the ways from one destination: neither types nor kinds contain a space. */
function keyOf(type: LinkType, { kind, name }: AmqpDestination): string {
  return `${type} ${kind} ${name}`;
}
