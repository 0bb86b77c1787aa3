import { AsyncLocalStorage } from "node:async_hooks";
import type { IntegrationGraph } from "./graph.ts";
import { Invocation } from "./invocation.ts";
import type { GraphLink } from "./link.ts";
import { type AnyFunction, type Meter, measured } from "./measure.ts";
import type { GraphNode } from "./node.ts";

/** How the handling of messages is measured. */
export interface HandlerOptions {
  /** The link that messages come in by. */
  readonly input?: GraphLink | undefined;
  /** Whether a result of `false` says that the message was discarded. */
  readonly falseDiscards?: boolean | undefined;
}

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

class HandlerMeter implements Meter<Invocation> {
  readonly #node: GraphNode;
  readonly #invocations: AsyncLocalStorage<Invocation>;
  readonly #input: GraphLink | undefined;
  readonly #falseDiscards: boolean;

  constructor(node: GraphNode, invocations: AsyncLocalStorage<Invocation>, options: HandlerOptions) {
    this.#node = node;
    this.#invocations = invocations;
    this.#input = options.input;
    this.#falseDiscards = options.falseDiscards ?? false;
  }

  begin(): Invocation {
    if (this.#input !== undefined) this.#input.count++;
    return new Invocation(this.#node);
  }

  run(invocation: Invocation, fn: AnyFunction, self: unknown, args: unknown[]): unknown {
    return this.#invocations.run(invocation, Reflect.apply, fn, self, args);
  }

  succeeded(invocation: Invocation, result: unknown, start: number, end: number): void {
    this.#node.sends.successes.record(start, end);
    if (this.#falseDiscards && result === false && !invocation.discarded) countFirst(this.#node, "discard");
  }

  failed(invocation: Invocation, start: number, end: number): void {
    this.#node.sends.failures.record(start, end);
    if (!invocation.failed) countFirst(this.#node, "error");
  }
}

class SenderMeter implements Meter<undefined> {
  readonly #node: GraphNode;
  readonly #graph: IntegrationGraph;
  readonly #invocations: AsyncLocalStorage<Invocation>;

  constructor(node: GraphNode, graph: IntegrationGraph, invocations: AsyncLocalStorage<Invocation>) {
    this.#node = node;
    this.#graph = graph;
    this.#invocations = invocations;
  }

  begin(): undefined {
    const invocation = this.#invocations.getStore();
    if (invocation === undefined) return;
    const link = this.#graph.way(invocation.owner, this.#node);
    if (link === undefined) return;
    link.count++;
    if (link.type === "discard") invocation.discarded = true;
    else if (link.type === "error") invocation.failed = true;
  }

  run(_: undefined, fn: AnyFunction, self: unknown, args: unknown[]): unknown {
    return Reflect.apply(fn, self, args);
  }

  succeeded(_: undefined, _result: unknown, start: number, end: number): void {
    this.#node.sends.successes.record(start, end);
  }

  failed(_: undefined, start: number, end: number): void {
    this.#node.sends.failures.record(start, end);
  }
}

class ReceiverMeter implements Meter<undefined> {
  readonly #node: GraphNode;

  constructor(node: GraphNode) {
    this.#node = node;
  }

  begin(): undefined {}

  run(_: undefined, fn: AnyFunction, self: unknown, args: unknown[]): unknown {
    return Reflect.apply(fn, self, args);
  }

  succeeded(_: undefined, result: unknown, _start: number, end: number): void {
    if (result !== null && result !== undefined) this.#node.receives.successes.record(end);
  }

  failed(_: undefined, _start: number, end: number): void {
    this.#node.receives.failures.record(end);
  }
}

class SourceMeter implements Meter<Invocation> {
  readonly #node: GraphNode;
  readonly #invocations: AsyncLocalStorage<Invocation>;

  constructor(node: GraphNode, invocations: AsyncLocalStorage<Invocation>) {
    this.#node = node;
    this.#invocations = invocations;
  }

  begin(): Invocation {
    return new Invocation(this.#node);
  }

  run(invocation: Invocation, fn: AnyFunction, self: unknown, args: unknown[]): unknown {
    return this.#invocations.run(invocation, Reflect.apply, fn, self, args);
  }

  succeeded(_: Invocation, result: unknown, _start: number, end: number): void {
    if (result !== null) this.#node.receives.successes.record(end);
  }

  failed(invocation: Invocation, _start: number, end: number): void {
    this.#node.receives.failures.record(end);
    if (!invocation.failed) countFirst(this.#node, "error");
  }
}

function countFirst(node: GraphNode, type: "discard" | "error"): void {
  for (const link of node.outgoing) {
    if (link.type !== type) continue;
    link.count++;
    return;
  }
}
