import type { ContextStorage } from "./context-frames.ts";
import type { AnyFunction, Meter, Moment } from "./measure.ts";
import { type GraphLink, type GraphNode, Invocation } from "./node.ts";

/** What measuring asks of the graph. */
export interface MeasuredGraph {
  /** Statistics are taken of the node. */
  observe(node: GraphNode): void;
  /** Puts back what left because it was idle. */
  wake(node: GraphNode, link?: GraphLink): void;
  /** The link that a message takes from `owner` to `channel`, where there is room for one. */
  way(owner: GraphNode, channel: GraphNode): GraphLink | undefined;
}

/** What is sent while the function runs, or later in its context, is sent by the node. */
abstract class OwnerMeter {
  protected readonly node: GraphNode;
  protected readonly graph: MeasuredGraph;
  readonly #invocations: ContextStorage<Invocation>;

  constructor(node: GraphNode, graph: MeasuredGraph, invocations: ContextStorage<Invocation>) {
    this.node = node;
    this.graph = graph;
    this.#invocations = invocations;
  }

  begin(): Invocation {
    if (this.node.dormant) this.graph.wake(this.node);
    // Only where there are asides it matters which message it is.
    return this.node.asides > 0 ? new Invocation(this.node) : this.node.invocation;
  }

  run(invocation: Invocation, fn: AnyFunction, self: unknown, args: unknown[]): unknown {
    return this.#invocations.run(invocation, fn, self, args);
  }
}

/** What is sent while the function runs is sent by its caller. */
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
  /** Shared with what calls the function. */
  readonly moment?: Moment | undefined;
}

/** Measures a function that handles messages. */
export class HandlerMeter extends OwnerMeter implements Meter<Invocation> {
  readonly #input: GraphLink | undefined;
  readonly #falseDiscards: boolean;

  constructor(node: GraphNode, graph: MeasuredGraph, invocations: ContextStorage<Invocation>, options: HandlerOptions) {
    super(node, graph, invocations);
    this.#input = options.input;
    this.#falseDiscards = options.falseDiscards ?? false;
  }

  override begin(): Invocation {
    const input = this.#input;
    if (input !== undefined) {
      if (input.dormant) this.graph.wake(this.node, input);
      input.tally.count++;
    }
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
  readonly #graph: MeasuredGraph;
  readonly #invocations: ContextStorage<Invocation>;
  readonly #otherwise: (() => GraphNode) | undefined;

  /** `otherwise` sends what is sent outside of any handler. */
  constructor(
    node: GraphNode,
    graph: MeasuredGraph,
    invocations: ContextStorage<Invocation>,
    otherwise?: () => GraphNode,
  ) {
    super(node);
    this.#graph = graph;
    this.#invocations = invocations;
    this.#otherwise = otherwise;
  }

  override begin(): undefined {
    if (this.node.dormant) this.#graph.wake(this.node);
    const invocation = this.#invocations.value;
    const owner = invocation?.owner ?? this.#otherwise?.();
    if (owner !== undefined) countSent(this.#graph, owner, this.node, 1, invocation);
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

/** Counts messages on their way from `owner` to `channel`; `invocation`, where it is the owner's, remembers what became of them. */
export function countSent(
  graph: MeasuredGraph,
  owner: GraphNode,
  channel: GraphNode,
  count: number,
  invocation: Invocation | undefined,
): void {
  const link = graph.way(owner, channel);
  if (link === undefined) return;
  link.tally.count += count;
  if (invocation === undefined) return;
  if (link.type === "discard") invocation.discarded = true;
  else if (link.type === "error") invocation.failed = true;
}

/** Counts messages on the first link of this type that begins at `node`, where there is one. */
export function countFirst(node: GraphNode, type: "discard" | "error", count = 1): void {
  for (const link of node.outgoing) {
    if (link.type !== type) continue;
    link.tally.count += count;
    return;
  }
}
