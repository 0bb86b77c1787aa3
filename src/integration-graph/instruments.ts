import { AsyncLocalStorage } from "node:async_hooks";
import type { IntegrationGraph } from "./graph.ts";
import type { Invocation } from "./invocation.ts";
import { type AnyFunction, measured } from "./measure.ts";
import { countFirst, HandlerMeter, type HandlerOptions, ReceiverMeter, SenderMeter, SourceMeter } from "./meters.ts";
import type { GraphNode } from "./node.ts";

/**
 * Measures functions for the nodes of a graph, and knows on whose behalf a message is sent.
 *
 * An endpoint's function runs in a context of its own (AsyncLocalStorage). A message that is sent in that context,
 * directly or after any number of awaits, is counted on the link from that endpoint to the channel.
 */
export class Instruments {
  readonly graph: IntegrationGraph;
  readonly #invocations = new AsyncLocalStorage<Invocation>();

  constructor(graph: IntegrationGraph) {
    this.graph = graph;
  }

  /** Measures a function that handles messages for `node`. */
  handler<F extends AnyFunction>(node: GraphNode, fn: F, options: HandlerOptions = {}): F {
    this.graph.observe(node);
    return measured(fn, new HandlerMeter(node, this.#invocations, options));
  }

  /** Measures a function that sends messages to the channel `node`. */
  sender<F extends AnyFunction>(node: GraphNode, fn: F): F {
    this.graph.observe(node);
    return measured(fn, new SenderMeter(node, this.graph, this.#invocations));
  }

  /** Measures a function that takes messages out of the channel `node`: a result of null or undefined is no message. */
  receiver<F extends AnyFunction>(node: GraphNode, fn: F): F {
    this.graph.observe(node);
    return measured(fn, new ReceiverMeter(node));
  }

  /** Measures a function that brings messages in for the source `node`: a result of null is no message. */
  source<F extends AnyFunction>(node: GraphNode, fn: F): F {
    this.graph.observe(node);
    return measured(fn, new SourceMeter(node, this.#invocations));
  }

  /** Counts a message that `node` discarded without sending it on. */
  discarded(node: GraphNode): void {
    this.graph.observe(node);
    const invocation = this.#invocations.getStore();
    if (invocation?.owner === node) invocation.discarded = true;
    countFirst(node, "discard");
  }
}
