import type { GraphHost } from "../../../integration-graph/adapter.ts";
import { shortened } from "../../../integration-graph/declaration.ts";
import type { GraphLink, GraphNode } from "../../../integration-graph/node.ts";
import { endpointKey } from "../../../integration-graph/node-id.ts";
import type { Properties } from "../../../integration-graph/properties.ts";
import type { Receiver } from "./delivery.ts";

/** How many inputs without a user are kept until the graph is rebuilt: destinations may have names made for each user. */
const MAX_IDLE = 250;

/** A channel that handlers take messages from, such as a {@link Destination}. */
export interface InputChannel {
  readonly node: GraphNode;
  /** Keeps it in the graph as long as a handler takes messages from it. */
  hold?(user: unknown): void;
  release?(user: unknown): void;
}

/** A handler as the graph shows it. */
export interface HandlerDescription {
  /** Cut to the longest name that a graph shows. */
  readonly name: string;
  /** Such as "amqp:consumer". */
  readonly componentType: string;
  readonly properties?: Properties | undefined;
  /** What tells handlers of one name apart; the same name and scope are one node. */
  readonly scope?: string | undefined;
}

/** The input of a handler from one channel. It changes with the channel's consumers, and is what a message is delivered by. */
export class Input<C extends InputChannel> implements Receiver {
  readonly handler: Handler<C>;
  readonly from: C;
  readonly input: GraphLink | undefined;
  /** What takes messages by it now: consumers, subscriptions, workers. */
  readonly users = new Set<unknown>();

  constructor(handler: Handler<C>, from: C, link: GraphLink | undefined) {
    this.handler = handler;
    this.from = from;
    this.input = link;
  }

  get node(): GraphNode {
    return this.handler.node;
  }
}

/** A function of the application that handles messages: one node, however many consumers call it. */
export class Handler<C extends InputChannel> {
  readonly key: string;
  readonly description: HandlerDescription;
  readonly node: GraphNode;
  readonly inputs = new Map<C, Input<C>>();
  /** What keeps it in the graph without an input. */
  readonly users = new Set<unknown>();

  constructor(key: string, description: HandlerDescription, node: GraphNode) {
    this.key = key;
    this.description = description;
    this.node = node;
  }

  /** What takes messages for it now, from whatever channel. */
  get active(): ReadonlySet<unknown> {
    const all = new Set<unknown>();
    for (const { users } of this.inputs.values()) for (const user of users) all.add(user);
    return all;
  }
}

/**
 * The functions of an application that handle messages, as nodes of the graph. A handler whose last consumer ends stays until the
 * next rebuild, as that may be a pause.
 *
 * @example
 * ```ts
 * const handlers = new HandlerRegistry<Destination>(host);
 * const input = handlers.add({ name: "orders.charge", componentType: "tiny:consumer" }, queue, consumer);
 * const charge = host.handler(input.node, onMessage, input);
 * handlers.end(input, consumer);
 * ```
 */
export class HandlerRegistry<C extends InputChannel> {
  readonly #host: GraphHost;
  readonly #handlers = new Map<string, Handler<C>>();
  #idle = 0;

  constructor(host: GraphHost) {
    this.#host = host;
  }

  [Symbol.iterator](): Iterator<Handler<C>> {
    return this.#handlers.values();
  }

  /** The handler of this name and scope, declared if it is new or has properties. */
  get(description: HandlerDescription): Handler<C> {
    const name = shortened(description.name);
    const { scope, properties } = description;
    const key = endpointKey(this.#host.app, "service_activator", scope === undefined ? name : `${scope}${name}`);
    let handler = this.#handlers.get(key);
    if (handler === undefined) {
      handler = new Handler(key, { ...description, name }, this.#declare(key, { ...description, name }));
      this.#handlers.set(key, handler);
    } else if (properties !== undefined) this.describe(handler, properties);
    return handler;
  }

  /** `user` takes messages from `from` for a handler. */
  add(description: HandlerDescription, from: C, user: unknown): Input<C> {
    return this.take(this.get(description), from, user);
  }

  /** The same for a handler that is known. */
  take(handler: Handler<C>, from: C, user: unknown): Input<C> {
    let input = handler.inputs.get(from);
    if (input === undefined) {
      if (this.#idle >= MAX_IDLE) this.prune(handler);
      input = new Input(handler, from, this.#host.link(from.node, "input", handler.node));
      from.hold?.(input);
      handler.inputs.set(from, input);
    } else if (input.users.size === 0) this.#idle--;
    input.users.add(user);
    return input;
  }

  /** `user` takes no more messages by this input, which stays until it is pruned. */
  end(input: Input<C>, user: unknown): void {
    if (!input.users.delete(user) || input.users.size > 0) return;
    if (input.handler.inputs.get(input.from) === input) this.#idle++;
  }

  /** `user` takes no more messages, except by the inputs that `stays` accepts. */
  endAll(user: unknown, stays: (input: Input<C>) => boolean = () => false): void {
    for (const { inputs } of this.#handlers.values()) {
      for (const input of inputs.values()) if (!stays(input)) this.end(input, user);
    }
  }

  /** Adds properties to those of a handler. */
  describe(handler: Handler<C>, properties: Properties): void {
    const { key, description } = handler;
    if (this.#handlers.get(key) === handler) this.#declare(key, { ...description, properties });
  }

  /** Whether anything takes messages from a channel. */
  uses(from: C): boolean {
    for (const { inputs } of this.#handlers.values()) if (inputs.get(from)?.users.size) return true;
    return false;
  }

  /** A channel does not exist any more. */
  forget(from: C): void {
    for (const handler of this.#handlers.values()) {
      const input = handler.inputs.get(from);
      if (input === undefined) continue;
      if (input.users.size === 0) this.#idle--;
      this.#drop(input);
      this.#dropUnused(handler);
    }
  }

  /** Removes inputs that nothing takes messages by, and the handlers that are left without one; `kept` stays. */
  prune(kept?: Handler<C>): void {
    this.#idle = 0;
    for (const handler of this.#handlers.values()) {
      for (const input of handler.inputs.values()) if (input.users.size === 0) this.#drop(input);
      if (handler !== kept) this.#dropUnused(handler);
    }
  }

  /** Removes a handler, whatever uses it. */
  remove(handler: Handler<C>): void {
    if (this.#handlers.get(handler.key) !== handler) return;
    for (const input of handler.inputs.values()) {
      if (input.users.size === 0) this.#idle--;
      this.#drop(input);
    }
    handler.users.clear();
    this.#dropUnused(handler);
  }

  #drop(input: Input<C>): void {
    input.handler.inputs.delete(input.from);
    if (input.input !== undefined) this.#host.withdraw(input.input);
    input.from.release?.(input);
  }

  #dropUnused(handler: Handler<C>): void {
    if (handler.inputs.size > 0 || handler.users.size > 0) return;
    this.#handlers.delete(handler.key);
    this.#host.withdraw(handler.node);
  }

  #declare(key: string, { name, componentType, properties }: HandlerDescription): GraphNode {
    return this.#host.declare({ name, pattern: "service_activator", componentType, properties, key });
  }
}

/**
 * The name of a function without the prefix of `bind`; "" if it has none.
 *
 * @example
 * ```ts
 * functionName(charge.bind(shop)); // "charge"
 * ```
 */
export function functionName(fn: unknown): string {
  const name: unknown = typeof fn === "function" ? fn.name : undefined;
  return typeof name === "string" ? name.replace(/^(bound )+/, "") : "";
}
