import type { AsyncLocalStorage } from "node:async_hooks";
import type { IntegrationGraph } from "./graph.ts";
import { Invocation } from "./invocation.ts";
import type { GraphLink } from "./link.ts";
import type { AnyFunction, Meter } from "./measure.ts";
import type { GraphNode } from "./node.ts";

/** What is sent while the function runs, or later in its context, is sent by the node. */
abstract class OwnerMeter {
  protected readonly node: GraphNode;
  readonly #invocations: AsyncLocalStorage<Invocation>;

  constructor(node: GraphNode, invocations: AsyncLocalStorage<Invocation>) {
    this.node = node;
    this.#invocations = invocations;
  }

  begin(): Invocation {
    return new Invocation(this.node);
  }

  run(invocation: Invocation, fn: AnyFunction, self: unknown, args: unknown[]): unknown {
    return this.#invocations.run(invocation, Reflect.apply, fn, self, args);
  }
}

/** What is sent while the function runs is sent by whoever called it. */
abstract class CalleeMeter {
  protected readonly node: GraphNode;

  constructor(node: GraphNode) {
    this.node = node;
  }

  begin(): undefined {}

  run(_: undefined, fn: AnyFunction, self: unknown, args: unknown[]): unknown {
    return Reflect.apply(fn, self, args);
  }
}

/** How the handling of messages is measured. */
export interface HandlerOptions {
  /** The link that messages come in by. */
  readonly input?: GraphLink | undefined;
  /** Whether a result of `false` says that the message was discarded. */
  readonly falseDiscards?: boolean | undefined;
}

/** Measures a function that handles messages. */
export class HandlerMeter extends OwnerMeter implements Meter<Invocation> {
  readonly #input: GraphLink | undefined;
  readonly #falseDiscards: boolean;

  constructor(node: GraphNode, invocations: AsyncLocalStorage<Invocation>, options: HandlerOptions) {
    super(node, invocations);
    this.#input = options.input;
    this.#falseDiscards = options.falseDiscards ?? false;
  }

  override begin(): Invocation {
    if (this.#input !== undefined) this.#input.count++;
    return super.begin();
  }

  succeeded(invocation: Invocation, result: unknown, start: number, end: number): void {
    this.node.sends.successes.record(start, end);
    if (this.#falseDiscards && result === false && !invocation.discarded) countFirst(this.node, "discard");
  }

  failed(invocation: Invocation, start: number, end: number): void {
    this.node.sends.failures.record(start, end);
    if (!invocation.failed) countFirst(this.node, "error");
  }
}

/** Measures a function that brings messages in. */
export class SourceMeter extends OwnerMeter implements Meter<Invocation> {
  succeeded(_: Invocation, result: unknown, _start: number, end: number): void {
    if (result !== null) this.node.receives.successes.record(end);
  }

  failed(invocation: Invocation, _start: number, end: number): void {
    this.node.receives.failures.record(end);
    if (!invocation.failed) countFirst(this.node, "error");
  }
}

/** Measures a function that sends messages to a channel. */
export class SenderMeter extends CalleeMeter implements Meter<undefined> {
  readonly #graph: IntegrationGraph;
  readonly #invocations: AsyncLocalStorage<Invocation>;

  constructor(node: GraphNode, graph: IntegrationGraph, invocations: AsyncLocalStorage<Invocation>) {
    super(node);
    this.#graph = graph;
    this.#invocations = invocations;
  }

  override begin(): undefined {
    const invocation = this.#invocations.getStore();
    if (invocation === undefined) return;
    const link = this.#graph.way(invocation.owner, this.node);
    if (link === undefined) return;
    link.count++;
    if (link.type === "discard") invocation.discarded = true;
    else if (link.type === "error") invocation.failed = true;
  }

  succeeded(_: undefined, _result: unknown, start: number, end: number): void {
    this.node.sends.successes.record(start, end);
  }

  failed(_: undefined, start: number, end: number): void {
    this.node.sends.failures.record(start, end);
  }
}

/** Measures a function that takes messages out of a channel. */
export class ReceiverMeter extends CalleeMeter implements Meter<undefined> {
  succeeded(_: undefined, result: unknown, _start: number, end: number): void {
    if (result !== null && result !== undefined) this.node.receives.successes.record(end);
  }

  failed(_: undefined, _start: number, end: number): void {
    this.node.receives.failures.record(end);
  }
}

/** Counts a message on the first link of this type that begins at `node`, where there is one. */
export function countFirst(node: GraphNode, type: "discard" | "error"): void {
  for (const link of node.outgoing) {
    if (link.type !== type) continue;
    link.count++;
    return;
  }
}
