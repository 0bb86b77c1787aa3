import type { GraphHost } from "../../../integration-graph/adapter.ts";
import type { GraphLink, GraphNode } from "../../../integration-graph/node.ts";
import { field } from "../../kit/interception/field.ts";
import { functionName, HandlerRegistry, type Input } from "../../kit/messaging/handlers.ts";
import type { AmqpDestination, Topology, Way } from "./topology.ts";

/** A function that consumes a queue. */
export interface Consumption {
  /**
   * The queue as the graph shows it: `amq.gen-*` for a queue that the broker named. For a function that consumed before the adapter was
   * attached, the exchange that its message came from, unless that is the default one.
   */
  readonly queue: string;
  /** The function's name, or "" if it has none. */
  readonly functionName: string;
  /** The tag that the application gave it, if it did. */
  readonly consumerTag: string | undefined;
}

/** Names a consumer. */
export type ConsumerNaming = ((consumption: Consumption) => string | undefined) | undefined;

/** How many exchanges that only delivered messages mention are shown. */
const MAX_LEARNT = 200;

/** Stands in an input for consumers whose channel was lost: the application is expected to reconnect. */
const LOST = Symbol("lost");

/** One consumption of a queue by a channel. */
export class Consumer {
  /** Whether its messages need no acknowledgement. Undefined if it began before it was watched. */
  readonly noAck: boolean | undefined;
  readonly by: Input<AmqpDestination>;
  /** The ways that its messages came by, by exchange; undefined for an exchange without one to count. */
  readonly ways = new Map<string, Way | undefined>();
  /** The revision of the topology that `ways` belong to. */
  revision = 0;

  constructor(by: Input<AmqpDestination>, noAck: boolean | undefined) {
    this.by = by;
    this.noAck = noAck;
  }

  get node(): GraphNode {
    return this.by.node;
  }

  get input(): GraphLink | undefined {
    return this.by.input;
  }
}

/** The functions that consume, as nodes of the graph. */
export class Consumers {
  readonly #topology: Topology;
  readonly #naming: ConsumerNaming;
  readonly #handlers: HandlerRegistry<AmqpDestination>;
  #learnt = 0;

  constructor(host: GraphHost, topology: Topology, naming: ConsumerNaming) {
    this.#topology = topology;
    this.#naming = naming;
    this.#handlers = new HandlerRegistry(host);
  }

  /** `callback` begins to consume. */
  add(queueName: string, callback: unknown, options: unknown): Consumer {
    const queue = this.#topology.hold("queue", queueName, "consumed");
    return this.#take(queue, callback, field(options, "consumerTag"), Boolean(field(options, "noAck")));
  }

  /** `callback`, which began to consume before it was watched, takes a message. The library does not keep the name of the queue. */
  find(exchange: string, routingKey: string, callback: unknown): Consumer {
    const [kind, name] = exchange === "" ? (["queue", routingKey] as const) : (["exchange", exchange] as const);
    return this.#take(this.#topology.hold(kind, name, "consumed"), callback, undefined, undefined);
  }

  #take(from: AmqpDestination, callback: unknown, tag: unknown, noAck: boolean | undefined): Consumer {
    const handler = this.#handlers.get({ name: this.#nameOf(from, callback, tag), componentType: "amqp:consumer" });
    const consumer = new Consumer(this.#handlers.take(handler, from, LOST), noAck);
    this.#handlers.take(handler, from, consumer);
    this.#handlers.end(consumer.by, LOST);
    this.#describe(consumer);
    return consumer;
  }

  /** It no longer consumes. Its node stays until a rebuild, as that may be a pause. */
  end(consumer: Consumer): void {
    this.#handlers.end(consumer.by, consumer);
    this.#describe(consumer);
  }

  /** Its channel was lost. Its node stays. */
  lose(consumer: Consumer): void {
    consumer.by.users.add(LOST);
    this.end(consumer);
  }

  /** Whether a queue is consumed. */
  consume(queue: AmqpDestination): boolean {
    return [...this.#handlers].some((handler) =>
      [...(handler.inputs.get(queue)?.users ?? [])].some((user) => user !== LOST),
    );
  }

  /** A queue was deleted. */
  forget(queue: AmqpDestination): void {
    this.#handlers.forget(queue);
  }

  /** Removes the handlers that no consumer calls any more. */
  prune(): void {
    this.#handlers.prune();
  }

  /**
   * The way that a message took, if it is known to have come to the queue from the exchange itself. If no known binding explains
   * it, another application has made one.
   */
  wayTo(consumer: Consumer, exchange: string): Way | undefined {
    if (exchange === "" || consumer.by.from.kind === "exchange") return undefined;
    if (consumer.revision !== this.#topology.revision) {
      consumer.ways.clear();
      consumer.revision = this.#topology.revision;
    }
    const known = consumer.ways.get(exchange);
    if (known !== undefined || consumer.ways.has(exchange)) return known;
    const way = this.#learn(exchange, consumer.by.from);
    if (consumer.ways.size < MAX_LEARNT) consumer.ways.set(exchange, way);
    return way;
  }

  #learn(name: string, queue: AmqpDestination): Way | undefined {
    const exchange = this.#topology.find("exchange", name);
    if (exchange === undefined) {
      if (this.#learnt >= MAX_LEARNT) return undefined;
      this.#learnt++;
      return this.#topology.connectNamed(["exchange", name], "route", [queue.kind, queue.name], "seen");
    }
    for (const way of exchange.outgoing.values()) if (way.to === queue && way.type === "route") return way;
    if (this.#topology.leads(exchange, queue)) return undefined;
    return this.#topology.connect(exchange, "route", queue, "seen");
  }

  #nameOf(queue: AmqpDestination, callback: unknown, tag: unknown): string {
    const called = functionName(callback);
    const consumerTag = typeof tag === "string" ? tag : undefined;
    const given = this.#naming?.({ queue: queue.name, functionName: called, consumerTag });
    return given ?? `${queue.name}.${called || "consumer"}`;
  }

  #describe({ by: { handler }, noAck }: Consumer): void {
    const active = [...handler.active].filter((user) => user !== LOST);
    this.#handlers.describe(handler, { consumers: active.length, ...(noAck !== undefined && { noAck }) });
  }
}
