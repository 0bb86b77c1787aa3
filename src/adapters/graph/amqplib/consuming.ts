import type { GraphHost } from "../../../integration-graph/adapter.ts";
import { field } from "../../kit/interception/field.ts";
import type { Live, Making } from "../../kit/interception/replaced-method.ts";
import { Delivery, deliver } from "../../kit/messaging/delivery.ts";
import { ByTag } from "./by-tag.ts";
import type { Consumer, Consumers } from "./consumers.ts";
import { SYSTEM } from "./topology.ts";
import type { Agreement } from "./wrapped-methods.ts";

/** How many unsettled messages of a channel are watched. For further ones, the function alone decides how they fared. */
const MAX_OPEN = 10_000;

/** To how many exchanges a function that consumed before is drawn. */
const MAX_SOURCES = 20;

interface Message {
  readonly fields?: Fields | undefined;
}

/** Called without a message when the broker cancels the consumer. */
type Callback = (this: unknown, message: Message | null) => unknown;

interface Fields {
  readonly deliveryTag: number;
  readonly exchange: string;
  readonly routingKey: string;
  readonly redelivered: boolean;
}

/** The consumer that a message came to; without one, any of those that the function is. Undefined if none is known yet. */
type Begun = (fields: Fields | undefined) => Consumer | undefined;

/** The functions that consume through one channel. */
export class Consuming {
  readonly #host: GraphHost;
  readonly #consumers: Consumers;
  readonly #deliveries: Deliveries;
  /** The consumers of this channel, by their tags. One that began before has several if its messages come by several exchanges. */
  readonly #byTag = new Map<string, readonly Consumer[]>();
  readonly #functions = new WeakMap<Callback, Callback>();
  readonly #live: Live;

  constructor(host: GraphHost, consumers: Consumers, deliveries: Deliveries, live: Live) {
    this.#host = host;
    this.#consumers = consumers;
    this.#deliveries = deliveries;
    this.#live = live;
  }

  /** Measures the channel's `consume`. `lastQueue` returns the queue that the name "" stands for. */
  consume(agreed: (slot: number, agreed: Agreement) => Making, lastQueue: () => string): Making {
    return (method) => {
      const self = this;
      return function consume(this: unknown, ...args: unknown[]): unknown {
        const [queue, callback, options] = args;
        if (!self.#live.live || typeof callback !== "function") return Reflect.apply(method, this, args);
        const name = typeof queue === "string" && queue !== "" ? queue : lastQueue();
        let consumer: Consumer | undefined;
        // A message may come before the promise of the reply is fulfilled.
        const begun = (): Consumer => {
          consumer ??= self.#consumers.add(name, callback, options);
          return consumer;
        };
        args[1] = self.#measured(callback as Callback, begun);
        const request = agreed(3, (_, reply) => {
          const tag = field(reply, "consumerTag");
          if (typeof tag === "string") self.#byTag.set(tag, [begun()]);
        });
        return Reflect.apply(request(method), this, args);
      };
    };
  }

  /** Measures the functions that consumed through the channel before it was watched. */
  found(consumersOfChannel: unknown): void {
    if (!(consumersOfChannel instanceof Map)) return;
    for (const [tag, callback] of consumersOfChannel as Map<string, Callback>) {
      const bySource = new Map<string, Consumer>();
      this.#byTag.set(tag, []);
      let last: Consumer | undefined;
      const begun: Begun = (fields) => {
        if (fields === undefined) return last;
        const { exchange, routingKey } = fields;
        const source = exchange === "" ? ` ${routingKey}` : exchange;
        last = bySource.get(source) ?? (bySource.size < MAX_SOURCES ? undefined : last);
        if (last === undefined) {
          last = this.#consumers.find(exchange, routingKey, callback);
          bySource.set(source, last);
          this.#byTag.set(tag, [...bySource.values()]);
        }
        return last;
      };
      consumersOfChannel.set(tag, this.#measured(callback, begun));
    }
  }

  cancelled(tag: unknown): void {
    const consumers = this.#byTag.get(tag as string) ?? [];
    this.#byTag.delete(tag as string);
    for (const consumer of consumers) this.#consumers.end(consumer);
  }

  /** The application closes the channel, which ends its consumers. */
  ended(): void {
    for (const tag of this.#byTag.keys()) this.cancelled(tag);
  }

  /** The channel was lost without being closed. The application may consume again through another one. */
  lost(): void {
    for (const consumer of [...this.#byTag.values()].flat()) this.#consumers.lose(consumer);
    this.#byTag.clear();
  }

  /** Gives the channel the application's own functions back. */
  giveBack(consumersOfChannel: unknown): void {
    if (!(consumersOfChannel instanceof Map)) return;
    for (const [tag, callback] of consumersOfChannel) {
      const given = this.#functions.get(callback as Callback);
      if (given !== undefined) consumersOfChannel.set(tag, given);
    }
  }

  #measured(callback: Callback, begun: Begun): Callback {
    const self = this;
    function consumed(this: unknown, message: Message | null): unknown {
      const handle = () => callback.call(this, message);
      const fields = message?.fields;
      const consumer = self.#live.live ? begun(fields) : undefined;
      if (consumer === undefined) return handle();
      if (fields !== undefined) return self.#handled(consumer, fields, handle);
      // The broker cancelled the consumer itself, as it does when the queue is deleted.
      for (const [tag, known] of self.#byTag) if (known.includes(consumer)) self.cancelled(tag);
      return self.#host.within(consumer.node, handle);
    }
    this.#functions.set(consumed, callback);
    return consumed;
  }

  #handled(consumer: Consumer, { deliveryTag, exchange, redelivered }: Fields, handle: () => unknown): unknown {
    const delivery = this.#deliveries.begin(consumer, deliveryTag);
    if (delivery === undefined) return this.#host.within(consumer.node, handle);
    // A redelivered message comes from the queue, not by its exchange.
    const link = redelivered ? undefined : this.#consumers.wayTo(consumer, exchange)?.link;
    if (link !== undefined) link.tally.count++;
    return deliver(this.#host, delivery, handle);
  }
}

/** The messages of one channel that are neither acknowledged nor rejected, in the order in which they came. */
export class Deliveries {
  readonly #host: GraphHost;
  #open = new ByTag<Delivery<Consumer>>();
  /** Whether the application has settled a message of this channel: then functions that consumed before are taken to need that. */
  #settles = false;

  constructor(host: GraphHost) {
    this.#host = host;
  }

  /** A message came to `consumer`; undefined if another adapter counts messages. */
  begin(consumer: Consumer, tag: number): Delivery | undefined {
    if (!this.#host.counts(SYSTEM)) return undefined;
    const settled = (consumer.noAck ?? !this.#settles) || this.#open.size >= MAX_OPEN;
    const delivery = new Delivery(this.#host, consumer, settled);
    if (!settled) this.#open.set(tag, delivery);
    return delivery;
  }

  /**
   * The application settled a message, or all up to it; tag 0 stands for all.
   *
   * @param dead whether the broker will not deliver it again
   */
  settle(tag: number, upTo: boolean, failed: boolean, dead: boolean): void {
    this.#settles = true;
    if (!upTo) this.#settle(tag, failed, dead);
    else for (const open of this.#open.tags) if (tag === 0 || open <= tag) this.#settle(open, failed, dead);
  }

  /** The broker takes unsettled messages back. */
  abandon(): void {
    for (const tag of this.#open.tags) this.#open.take(tag)!.abandoned();
  }

  /** Nothing is counted any more. */
  clear(): void {
    this.#open = new ByTag();
  }

  #settle(tag: number, failed: boolean, dead: boolean): void {
    const delivery = this.#open.take(tag);
    if (delivery === undefined) return;
    delivery.settled(failed);
    const deadLetters = dead ? delivery.to.by.from.deadLetters?.link : undefined;
    if (deadLetters !== undefined) deadLetters.tally.count++;
  }
}
