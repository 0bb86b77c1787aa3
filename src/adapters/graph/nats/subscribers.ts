import type { GraphHost } from "../../../integration-graph/adapter.ts";
import type { Properties } from "../../../integration-graph/properties.ts";
import { HandlerRegistry, type Input } from "../../kit/messaging/handlers.ts";
import type { Unwatch } from "../../kit/messaging/watching-adapter.ts";
import type { NatsDestination } from "./subjects.ts";

/** A function or a loop that takes messages. */
export interface NatsConsumption {
  /** The subject of a subscription, with its wildcards; undefined for a consumer of JetStream. */
  readonly subject: string | undefined;
  /** The queue group of a subscription, if it has one. */
  readonly queue: string | undefined;
  /** The stream that a consumer of JetStream reads. */
  readonly stream: string | undefined;
  /** The durable name of the consumer of JetStream, if it has one. */
  readonly consumer: string | undefined;
  /** The callback's name, or "" if it has none, and for loops. */
  readonly functionName: string;
}

/** Names a subscriber. */
export type SubscriberNaming = ((consumption: NatsConsumption) => string | undefined) | undefined;

/** A subscriber that takes messages from a destination. */
export type Use = Input<NatsDestination>;

/** Names that say nothing about a callback: those of the properties that the library takes it by. */
const PROPERTY_NAMES = new Set(["", "callback", "handler", "anonymous"]);

/** The queue group of the endpoints of all services that name no other. */
const SERVICES = "q";

/** The functions and loops of an application that take messages, as nodes of the graph. */
export class Subscribers extends HandlerRegistry<NatsDestination> {
  readonly #naming: SubscriberNaming;

  constructor(host: GraphHost, naming: SubscriberNaming) {
    super(host);
    this.#naming = naming;
  }

  /** `user` begins to take messages. */
  subscribe(consumption: NatsConsumption, from: NatsDestination, user: object, properties?: Properties): Use {
    const name = this.#nameOf(consumption, from.name);
    return this.add({ name, componentType: "nats:subscriber", properties }, from, user);
  }

  #nameOf(consumption: NatsConsumption, from: string): string {
    const { queue, stream, consumer } = consumption;
    const functionName = PROPERTY_NAMES.has(consumption.functionName) ? "" : consumption.functionName;
    const given = this.#naming?.({ ...consumption, functionName });
    if (given !== undefined) return given;
    if (functionName !== "") return functionName;
    if (stream !== undefined) return `${consumer ?? stream}.consumer`;
    return `${queue === undefined || queue === "" || queue === SERVICES ? from : queue}.subscriber`;
  }
}

/** Called as a loop takes messages one by one. */
export interface Loop<M> {
  /** The loop received a message. */
  took(message: M): void;
  /** It asks for the next message, so it has handled the last one; or it `left` and asks for no more. */
  done(left: boolean): void;
}

/**
 * Watches what the loops over an iterable do with each of its messages. A `for await` does not run in a context of the adapter, so
 * what it sends is not known to be sent by the subscriber.
 */
export function watchLoops<M>(iterable: AsyncIterable<M>, begin: () => Loop<M>): Unwatch {
  const own = Object.getOwnPropertyDescriptor(iterable, Symbol.asyncIterator);
  const iterate = iterable[Symbol.asyncIterator];
  let live = true;
  function watchedIterate(this: unknown, ...args: unknown[]): AsyncIterator<M> {
    const inner = Reflect.apply(iterate, this, args) as AsyncIterator<M>;
    return live ? watchedIterator(inner, begin(), () => live) : inner;
  }
  const place = { value: watchedIterate, configurable: true, writable: true, enumerable: false };
  Object.defineProperty(iterable, Symbol.asyncIterator, place);
  return () => {
    live = false;
    if (Reflect.get(iterable, Symbol.asyncIterator) !== watchedIterate) return;
    if (own === undefined) Reflect.deleteProperty(iterable, Symbol.asyncIterator);
    else Object.defineProperty(iterable, Symbol.asyncIterator, own);
  };
}

function watchedIterator<M>(inner: AsyncIterator<M>, loop: Loop<M>, live: () => boolean): AsyncIterator<M> {
  let inHand = false;
  function done(left: boolean): void {
    if (inHand && live()) loop.done(left);
    inHand = false;
  }
  const outer = {
    async next() {
      done(false);
      const result = await inner.next();
      if (!result.done && live()) {
        inHand = true;
        loop.took(result.value);
      }
      return result;
    },
    return(value?: unknown) {
      done(true);
      return inner.return?.(value) ?? Promise.resolve({ done: true as const, value });
    },
    throw(error?: unknown) {
      done(true);
      return inner.throw?.(error) ?? Promise.reject(error);
    },
    [Symbol.asyncIterator]: () => outer,
  };
  return outer;
}
