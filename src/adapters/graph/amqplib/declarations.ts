import { inspect } from "node:util";
import type { Properties } from "../../../integration-graph/properties.ts";
import { field } from "../../kit/interception/field.ts";
import { plainProperties } from "../../kit/messaging/destinations.ts";
import type { Consumers } from "./consumers.ts";
import type { AmqpDestination, Kind, Topology } from "./topology.ts";

/** How many queues that the broker deletes by itself are kept; beyond that, the oldest without a consumer is removed. */
const MAX_SELF_DELETING = 100;

const BINDING = "binding ";

/** Takes what an application requests from the broker into the topology. All of it is idempotent, as it is for the broker. */
export class Declarations {
  readonly #topology: Topology;
  readonly #consumers: Consumers;
  readonly #selfDeleting = new Set<AmqpDestination>();

  constructor(topology: Topology, consumers: Consumers) {
    this.#topology = topology;
    this.#consumers = consumers;
  }

  assertQueue(name: string, options: unknown): void {
    const queue = this.#topology.hold("queue", name, "asserted", queueProperties(options));
    const [exchange, key] = [queueOption(options, "deadLetterExchange"), queueOption(options, "deadLetterRoutingKey")];
    // The default exchange passes dead letters to a queue; without a routing key, to the queue that they were sent to.
    if (exchange === "" && typeof key === "string") {
      this.#topology.connectNamed(["queue", name], "error", ["queue", key], "dead-letters");
    } else if (typeof exchange === "string" && exchange !== "") {
      this.#topology.connectNamed(["queue", name], "error", ["exchange", exchange], "dead-letters");
    }
    if (deletesItself(options) && !queue.temporary) this.#keepFew(queue);
  }

  assertExchange(name: string, type: unknown, options: unknown): void {
    this.#topology.hold("exchange", name, "asserted", exchangeProperties(type, options));
    const alternate = alternateOf(options);
    if (typeof alternate !== "string" || alternate === "") return;
    this.#topology.connectNamed(["exchange", name], "route", ["exchange", alternate], "alternate");
  }

  /** The broker confirms that it exists. */
  check(kind: Kind, name: string): void {
    // The default exchange is in no graph: what is published there goes to a queue.
    if (name !== "") this.#topology.hold(kind, name, "asserted");
  }

  bind(kind: Kind, name: string, source: string, routingKey: unknown, args: unknown): void {
    this.#topology.connectNamed(["exchange", source], "route", [kind, name], bindingOf(routingKey, args));
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
    this.#selfDeleting.delete(queue);
    this.#consumers.forget(queue);
    for (const way of queue.outgoing.values()) this.#topology.disconnect(way);
    for (const way of queue.incoming) if (way.type === "route") this.#topology.disconnect(way);
    this.#topology.release(queue);
  }

  deleteExchange(name: string): void {
    const exchange = this.#topology.find("exchange", name);
    if (exchange === undefined || exchange.temporary) return;
    for (const way of exchange.outgoing.values()) this.#topology.disconnect(way);
    // Queues and exchanges that send what they cannot deliver there continue to do so.
    for (const way of exchange.incoming) {
      for (const reason of way.reasons) if (reason.startsWith(BINDING)) this.#topology.disconnect(way, reason);
    }
    this.#topology.release(exchange);
  }

  #keepFew(queue: AmqpDestination): void {
    this.#selfDeleting.delete(queue);
    this.#selfDeleting.add(queue);
    if (this.#selfDeleting.size <= MAX_SELF_DELETING) return;
    for (const oldest of this.#selfDeleting) {
      if (oldest === queue || this.#consumers.consume(oldest)) continue;
      this.deleteQueue(oldest.name);
      return;
    }
  }
}

/** Identifies a binding between two destinations: the same routing key and the same arguments, in whatever order. */
function bindingOf(routingKey: unknown, args: unknown): string {
  return `${BINDING}${inspect([routingKey, args ?? {}], { sorted: true, depth: 8, customInspect: false })}`;
}

/** The options of amqplib and the arguments of the broker that mean the same. */
const QUEUE_ARGUMENTS = {
  messageTtl: "x-message-ttl",
  expires: "x-expires",
  maxLength: "x-max-length",
  maxPriority: "x-max-priority",
  overflow: "x-overflow",
  deadLetterExchange: "x-dead-letter-exchange",
  deadLetterRoutingKey: "x-dead-letter-routing-key",
  queueType: "x-queue-type",
  singleActiveConsumer: "x-single-active-consumer",
} as const;

type QueueOption = keyof typeof QUEUE_ARGUMENTS;

function queueProperties(options: unknown): Properties {
  const given = Object.keys(QUEUE_ARGUMENTS).map((name) => [name, queueOption(options, name as QueueOption)]);
  const properties = plainProperties({
    durable: field(options, "durable") ?? true,
    exclusive: flag(options, "exclusive"),
    autoDelete: flag(options, "autoDelete"),
    ...Object.fromEntries(given),
  });
  // The default exchange.
  const { deadLetterExchange } = Object.fromEntries(given);
  return deadLetterExchange === "" ? { ...properties, deadLetterExchange } : properties;
}

/** An option of a queue, given as an option of amqplib or as an argument of the broker. */
function queueOption(options: unknown, name: QueueOption): unknown {
  return field(options, name) ?? field(field(options, "arguments"), QUEUE_ARGUMENTS[name]);
}

function exchangeProperties(type: unknown, options: unknown): Properties {
  return plainProperties({
    exchangeType: type,
    durable: field(options, "durable") ?? true,
    internal: flag(options, "internal"),
    autoDelete: flag(options, "autoDelete"),
    alternateExchange: alternateOf(options),
  });
}

/** The exchange for messages that another one cannot route. */
function alternateOf(options: unknown): unknown {
  return field(options, "alternateExchange") ?? field(field(options, "arguments"), "alternate-exchange");
}

/** Whether the broker deletes a queue with such options by itself. */
function deletesItself(options: unknown): boolean {
  return Boolean(field(options, "exclusive") || field(options, "autoDelete") || queueOption(options, "expires"));
}

function flag(options: unknown, name: string): true | undefined {
  return field(options, name) ? true : undefined;
}
