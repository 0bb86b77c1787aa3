import type { Outcome } from "./adapter.ts";
import { ContextStorage } from "./context-frames.ts";
import { type AnyFunction, measured } from "./measure.ts";
import {
  countFirst,
  countSent,
  HandlerMeter,
  type HandlerOptions,
  type MeasuredGraph,
  ReceiverMeter,
  SenderMeter,
  SourceMeter,
} from "./meters.ts";
import type { GraphLink, GraphNode, Invocation } from "./node.ts";

/**
 * Measures functions for the nodes of a graph, and knows on whose behalf a message is sent.
 *
 * An endpoint's function runs in a context of its own (AsyncLocalStorage). A message that is sent in that context,
 * directly or after any number of awaits, is counted on the link from that endpoint to the channel.
 */
export class Instruments {
  readonly #graph: MeasuredGraph;
  readonly #invocations = new ContextStorage<Invocation>();

  constructor(graph: MeasuredGraph) {
    this.#graph = graph;
  }

  /** Measures a function that handles messages for `node`. */
  handler<F extends AnyFunction>(node: GraphNode, fn: F, options: HandlerOptions = {}): F {
    this.#graph.observe(node);
    return measured(fn, new HandlerMeter(node, this.#graph, this.#invocations, options), options.moment);
  }

  /** Measures a function that sends messages to the channel `node`, outside of any handler on behalf of `otherwise`. */
  sender<F extends AnyFunction>(node: GraphNode, fn: F, otherwise?: () => GraphNode): F {
    this.#graph.observe(node);
    return measured(fn, new SenderMeter(node, this.#graph, this.#invocations, otherwise));
  }

  /** Measures a function that takes messages out of the channel `node`: a result of null or undefined is no message. */
  receiver<F extends AnyFunction>(node: GraphNode, fn: F): F {
    this.#graph.observe(node);
    return measured(fn, new ReceiverMeter(node));
  }

  /** Measures a function that brings messages in for the source `node`: a result of null is no message. */
  source<F extends AnyFunction>(node: GraphNode, fn: F): F {
    this.#graph.observe(node);
    return measured(fn, new SourceMeter(node, this.#graph, this.#invocations));
  }

  /** Counts a message that `node` discarded without sending it on. */
  discarded(node: GraphNode): void {
    this.#graph.observe(node);
    const invocation = this.#invocations.value;
    if (invocation?.owner === node) invocation.discarded = true;
    countFirst(node, "discard");
  }

  /** The endpoint in whose handler this is called. */
  get current(): GraphNode | undefined {
    return this.#invocations.value?.owner;
  }

  /** Calls `fn`: what it sends is sent by `node`. Not measured. */
  within<R>(node: GraphNode, fn: () => R): R {
    if (node.dormant) this.#graph.wake(node);
    return this.#invocations.run(node.invocation, fn, undefined, []) as R;
  }

  /** Messages went to the channel `node`, sent by `from` or else by the endpoint in whose handler this is called. */
  sent(node: GraphNode, outcome: Outcome, from: GraphNode | undefined, otherwise: () => GraphNode): void {
    const { start, end, failed, count = 1 } = outcome;
    if (node.dormant) this.#graph.wake(node);
    if (!node.observed) this.#graph.observe(node);
    const { successes, failures } = node.sends;
    (failed ? failures : successes).record(start, end, count);
    const invocation = from === undefined ? this.#invocations.value : undefined;
    const owner = from ?? invocation?.owner ?? otherwise();
    if (owner.dormant) this.#graph.wake(owner);
    owner.sent = end;
    countSent(this.#graph, owner, node, count, invocation);
  }

  /** The endpoint `node` handled messages. Where it failed to, they count on its link to an error channel. */
  handled(node: GraphNode, { start, end, failed, count = 1 }: Outcome, input?: GraphLink): void {
    if (node.dormant || input?.dormant) this.#graph.wake(node, input);
    if (!node.observed) this.#graph.observe(node);
    const { successes, failures } = node.sends;
    (failed ? failures : successes).record(start, end, count);
    if (input !== undefined) input.tally.count += count;
    if (failed) countFirst(node, "error", count);
  }

  /** The channel or source `node` gave messages out. */
  received(node: GraphNode, { end, failed, count = 1 }: Outcome): void {
    if (node.dormant) this.#graph.wake(node);
    if (!node.observed) this.#graph.observe(node);
    const { successes, failures } = node.receives;
    (failed ? failures : successes).record(end, count);
  }
}
