import type { GraphHost } from "../integration-graph/adapter.ts";
import type { GraphLink, GraphNode } from "../integration-graph/node.ts";
import { outcome } from "../integration-graph/outcome.ts";

/**
 * A message of JetStream on its way through a handler. It counts once, when the handler has done with it and it is settled,
 * whichever is later: as failed where it is negatively acknowledged or terminated; at once where the handler throws or rejects.
 * One that nobody settles is redelivered, and does not count.
 */
export class Delivery {
  readonly #host: GraphHost;
  readonly #node: GraphNode;
  readonly #input: GraphLink | undefined;
  readonly #start = performance.now();
  #returned = false;
  #settled: boolean;
  #failed = false;
  #counted = false;

  constructor(host: GraphHost, node: GraphNode, input: GraphLink | undefined, settled: boolean) {
    this.#host = host;
    this.#node = node;
    this.#input = input;
    this.#settled = settled;
  }

  returned(): void {
    this.#returned = true;
    if (this.#settled) this.#count();
  }

  threw(): void {
    this.#failed = true;
    this.#count();
  }

  /** The loop was left with this message in its hands. */
  left(): void {
    if (this.#settled) this.returned();
    else this.threw();
  }

  settled(failed: boolean): void {
    if (this.#settled) return;
    this.#settled = true;
    this.#failed = failed;
    if (this.#returned) this.#count();
  }

  #count(): void {
    if (this.#counted) return;
    this.#counted = true;
    this.#host.handled(this.#node, outcome(this.#start, this.#failed), this.#input);
  }
}

/** The methods that settle a message, and whether that means that it failed. */
const SETTLING = { ack: false, ackAck: false, next: false, nak: true, term: true } as const;

/** Tells a delivery what becomes of its message. The message is the application's alone, so it stays as it is for good. */
export function watchSettling(message: object, delivery: Delivery): void {
  for (const [name, failed] of Object.entries(SETTLING)) {
    const method: unknown = Reflect.get(message, name);
    if (typeof method !== "function") continue;
    const value = (...args: unknown[]) => {
      const result = Reflect.apply(method, message, args);
      delivery.settled(failed);
      return result;
    };
    Object.defineProperty(message, name, { value, configurable: true, writable: true, enumerable: false });
  }
}
