import type { GraphHost } from "../integration-graph/adapter.ts";
import { outcome } from "../integration-graph/outcome.ts";
import { SYSTEM } from "./broker.ts";
import type { Consumer } from "./consumers.ts";

/** So many unsettled messages of a channel are watched; of more, the function alone tells how they fared. */
const MAX_OPEN = 10_000;

/**
 * A message on its way through a consumer. It counts once: as failed when the function throws or rejects, or when it is nacked,
 * rejected or lost with its channel; else as successful. It is over, and its time ends, when the function has settled and the
 * message is settled too; a failing function ends it at once.
 */
export class Delivery {
  readonly consumer: Consumer;
  readonly start: number;
  readonly #host: GraphHost;
  #returned = false;
  #settled: boolean;
  #failed = false;
  #counted = false;

  constructor(host: GraphHost, consumer: Consumer, settled: boolean) {
    this.#host = host;
    this.consumer = consumer;
    this.#settled = settled;
    this.start = performance.now();
  }

  /** The function has returned, or its promise was fulfilled. */
  returned(): void {
    this.#returned = true;
    if (this.#settled) this.#count();
  }

  /** The function threw, or its promise was rejected. */
  threw(): void {
    this.#failed = true;
    this.#count();
  }

  settled(failed: boolean): void {
    this.#settled = true;
    this.#failed ||= failed;
    if (this.#returned) this.#count();
  }

  /** The channel is gone, and the message goes to somebody else. */
  lost(): void {
    this.#failed = true;
    this.#count();
  }

  #count(): void {
    if (this.#counted) return;
    this.#counted = true;
    const { node, input } = this.consumer;
    this.#host.handled(node, outcome(this.start, this.#failed), input);
  }
}

/** The messages of one channel that are neither acknowledged nor rejected, in the order in which they came. */
export class Deliveries {
  readonly #host: GraphHost;
  readonly #open = new Map<number, Delivery>();

  constructor(host: GraphHost) {
    this.#host = host;
  }

  /** A message came to `consumer`; undefined where somebody else counts messages. */
  begin(consumer: Consumer, tag: number): Delivery | undefined {
    if (!this.#host.counts(SYSTEM)) return undefined;
    const settled = consumer.noAck || this.#open.size >= MAX_OPEN;
    const delivery = new Delivery(this.#host, consumer, settled);
    if (!settled) this.#open.set(tag, delivery);
    return delivery;
  }

  /** The application settled a message, or all up to it; of `tag` 0 all. `dead` where the broker gives it to nobody any more. */
  settle(tag: number, upTo: boolean, failed: boolean, dead: boolean): void {
    if (!upTo) this.#settle(tag, failed, dead);
    else for (const open of this.#open.keys()) if (tag === 0 || open <= tag) this.#settle(open, failed, dead);
  }

  /** The broker takes back what is open. */
  lose(): void {
    for (const delivery of this.#open.values()) delivery.lost();
    this.#open.clear();
  }

  /** Nothing is counted any more. */
  clear(): void {
    this.#open.clear();
  }

  #settle(tag: number, failed: boolean, dead: boolean): void {
    const delivery = this.#open.get(tag);
    if (delivery === undefined) return;
    this.#open.delete(tag);
    delivery.settled(failed);
    const deadLetters = dead ? delivery.consumer.queue.deadLetters?.link : undefined;
    if (deadLetters !== undefined) deadLetters.count++;
  }
}
