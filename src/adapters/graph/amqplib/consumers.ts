import type { GraphHost } from "../../../integration-graph/adapter.ts";
import { MAX_NAME_LENGTH } from "../../../integration-graph/declaration.ts";
import type { GraphLink, GraphNode } from "../../../integration-graph/node.ts";
import { endpointKey } from "../../../integration-graph/node-id.ts";
import { field } from "../../kit/interception/field.ts";
import type { Destination, Way } from "./destination.ts";
import type { AmqplibOptions } from "./options.ts";
import type { Topology } from "./topology.ts";

/** So many exchanges that only delivered messages tell of are taken up. */
const MAX_LEARNT = 200;

/** A handler of the graph: one function on one queue, unless the application gave several consumers one name. */
interface Handler {
  readonly name: string;
  readonly node: GraphNode;
  readonly inputs: Map<Destination, GraphLink | undefined>;
  /** Those that consume now. */
  readonly active: Set<Consumer>;
  /** Whether a lost channel ended them. */
  lost: boolean;
}

/** One consumption of a queue by a channel. */
export class Consumer {
  readonly handler: Handler;
  readonly queue: Destination;
  readonly noAck: boolean;
  /** The ways that its messages came by, by the exchange they were published to; undefined where there is none to count. */
  readonly ways = new Map<string, Way | undefined>();
  /** As of which revision of the topology. */
  revision = 0;

  constructor(handler: Handler, queue: Destination, noAck: boolean) {
    this.handler = handler;
    this.queue = queue;
    this.noAck = noAck;
  }

  get node(): GraphNode {
    return this.handler.node;
  }

  get input(): GraphLink | undefined {
    return this.handler.inputs.get(this.queue);
  }
}

/** The functions that consume, as nodes of the graph. */
export class Consumers {
  readonly #host: GraphHost;
  readonly #topology: Topology;
  readonly #naming: AmqplibOptions["name"];
  readonly #handlers = new Map<string, Handler>();
  #learnt = 0;

  constructor(host: GraphHost, topology: Topology, naming: AmqplibOptions["name"]) {
    this.#host = host;
    this.#topology = topology;
    this.#naming = naming;
  }

  /** `callback` begins to consume. */
  add(queueName: string, callback: { readonly name?: unknown }, options: unknown): Consumer {
    const queue = this.#topology.hold("queue", queueName, "consumed");
    const handler = this.#handler(this.#nameOf(queue, callback, options));
    const consumer = new Consumer(handler, queue, Boolean(field(options, "noAck")));
    if (!handler.inputs.has(queue)) handler.inputs.set(queue, this.#host.link(queue.node, "input", handler.node));
    handler.active.add(consumer);
    handler.lost = false;
    this.#describe(handler, consumer);
    return consumer;
  }

  /** It does not consume any more. Its node stays until a rebuild, as it may be a pause. */
  end(consumer: Consumer): void {
    if (consumer.handler.active.delete(consumer)) this.#describe(consumer.handler, consumer);
  }

  /** Its channel is gone, against the application's will. Its node stays. */
  lose(consumer: Consumer): void {
    consumer.handler.lost = true;
    this.end(consumer);
  }

  /** Whether anybody consumes a queue. */
  consume(queue: Destination): boolean {
    for (const { active } of this.#handlers.values()) {
      for (const consumer of active) if (consumer.queue === queue) return true;
    }
    return false;
  }

  /** A queue is no more. */
  forget(queue: Destination): void {
    for (const handler of this.#handlers.values()) {
      const input = handler.inputs.get(queue);
      if (!handler.inputs.delete(queue)) continue;
      if (input !== undefined) this.#host.withdraw(input);
      for (const consumer of handler.active) if (consumer.queue === queue) handler.active.delete(consumer);
      if (handler.inputs.size === 0) this.#drop(handler);
    }
  }

  /** Drops the handlers that nobody consumes with any more. */
  prune(): void {
    for (const handler of this.#handlers.values()) {
      if (handler.active.size === 0 && !handler.lost) this.#drop(handler);
    }
  }

  /**
   * The way that a message came by, where it is known to have come to the queue from the exchange itself. Where no binding is
   * known that would explain it, another application has made one.
   */
  wayTo(consumer: Consumer, exchange: string): Way | undefined {
    if (exchange === "") return undefined;
    if (consumer.revision !== this.#topology.revision) {
      consumer.ways.clear();
      consumer.revision = this.#topology.revision;
    }
    const known = consumer.ways.get(exchange);
    if (known !== undefined || consumer.ways.has(exchange)) return known;
    const way = this.#learn(exchange, consumer.queue);
    if (consumer.ways.size < MAX_LEARNT) consumer.ways.set(exchange, way);
    return way;
  }

  #learn(name: string, queue: Destination): Way | undefined {
    let exchange = this.#topology.find("exchange", name);
    if (exchange === undefined) {
      if (this.#learnt >= MAX_LEARNT) return undefined;
      this.#learnt++;
      exchange = this.#topology.hold("exchange", name);
      return this.#topology.connect(exchange, "route", queue, "seen");
    }
    for (const way of exchange.outgoing.values()) if (way.to === queue && way.type === "route") return way;
    if (this.#topology.leads(exchange, queue)) return undefined;
    return this.#topology.connect(exchange, "route", queue, "seen");
  }

  #nameOf(queue: Destination, callback: { readonly name?: unknown }, options: unknown): string {
    const functionName = typeof callback.name === "string" ? callback.name.replace(/^bound /, "") : "";
    const tag = field(options, "consumerTag");
    const consumption = { queue: queue.name, functionName, consumerTag: typeof tag === "string" ? tag : undefined };
    const name = this.#naming?.(consumption) ?? `${queue.name}.${functionName || "consumer"}`;
    return name.slice(0, MAX_NAME_LENGTH).toWellFormed();
  }

  #handler(name: string): Handler {
    let handler = this.#handlers.get(name);
    if (handler === undefined) {
      handler = { name, node: this.#declare(name), inputs: new Map(), active: new Set(), lost: false };
      this.#handlers.set(name, handler);
    }
    return handler;
  }

  #describe({ name, active }: Handler, { noAck }: Consumer): void {
    this.#declare(name, { consumers: active.size, noAck });
  }

  #declare(name: string, properties?: { readonly consumers: number; readonly noAck: boolean }): GraphNode {
    const key = endpointKey(this.#host.app, "service_activator", name);
    return this.#host.declare({
      name,
      pattern: "service_activator",
      componentType: "amqp:consumer",
      properties,
      key,
    });
  }

  #drop(handler: Handler): void {
    this.#handlers.delete(handler.name);
    this.#host.withdraw(handler.node);
  }
}
