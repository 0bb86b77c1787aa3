import { inspect } from "node:util";
import type { Consumers } from "./consumers.ts";
import type { Destination, Kind, Way } from "./destination.ts";
import { alternateOf, exchangeProperties, goesByItself, queueOption, queueProperties } from "./properties.ts";
import type { Topology } from "./topology.ts";

/** So many queues that the broker deletes by itself are kept; with more, those go first that nobody consumes any more. */
const MAX_PASSING = 100;

const DEAD_LETTERS = "dead-letters";
const ALTERNATE = "alternate";
const BINDING = "binding ";

/** What an application asks the broker for, taken into the topology. All of it is idempotent, as it is for the broker. */
export class Declarations {
  readonly #topology: Topology;
  readonly #consumers: Consumers;
  readonly #passing = new Set<Destination>();

  constructor(topology: Topology, consumers: Consumers) {
    this.#topology = topology;
    this.#consumers = consumers;
  }

  assertQueue(name: string, options: unknown): void {
    const queue = this.#topology.hold("queue", name, "asserted", queueProperties(options));
    const [exchange, key] = [queueOption(options, "deadLetterExchange"), queueOption(options, "deadLetterRoutingKey")];
    // The default exchange hands dead letters to a queue; without a routing key, to the queue that they were sent to.
    if (exchange === "" && typeof key === "string")
      this.#connect(queue, "error", this.#end("queue", key), DEAD_LETTERS);
    else if (typeof exchange === "string" && exchange !== "") {
      this.#connect(queue, "error", this.#end("exchange", exchange), DEAD_LETTERS);
    }
    if (goesByItself(options) && !queue.temporary) this.#pass(queue);
  }

  assertExchange(name: string, type: unknown, options: unknown): void {
    const exchange = this.#topology.hold("exchange", name, "asserted", exchangeProperties(type, options));
    const alternate = alternateOf(options);
    if (typeof alternate !== "string" || alternate === "") return;
    this.#connect(exchange, "route", this.#end("exchange", alternate), ALTERNATE);
  }

  /** The broker says that there is one. */
  check(kind: Kind, name: string): void {
    // The default exchange is in no graph: what is published there goes to a queue.
    if (name !== "") this.#topology.hold(kind, name, "asserted");
  }

  bind(kind: Kind, name: string, source: string, routingKey: unknown, args: unknown): void {
    const [from, to] = [this.#end("exchange", source), this.#end(kind, name)];
    this.#connect(from, "route", to, bindingOf(routingKey, args));
  }

  unbind(kind: Kind, name: string, source: string, routingKey: unknown, args: unknown): void {
    const to = this.#topology.find(kind, name);
    if (to === undefined || to.temporary) return;
    for (const way of to.incoming) {
      if (way.type !== "route" || way.from !== this.#topology.find("exchange", source)) continue;
      if (!way.from.temporary) this.#topology.disconnect(way, bindingOf(routingKey, args));
    }
  }

  deleteQueue(name: string): void {
    const queue = this.#topology.find("queue", name);
    if (queue === undefined || queue.temporary) return;
    this.#passing.delete(queue);
    this.#consumers.forget(queue);
    for (const way of queue.outgoing.values()) this.#topology.disconnect(way);
    for (const way of queue.incoming) if (way.type === "route") this.#topology.disconnect(way);
    this.#topology.release(queue);
  }

  deleteExchange(name: string): void {
    const exchange = this.#topology.find("exchange", name);
    if (exchange === undefined || exchange.temporary) return;
    for (const way of exchange.outgoing.values()) this.#topology.disconnect(way);
    // Queues and exchanges that name it for what they cannot deliver go on doing so.
    for (const way of exchange.incoming) {
      for (const reason of way.reasons) if (reason.startsWith(BINDING)) this.#topology.disconnect(way, reason);
    }
    this.#topology.release(exchange);
  }

  #end(kind: Kind, name: string): Destination {
    return this.#topology.hold(kind, name);
  }

  #connect(from: Destination, type: Way["type"], to: Destination, reason: string): void {
    // One node stands for many queues: so many bindings are one.
    const lasting = from.temporary || to.temporary ? reason.replace(/^binding .*/s, `${BINDING}*`) : reason;
    this.#topology.connect(from, type, to, lasting);
  }

  #pass(queue: Destination): void {
    this.#passing.delete(queue);
    this.#passing.add(queue);
    if (this.#passing.size <= MAX_PASSING) return;
    for (const passed of this.#passing) {
      if (passed === queue || this.#consumers.consume(passed)) continue;
      this.deleteQueue(passed.name);
      return;
    }
  }
}

/** What tells the bindings between two apart: the same routing key and the same arguments, in whatever order. */
function bindingOf(routingKey: unknown, args: unknown): string {
  return `${BINDING}${inspect([routingKey, args ?? {}], { sorted: true, depth: 8, customInspect: false })}`;
}
