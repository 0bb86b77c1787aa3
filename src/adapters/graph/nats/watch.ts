import type { GraphHost } from "../../../integration-graph/adapter.ts";
import type { Topology } from "../../../integration-graph/source.ts";
import { brokerOf } from "./broker.ts";
import { type Place, watchConnection } from "./connection.ts";
import { watchJetStream } from "./jetstream-client.ts";
import { readJetStream } from "./jetstream-topology.ts";
import type { NatsOptions } from "./options.ts";
import { readServices } from "./services.ts";
import { Subjects } from "./subjects.ts";
import { Subscribers } from "./subscribers.ts";
import { isJetStream, type NatsConnection, type NatsTarget, type Unwatch } from "./target.ts";
import { Collected } from "./topology.ts";

/** What any adapter watches: a message must not count twice. */
const watched = new WeakSet<NatsTarget>();

/** The connections, and clients of JetStream, that one adapter watches for one graph. */
export class Watch {
  readonly #host: GraphHost;
  readonly #options: NatsOptions;
  readonly #subscribers: Subscribers;
  /** By the identity of the broker. */
  readonly #places = new Map<string, Place>();
  readonly #placeOf = new Map<NatsConnection, Place>();
  readonly #targets = new Map<NatsTarget, Unwatch>();
  #readsJetStream = false;
  #readsServices = false;

  constructor(host: GraphHost, options: NatsOptions) {
    this.#host = host;
    this.#options = options;
    this.#subscribers = new Subscribers(host, options.name);
    host.read({ name: "nats", read: () => this.#prune() });
  }

  /** Throws a TypeError where it is watched already. */
  add(target: NatsTarget): void {
    if (watched.has(target))
      throw new TypeError("this connection or JetStream is watched by an adapter of NATS already");
    if (isJetStream(target)) {
      const { nc } = target;
      const place = this.#placeOf.get(nc) ?? this.#addConnection(nc);
      this.#keep(target, watchJetStream(target, this.#host, place));
      if (!this.#readsJetStream)
        this.#host.read({ name: "nats JetStream", read: (signal) => this.#read("jetStream", signal) });
      this.#readsJetStream = true;
    } else this.#addConnection(target as NatsConnection);
  }

  end(): void {
    for (const target of [...this.#targets.keys()].reverse()) this.#remove(target);
  }

  #addConnection(connection: NatsConnection): Place {
    if (watched.has(connection)) throw new TypeError("this connection is watched by an adapter of NATS already");
    const place = this.#placeAt(brokerOf(connection, this.#host));
    this.#placeOf.set(connection, place);
    this.#keep(connection, watchConnection(connection, this.#host, place));
    const closed = () => this.#remove(connection);
    (connection.closed() as Promise<unknown>).then(closed, closed);
    if (this.#options.services && !this.#readsServices) {
      this.#readsServices = true;
      this.#host.read({ name: "nats services", read: (signal) => this.#read("services", signal) });
    }
    return place;
  }

  async #read(what: "jetStream" | "services", signal: AbortSignal): Promise<Topology> {
    const collected = new Collected();
    const readings = [...this.#targets.keys()].map((target) => {
      if (isJetStream(target)) {
        const place = this.#placeOf.get(target.nc);
        if (what !== "jetStream" || place === undefined) return undefined;
        return readJetStream(target, place.subjects, collected, signal);
      }
      const connection = target as NatsConnection;
      if (what !== "services") return undefined;
      return readServices(connection, this.#placeOf.get(connection)!, collected, signal);
    });
    await Promise.all(readings);
    return collected.topology;
  }

  #prune(): Topology {
    this.#subscribers.prune();
    for (const { subjects } of this.#places.values()) subjects.renew();
    return { nodes: [], links: [] };
  }

  #keep(target: NatsTarget, unwatch: Unwatch): void {
    watched.add(target);
    this.#targets.set(target, unwatch);
  }

  #remove(target: NatsTarget): void {
    this.#targets.get(target)?.();
    this.#targets.delete(target);
    watched.delete(target);
    this.#placeOf.delete(target as NatsConnection);
    for (const other of this.#targets.keys()) if (isJetStream(other) && other.nc === target) this.#remove(other);
  }

  #placeAt(broker: string): Place {
    let place = this.#places.get(broker);
    if (place === undefined) {
      const subjects = new Subjects(this.#host, broker);
      place = { subjects, subscribers: this.#subscribers, own: new Map() };
      this.#places.set(broker, place);
    }
    return place;
  }
}
