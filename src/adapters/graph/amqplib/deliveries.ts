import type { GraphHost } from "../../../integration-graph/adapter.ts";
import { Delivery } from "../../../integration-graph/delivery.ts";
import { SYSTEM } from "./broker.ts";
import type { Consumer } from "./consumers.ts";

/** So many unsettled messages of a channel are watched; of more, the function alone tells how they fared. */
const MAX_OPEN = 10_000;

/** The messages of one channel that are neither acknowledged nor rejected, in the order in which they came. */
export class Deliveries {
  readonly #host: GraphHost;
  readonly #open = new Map<number, Delivery<Consumer>>();

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
    for (const delivery of this.#open.values()) delivery.left();
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
    const deadLetters = dead ? delivery.to.queue.deadLetters?.link : undefined;
    if (deadLetters !== undefined) deadLetters.count++;
  }
}
