import type { NodeDeclaration } from "./declaration.ts";
import type { LinkType } from "./link-type.ts";
import type { AnyFunction } from "./measure.ts";
import type { GraphLink, GraphNode } from "./node.ts";
import type { GraphSource } from "./source.ts";

/** Leaves the library as it was, and takes away what only the adapter declared. May be called again. */
export type Detach = () => void;

/** What watches one library, or one object of it, and feeds the graph with what it sees. */
export interface GraphAdapter {
  /** What an operator calls it: the library's name, such as "amqplib". Never holds a credential. */
  readonly name: string;
  /** Begins to feed `host`. Throws a TypeError, and has changed nothing, where what it was given is not what it watches. */
  attach(host: GraphHost): Detach;
}

/**
 * A graph as an adapter sees it. Nothing in here throws for what a library does at run time: what is unfit or does not fit
 * into the limits is not shown. What an adapter declares through its host goes when it is detached.
 *
 * Nodes are looked up once and kept by the adapter; the calls of every message take nodes and links, not names.
 */
export interface GraphHost {
  /** The application's name, a part of the keys of its endpoints. */
  readonly app: string;

  /** Says that a component exists, used or not. Again under the same key: properties are united, the later ones prevail. */
  declare(node: NodeDeclaration): GraphNode;
  /** Says that messages can go this way; undefined where that is impossible or a limit is reached. */
  link(from: GraphNode, type: LinkType, to: GraphNode): GraphLink | undefined;
  /** What this adapter declared is no more: a queue was deleted, a binding undone. */
  withdraw(element: GraphNode | GraphLink): void;
  /**
   * A component that was seen at run time. It ages unless somebody declares it: idle for long, or in a full graph, it is not
   * shown, and comes back by itself with the next message that is told of it.
   */
  observe(node: NodeDeclaration): GraphNode;
  /** A way that was seen at run time. */
  way(from: GraphNode, type: LinkType, to: GraphNode): GraphLink | undefined;
  /** Reads `source` now and at every rebuild, until the adapter is detached. Out of reach, its part is kept and marked. */
  read(source: GraphSource): void;

  /** `fn`, measured as a handler of `node`: what it sends, directly or after awaits, is sent by `node`. */
  handler<F extends AnyFunction>(node: GraphNode, fn: F, options?: { readonly input?: GraphLink | undefined }): F;
  /** `fn`, measured as a sender to `channel`, on behalf of whoever calls it. */
  sender<F extends AnyFunction>(channel: GraphNode, fn: F): F;

  /**
   * For libraries that tell of messages in other ways than by calling functions. Times are readings of `performance.now()`.
   *
   * `sent`: `count` messages went to `channel`, sent by `from`; left out: by the endpoint in whose handler this is called, else
   * by the application's own node `<app>.producer`.
   */
  sent(channel: GraphNode, outcome: Outcome, from?: GraphNode): void;
  /** `endpoint` handled a message that came by `input`. */
  handled(endpoint: GraphNode, outcome: Outcome, input?: GraphLink): void;
  /** `node`, a pollable channel or a source, gave messages out. */
  received(node: GraphNode, outcome: Outcome): void;
  /** Calls `fn`: what it sends, directly or after awaits, is sent by `endpoint`. Not measured. */
  within<R>(endpoint: GraphNode, fn: () => R): R;
  /** The endpoint in whose handler this is called, if any. */
  readonly current: GraphNode | undefined;

  /**
   * A name of a destination as the graph shows it: `amq.gen-*` for the names that RabbitMQ makes up, most names unchanged. To
   * be asked for before a key is made, so that temporary destinations are one node.
   */
  shownName(name: string): string;
  /**
   * Whether this adapter counts the messages of `system` ("rabbitmq", "kafka", "bullmq" …). The first adapter that asks does,
   * and all of the same name, until the last of that name is detached; another one only adds what it declares, so that no
   * message counts twice. Cheap enough to be asked for each message, as it has to be where an adapter may become the first.
   */
  counts(system: string): boolean;
  /**
   * The identity of the broker at `address` ("host:port" or what a library calls it): what `nameBroker` or the configuration
   * says, else the address without credentials.
   */
  broker(system: string, address: string): string;
  /** The broker at `address` is known to call itself `identity`; channels seen under the address become that broker's. */
  nameBroker(system: string, address: string, identity: string): void;
}

/** How one message fared, or several that went together: each of those took the whole time. */
export interface Outcome {
  readonly start: number;
  readonly end: number;
  readonly failed?: boolean | undefined;
  /** 1 by default. */
  readonly count?: number | undefined;
}
