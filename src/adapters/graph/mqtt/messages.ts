import type { GraphHost } from "../../../integration-graph/adapter.ts";
import { outcome } from "../../../integration-graph/outcome.ts";
import { field } from "../../kit/interception/field.ts";
import { SYSTEM } from "./broker.ts";
import type { Handlers } from "./handlers.ts";
import type { Subscriptions } from "./subscriptions.ts";
import type { MqttClient } from "./target.ts";
import type { Topic, Topics } from "./topics.ts";

type Call = (this: unknown, ...args: unknown[]) => unknown;
type Listener = Call & { readonly listener?: { readonly name?: unknown } };

interface Parts {
  readonly handlers: Handlers;
  readonly subscriptions: Subscriptions;
}

/** What comes to a client, and the functions that take it. */
export class Messages {
  /** Whether the application has replaced the library's own method, which does nothing. */
  readonly handlesMessages: boolean;
  readonly #client: MqttClient;
  readonly #host: GraphHost;
  readonly #topics: Topics;
  readonly #handlers: Handlers;
  readonly #subscriptions: Subscriptions;
  readonly #ownName: string;
  /** The listeners as they are called, by the subscription that a message came by. */
  #measured = new WeakMap<Listener, Map<Topic | undefined, Call>>();

  constructor(client: MqttClient, host: GraphHost, topics: Topics, { handlers, subscriptions }: Parts) {
    this.#client = client;
    this.#host = host;
    this.#topics = topics;
    this.#handlers = handlers;
    this.#subscriptions = subscriptions;
    this.handlesMessages = hasOwnHandling(client);
    this.#ownName = handlers.nameOf(String(Reflect.get(Reflect.get(client, "handleMessage"), "name")), "handleMessage");
  }

  /** The names of the functions that take messages, and of one that is about to be added. */
  names(listener?: unknown): ReadonlySet<string> {
    const listeners: unknown[] = [...this.#listeners()];
    if (typeof listener === "function") listeners.push(listener);
    const names = new Set(listeners.map((each) => this.#nameOf(each as Listener)));
    if (this.handlesMessages) names.add(this.#ownName);
    return names;
  }

  /** The nodes and links have changed. */
  forget(): void {
    this.#measured = new WeakMap();
  }

  /** `emit` of a client: calls the listeners to messages as Node.js does, each as what it is to the graph. */
  emitting(method: Call): Call {
    const messages = this;
    return function (this: unknown, ...args) {
      const [event, topic] = args;
      if (event !== "message" || typeof topic !== "string" || !messages.#host.counts(SYSTEM)) {
        return Reflect.apply(method, this, args);
      }
      const listeners = messages.#listeners();
      const from = messages.#came(topic);
      for (const listener of listeners) messages.#call(listener, this, args.slice(1), from);
      return listeners.length > 0;
    };
  }

  /** `handleMessage` of a client, which says by a callback when it has done with a message. */
  handling(method: Call): Call {
    const messages = this;
    return function (this: unknown, packet, callback, ...rest) {
      const host = messages.#host;
      const topic = field(packet, "topic");
      if (typeof topic !== "string" || typeof callback !== "function" || !host.counts(SYSTEM)) {
        return Reflect.apply(method, this, [packet, callback, ...rest]);
      }
      const { node, inputs } = messages.#handlers.get(messages.#ownName);
      const from = messages.#subscriptions.of(topic);
      const start = performance.now();
      let counted = false;
      const handled = (failed: boolean) => {
        if (!counted) host.handled(node, outcome(start, failed), from && inputs.get(from)?.link);
        counted = true;
      };
      function done(this: unknown, ...results: unknown[]): unknown {
        handled(Boolean(results[0]));
        return Reflect.apply(callback as Call, this, results);
      }
      try {
        return host.within(node, () => Reflect.apply(method, this, [packet, done, ...rest]));
      } catch (error) {
        handled(true);
        throw error;
      }
    };
  }

  #call(listener: Listener, self: unknown, args: unknown[], from: Topic | undefined): void {
    let measured = this.#measured.get(listener);
    if (measured === undefined) {
      measured = new Map();
      this.#measured.set(listener, measured);
    }
    let call = measured.get(from);
    if (call === undefined) {
      const { node, inputs } = this.#handlers.get(this.#nameOf(listener));
      call = this.#host.handler(node, listener, { input: from && inputs.get(from)?.link });
      measured.set(from, call);
    }
    // It hands on what the listener gives back, and Node.js takes no notice of that.
    Reflect.apply(call, self, args);
  }

  #came(topic: string): Topic | undefined {
    const from = this.#subscriptions.of(topic);
    if (from?.wildcard) this.#topics.came(topic, from);
    return from;
  }

  #listeners(): readonly Listener[] {
    return this.#client.rawListeners("message");
  }

  /** One that is called once is wrapped by Node.js. */
  #nameOf(listener: Listener): string {
    return this.#handlers.nameOf(String(listener.listener?.name ?? listener.name), "message");
  }
}

function hasOwnHandling(client: MqttClient): boolean {
  if (Object.hasOwn(client, "handleMessage")) return true;
  const prototype: object | null = Object.getPrototypeOf(client);
  return prototype !== null && Object.hasOwn(prototype, "handleMessage") && !Object.hasOwn(prototype, "publish");
}
