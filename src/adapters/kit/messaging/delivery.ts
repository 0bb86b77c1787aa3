import type { GraphHost, Outcome } from "../../../integration-graph/adapter.ts";
import type { GraphLink, GraphNode } from "../../../integration-graph/node.ts";
import { isPlainPromise, settling } from "../interception/plain-promise.ts";

/** The handler that a message is delivered to, and the link that it comes by. */
export interface Receiver {
  readonly node: GraphNode;
  readonly input: GraphLink | undefined;
}

/** One object for all messages: a host reads it before it returns, so no message needs one of its own. */
const last = { start: 0, end: 0, failed: false };

/**
 * How a message fared that began at `start`, a reading of `performance.now()`, and ends now. Valid until the next call: pass it to
 * a method of {@link GraphHost} and do not keep it.
 *
 * @example
 * ```ts
 * const start = performance.now();
 * queue.send(message);
 * host.sent(orders.node, outcome(start, false));
 * ```
 */
export function outcome(start: number, failed: boolean): Outcome {
  last.start = start;
  last.end = performance.now();
  last.failed = failed;
  return last;
}

/**
 * A message on its way through a handler, which the application settles: acknowledges, rejects and the like. It counts once: at
 * once if the handler throws or rejects, which is a failure; otherwise when the handler has returned and the message is settled,
 * whichever is later. A message that is never settled does not count.
 *
 * See {@link deliver}.
 */
export class Delivery<To extends Receiver = Receiver> {
  readonly to: To;
  readonly #host: Pick<GraphHost, "handled">;
  readonly #start = performance.now();
  #returned = false;
  #settled: boolean;
  #failed = false;
  #counted = false;

  /** @param settled whether the outcome depends on the handler alone, as without acknowledgements */
  constructor(host: Pick<GraphHost, "handled">, to: To, settled: boolean) {
    this.#host = host;
    this.to = to;
    this.#settled = settled;
  }

  /** The handler has returned, or its promise was fulfilled. */
  returned(): void {
    this.#returned = true;
    if (this.#settled) this.#count();
  }

  /** The handler threw, or its promise was rejected. */
  threw(): void {
    this.#failed = true;
    this.#count();
  }

  /** The message was settled. Only the first call counts. */
  settled(failed: boolean): void {
    if (this.#settled) return;
    this.#settled = true;
    this.#failed = failed;
    if (this.#returned) this.#count();
  }

  /** The handler ended with the message in hand. If it is not settled, the broker delivers it again: it failed here. */
  abandoned(): void {
    if (this.#settled) this.returned();
    else this.threw();
  }

  #count(): void {
    if (this.#counted) return;
    this.#counted = true;
    this.#host.handled(this.to.node, outcome(this.#start, this.#failed), this.to.input);
  }
}

/**
 * Calls a handler with its message: what it sends, directly or after awaits, is sent by its node. Returns or throws what it does.
 *
 * @example
 * ```ts
 * const delivery = new Delivery(host, input, false);
 * message.onAck = () => delivery.settled(false);
 * return deliver(host, delivery, () => onMessage(message));
 * ```
 */
export function deliver(host: Pick<GraphHost, "within">, delivery: Delivery, handle: () => unknown): unknown {
  let result: unknown;
  try {
    result = host.within(delivery.to.node, handle);
  } catch (error) {
    delivery.threw();
    throw error;
  }
  if (isPlainPromise(result)) return settling(result, delivery);
  delivery.returned();
  return result;
}
