import type { NodeDeclaration } from "./declaration.ts";
import type { LinkType } from "./link-type.ts";
import type { AnyFunction, Moment } from "./measure.ts";
import type { GraphLink, GraphNode } from "./node.ts";
import type { GraphSource } from "./source.ts";

/** Restores the library and removes what only the adapter declared. May be called again. */
export type Detach = () => void;

/** Feeds the graph with what it observes of one library, or of some objects of it. */
export interface GraphAdapter {
  /** The adapter's name as operators see it: the library's name, such as "amqplib". Never contains a credential. */
  readonly name: string;
  /**
   * Whether it counts only what passes through objects of its library. Adapters of two libraries for one system then both count.
   */
  readonly watchesObjects?: boolean | undefined;
  /**
   * Begins to feed `host`.
   *
   * @throws ActuatorError if it was given something that it cannot watch. It has changed nothing then.
   */
  attach(host: GraphHost): Detach;
}

/** How an adapter is attached. */
export interface AttachOptions {
  /** As {@link GraphHost.yields}. Default false. */
  readonly yields?: boolean | undefined;
}

/**
 * The graph as one adapter sees it. No method throws because of what a library does at run time: a node or link that is invalid,
 * or exceeds the limits, is not shown. What an adapter declares is removed when it is detached, and what it reports after that is
 * ignored.
 *
 * Look a node up once and keep it: the methods that are called for every message take nodes and links, not names.
 */
export interface GraphHost {
  /** The application's name, which is part of the keys of its endpoints. */
  readonly app: string;
  /**
   * Whether the adapter gives up an object as soon as another adapter is to watch it: an application that gives its
   * objects to an adapter must not be refused because they were found before.
   */
  readonly yields?: boolean | undefined;

  /** Declares a component, used or not. Declared again under the same key, properties are merged; the later ones prevail. */
  declare(node: NodeDeclaration): GraphNode;
  /** Declares that messages can take this way. Undefined if such a link is impossible or a limit is reached. */
  link(from: GraphNode, type: LinkType, to: GraphNode): GraphLink | undefined;
  /** Takes back what this adapter declared: a queue was deleted, a binding removed. */
  withdraw(element: GraphNode | GraphLink): void;
  /** The node of a key, if there is one. */
  find(key: string): GraphNode | undefined;
  /** Reports that two nodes are one: `node` becomes `into`, with its links and numbers. */
  unite(node: GraphNode, into: GraphNode): void;
  /**
   * Shows a component that was seen at run time. Unless it is declared too, it is hidden after it was idle for long, or when the
   * graph is full, and reappears with its next message.
   */
  observe(node: NodeDeclaration): GraphNode;
  /** Shows a way that messages took at run time. */
  way(from: GraphNode, type: LinkType, to: GraphNode): GraphLink | undefined;
  /** Reads `source` now and at every rebuild, until the adapter is detached. If that fails, its part is kept and marked. */
  read(source: GraphSource): void;

  /** Measures `fn` as a handler of `node`: what it sends, directly or after awaits, is sent by `node`. */
  handler<F extends AnyFunction>(node: GraphNode, fn: F, options?: MeasuredHandler): F;
  /** Measures `fn` as a function that sends to `channel`, on behalf of the endpoint that calls it. */
  sender<F extends AnyFunction>(channel: GraphNode, fn: F): F;

  /**
   * Reports messages sent, for libraries that are not measured by wrapping a function. Times are readings of `performance.now()`.
   *
   * @param from the sender; by default {@link GraphHost.currentSender}
   */
  sent(channel: GraphNode, outcome: Outcome, from?: GraphNode): void;
  /** Reports messages that `endpoint` handled, which came by `input`. */
  handled(endpoint: GraphNode, outcome: Outcome, input?: GraphLink): void;
  /** Reports messages that were taken out of `node`, a pollable channel or a source. */
  received(node: GraphNode, outcome: Outcome): void;
  /** Calls `fn`: what it sends, directly or after awaits, is sent by `endpoint`. Does not measure it. */
  within<R>(endpoint: GraphNode, fn: () => R): R;
  /** The endpoint in whose handler this is read; undefined outside of handlers. */
  readonly current: GraphNode | undefined;
  /**
   * The sender of what is sent now: {@link GraphHost.current}, or else the application's own node `<app>.producer`. Read it when
   * a message is sent if the library answers in another context.
   */
  readonly currentSender: GraphNode;

  /**
   * The name of a destination as the graph shows it: `amq.gen-*` for the names that RabbitMQ generates, `user-*` for `user-4711`,
   * most names unchanged. Use it at the end of the destination's key, so that temporary destinations are one node. It may change
   * when more names become known; nodes of earlier names then become that of the later one.
   *
   * @param scope what stands before it in the name of the node
   */
  shownName(name: string, scope?: string): string;
  /** Reports a destination that has no node of its own because of a limit of the adapter: its messages count for another one. */
  collapsed(name: string): void;
  /**
   * Whether this adapter counts the messages of `system` ("rabbitmq", "kafka", "bullmq" …). The first adapter that asks does, with
   * all others of the same name, until the last of that name is detached; other adapters only declare, so that no message counts
   * twice. Adapters that {@link GraphAdapter.watchesObjects} all count. Cheap enough to be called for every message, which is necessary, since the answer may change.
   */
  counts(system: string): boolean;
  /**
   * The identity of the broker at `address` ("host:port" or what a library calls it): what `nameBroker` or the configuration says,
   * or else the address without credentials.
   */
  broker(system: string, address: string): string;
  /** Reports that the broker at `address` calls itself `identity`. Channels seen under the address become that broker's. */
  nameBroker(system: string, address: string, identity: string): void;
}

/** How {@link GraphHost.handler} measures. */
export interface MeasuredHandler {
  /** The link that messages come by. */
  readonly input?: GraphLink | undefined;
  /** Shared with the adapter that measures what calls the handler. */
  readonly moment?: Moment | undefined;
}

/** How one message fared, or several that went together: each of those took the whole time. */
export interface Outcome {
  /** A reading of `performance.now()`. */
  readonly start: number;
  readonly end: number;
  readonly failed?: boolean | undefined;
  /** 1 by default. */
  readonly count?: number | undefined;
}
