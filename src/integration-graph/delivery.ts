import type { GraphHost } from "./adapter.ts";
import type { GraphLink, GraphNode } from "./node.ts";
import { outcome } from "./outcome.ts";

/** Whom a message is delivered to. */
export interface Receiver {
  readonly node: GraphNode;
  readonly input: GraphLink | undefined;
}

/**
 * A message on its way through a handler, which its application settles: acknowledges, rejects and the like. It counts once: at
 * once where the handler throws or rejects, which is a failure; else when the handler has returned and the message is settled,
 * whichever is later. One that nobody settles does not count.
 */
export class Delivery<To extends Receiver = Receiver> {
  readonly to: To;
  readonly #host: Pick<GraphHost, "handled">;
  readonly #start = performance.now();
  #returned = false;
  #settled: boolean;
  #failed = false;
  #counted = false;

  /** `settled`: nothing is to become of the message but what its handler does. */
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

  /** The message was settled: what comes first counts. */
  settled(failed: boolean): void {
    if (this.#settled) return;
    this.#settled = true;
    this.#failed = failed;
    if (this.#returned) this.#count();
  }

  /** The handler is left with the message in its hands. Where it is not settled, the broker gives it to somebody else. */
  left(): void {
    if (this.#settled) this.returned();
    else this.threw();
  }

  #count(): void {
    if (this.#counted) return;
    this.#counted = true;
    this.#host.handled(this.to.node, outcome(this.#start, this.#failed), this.to.input);
  }
}
