import type { IntegrationGraph } from "./graph.ts";
import type { AnyFunction } from "./measure.ts";
import type { GraphLink, GraphNode } from "./node.ts";

/** A component of the application's integration graph. */
export class Component {
  /** The node that stands for the component in the graph. */
  readonly node: GraphNode;
  protected readonly graph: IntegrationGraph;

  constructor(node: GraphNode, graph: IntegrationGraph) {
    this.node = node;
    this.graph = graph;
  }

  get name(): string {
    return this.node.name;
  }

  /**
   * Takes the component out of the graph, with its links. Functions that it measured keep working, unseen. Declared
   * again, it has the same id, and its numbers begin anew.
   */
  remove(): void {
    this.graph.remove(this.node);
  }

  /** Whether it was declared in `graph`. */
  belongsTo(graph: IntegrationGraph): boolean {
    return this.graph === graph;
  }
}

/** A channel that messages are sent to. */
export class Channel extends Component {
  /**
   * A function of the same type that does the same and is measured: every call is one message sent to this channel, by
   * the endpoint in whose `handle` it happens. It is timed until it returns or its promise settles; a throw or a
   * rejection counts as failure.
   */
  sender<F extends AnyFunction>(send: F): F {
    return this.graph.instruments.sender(this.node, send);
  }
}

/** A channel that messages are taken out of. */
export class PollableChannel extends Channel {
  /**
   * A function of the same type that does the same and is measured: every call that gives something other than null or
   * undefined is one message taken out of this channel.
   */
  receiver<F extends AnyFunction>(receive: F): F {
    return this.graph.instruments.receiver(this.node, receive);
  }
}

/** A source that brings messages in, by polling or by being called. */
export class InboundChannelAdapter extends Component {
  /**
   * A function of the same type that does the same and is measured: every call is one message received, unless it
   * gives null. Messages sent meanwhile are sent by this source.
   */
  receiver<F extends AnyFunction>(receive: F): F {
    return this.graph.instruments.source(this.node, receive);
  }
}

/** A component that handles messages. */
export class Endpoint extends Component {
  protected readonly input: GraphLink | undefined;

  constructor(node: GraphNode, graph: IntegrationGraph, input?: GraphLink) {
    super(node, graph);
    this.input = input;
  }

  /**
   * A function of the same type that does the same and is measured: every call is one message handled. It is timed
   * until it returns or its promise settles; a throw or a rejection counts as failure, and on the link to the error
   * channel where there is one. Messages sent meanwhile are sent by this endpoint.
   */
  handle<F extends AnyFunction>(handler: F): F {
    return this.graph.instruments.handler(this.node, handler, { input: this.input });
  }
}

/** An endpoint that can discard messages. */
export class DiscardingEndpoint extends Endpoint {
  /**
   * Says that a message was discarded without being sent to the discard channel: dropped, or left to a broker. It
   * counts on the link to the discard channel. Sending to that channel counts by itself.
   */
  discarded(): void {
    this.graph.instruments.discarded(this.node);
  }
}

/** An endpoint that lets through only some messages. */
export class Filter extends DiscardingEndpoint {
  /**
   * As of every endpoint. A result of `false`, or a promise of it, says that the message did not pass: it counts on the
   * link to the discard channel, once, whether the handler also sent it there or not.
   */
  override handle<F extends AnyFunction>(handler: F): F {
    return this.graph.instruments.handler(this.node, handler, { input: this.input, falseDiscards: true });
  }
}
