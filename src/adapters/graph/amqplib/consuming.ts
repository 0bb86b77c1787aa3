import type { GraphHost } from "../../../integration-graph/adapter.ts";
import { field } from "../../kit/interception/field.ts";
import { isPlainPromise, settling } from "../../kit/interception/plain-promise.ts";
import type { Making } from "../../kit/interception/replaced-method.ts";
import type { Consumer, Consumers } from "./consumers.ts";
import type { Deliveries } from "./deliveries.ts";
import type { Agreement, Watching } from "./watched-method.ts";

type Callback = (this: unknown, message: unknown) => unknown;

/** The functions that consume through one channel. */
export class Consuming {
  readonly #host: GraphHost;
  readonly #consumers: Consumers;
  readonly #deliveries: Deliveries;
  /** The consumers of this channel, by their tags. */
  readonly #byTag = new Map<string, Consumer>();
  readonly #functions = new WeakMap<Callback, Callback>();
  readonly #watching: Watching;

  constructor(host: GraphHost, consumers: Consumers, deliveries: Deliveries, watching: Watching) {
    this.#host = host;
    this.#consumers = consumers;
    this.#deliveries = deliveries;
    this.#watching = watching;
  }

  /** The channel's `consume`. `lastQueue` tells which queue the name "" means. */
  consume(agreed: (slot: number, agreed: Agreement) => Making, lastQueue: () => string): Making {
    return (method) => {
      const self = this;
      return function consume(this: unknown, ...args: unknown[]): unknown {
        const [queue, callback, options] = args;
        if (!self.#watching.live || typeof callback !== "function") return Reflect.apply(method, this, args);
        const name = typeof queue === "string" && queue !== "" ? queue : lastQueue();
        let consumer: Consumer | undefined;
        // A message may come before the promise of the reply is fulfilled.
        const begun = () => {
          consumer ??= self.#consumers.add(name, callback, options);
          return consumer;
        };
        args[1] = self.#measured(callback as Callback, begun);
        const request = agreed(3, (_, reply) => {
          const tag = field(reply, "consumerTag");
          if (typeof tag === "string") self.#byTag.set(tag, begun());
        });
        return Reflect.apply(request(method), this, args);
      };
    };
  }

  cancelled(tag: unknown): void {
    const consumer = this.#byTag.get(tag as string);
    if (consumer === undefined) return;
    this.#byTag.delete(tag as string);
    this.#consumers.end(consumer);
  }

  /** The application closes the channel: nobody consumes through it any more. */
  ended(): void {
    for (const tag of this.#byTag.keys()) this.cancelled(tag);
  }

  /** The channel is gone, and the application has not closed it: it may come back with another one. */
  lost(): void {
    for (const consumer of this.#byTag.values()) this.#consumers.lose(consumer);
    this.#byTag.clear();
  }

  /** Gives the channel back the functions that it was given. */
  giveBack(consumersOfChannel: unknown): void {
    if (!(consumersOfChannel instanceof Map)) return;
    for (const [tag, callback] of consumersOfChannel) {
      const given = this.#functions.get(callback as Callback);
      if (given !== undefined) consumersOfChannel.set(tag, given);
    }
  }

  #measured(callback: Callback, begun: () => Consumer): Callback {
    const self = this;
    function consumed(this: unknown, message: unknown): unknown {
      if (!self.#watching.live) return callback.call(this, message);
      const consumer = begun();
      const run = () => callback.call(this, message);
      if (message !== null) return self.#handled(consumer, message, run);
      // So the broker says that it cancelled a consumer itself, as it does when the queue is deleted.
      for (const [tag, known] of self.#byTag) if (known === consumer) self.cancelled(tag);
      return self.#host.within(consumer.node, run);
    }
    this.#functions.set(consumed, callback);
    return consumed;
  }

  #handled(consumer: Consumer, message: unknown, run: () => unknown): unknown {
    const fields = (message as { readonly fields: Fields }).fields;
    const delivery = this.#deliveries.begin(consumer, fields.deliveryTag);
    if (delivery === undefined) return this.#host.within(consumer.node, run);
    this.#countWay(consumer, fields);
    let result: unknown;
    try {
      result = this.#host.within(consumer.node, run);
    } catch (error) {
      delivery.threw();
      throw error;
    }
    if (isPlainPromise(result)) return settling(result, delivery);
    delivery.returned();
    return result;
  }

  /** A message that comes again comes from the queue, not by its exchange. */
  #countWay(consumer: Consumer, { exchange, redelivered }: Fields): void {
    if (redelivered) return;
    const link = this.#consumers.wayTo(consumer, exchange)?.link;
    if (link !== undefined) link.count++;
  }
}

interface Fields {
  readonly deliveryTag: number;
  readonly exchange: string;
  readonly redelivered: boolean;
}
