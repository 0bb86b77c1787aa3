import type { GraphHost } from "../../../integration-graph/adapter.ts";
import type { GraphNode } from "../../../integration-graph/node.ts";
import { bullmqPlace, bullmqQueue, DEFAULT_BULLMQ_PREFIX } from "../../kit/messaging/broker-destinations.ts";
import { Destination, DestinationRegistry } from "../../kit/messaging/destinations.ts";

/** The system of queues in keys and counts. */
export const SYSTEM = "bullmq";

/** A queue that the application works with. */
export class Queue extends Destination<"queue"> {
  /** The objects that listen to the events of its jobs. */
  readonly listeners = new Set<object>();

  get place(): Queues {
    return this.registry as unknown as Queues;
  }
}

/** The queues under one prefix in one database of Redis. Two queues of one name are the same only if all of this is. */
export class Queues extends DestinationRegistry<"queue", Queue> {
  /** The identity of the database in Redis. */
  readonly broker: string;
  readonly prefix: string;
  readonly #places: Places;

  constructor(host: GraphHost, places: Places, broker: string, prefix: string) {
    super(host, {
      kinds: ["queue"],
      type: Queue,
      lingers: true,
      declaration: (_, name, details) => bullmqQueue(name, { broker, prefix }, details),
    });
    this.broker = broker;
    this.prefix = prefix;
    this.#places = places;
  }

  /** What tells the names of handlers of these queues from those under other prefixes. */
  get scope(): string {
    return this.prefix === DEFAULT_BULLMQ_PREFIX ? "" : `${this.prefix}:`;
  }

  /** The queues under another prefix of this database. */
  under(prefix: unknown): Queues {
    return typeof prefix === "string" && prefix !== "" ? this.#places.at(this.broker, prefix) : this;
  }

  /** The node of a queue that a job mentions as `<prefix>:<queue>`. Only a prefix can contain a colon. */
  nodeOfKey(key: string): GraphNode {
    const colon = key.lastIndexOf(":");
    return this.#places.at(this.broker, key.slice(0, Math.max(colon, 0))).sentTo("queue", key.slice(colon + 1));
  }
}

/** The queues of all databases and prefixes. */
export class Places {
  readonly #host: GraphHost;
  readonly #places = new Map<string, Queues>();

  constructor(host: GraphHost) {
    this.#host = host;
  }

  [Symbol.iterator](): Iterator<Queues> {
    return this.#places.values();
  }

  at(broker: string, prefix: string): Queues {
    const key = `${broker} ${prefix}`;
    let queues = this.#places.get(key);
    if (queues === undefined) this.#places.set(key, (queues = new Queues(this.#host, this, broker, prefix)));
    return queues;
  }

  /** Where the queue of a queue or worker is, and those of a flow producer unless a flow names another prefix. */
  of(target: object): Queues {
    const { broker, prefix } = bullmqPlace(target, this.#host);
    return this.at(broker, prefix);
  }
}
