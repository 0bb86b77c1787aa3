import type { GraphHost } from "../../../integration-graph/adapter.ts";
import { shortened } from "../../../integration-graph/declaration.ts";
import { field } from "../../kit/interception/field.ts";
import { type Method, replaceMethod, undoing } from "../../kit/interception/replaced-method.ts";
import { outcome } from "../../kit/messaging/delivery.ts";
import type { Handler, HandlerRegistry } from "../../kit/messaging/handlers.ts";
import type { Unwatch } from "../../kit/messaging/watching-adapter.ts";
import { Subscriptions } from "./subscriptions.ts";
import { SYSTEM, type Topic, type Topics } from "./topics.ts";

// biome-ignore lint/suspicious/noExplicitAny: the methods of the library, in all its versions.
type AnyMethod = (...args: any[]) => any;

/** A client of MQTT.js. */
export interface MqttClient {
  readonly options: object;
  readonly publish: AnyMethod;
  readonly subscribe: AnyMethod;
  readonly unsubscribe: AnyMethod;
  readonly emit: AnyMethod;
  readonly on: AnyMethod;
  readonly removeListener: AnyMethod;
  readonly listeners: AnyMethod;
  readonly rawListeners: AnyMethod;
}

/** A function that takes the messages of a client: those of all its subscriptions. */
export interface MqttConsumption {
  /** The listener's name, or "" if it has none. */
  readonly functionName: string;
  /** Whether it listens to "message", or is the client's own `handleMessage`. */
  readonly by: "message" | "handleMessage";
}

/** Names a function that takes messages. */
export type SubscriberNaming = ((consumption: MqttConsumption) => string | undefined) | undefined;

type Listener = Method & { readonly listener?: { readonly name?: unknown } };

interface Parts {
  readonly host: GraphHost;
  readonly topics: Topics;
  readonly handlers: HandlerRegistry<Topic>;
  readonly naming: SubscriberNaming;
  /** Called when the client has ended. */
  readonly ended: () => void;
}

/** A client that is watched: what it publishes, what it subscribes to, and the functions that take its messages. */
export class WatchedClient {
  readonly unwatch: Unwatch;
  readonly #client: MqttClient;
  readonly #parts: Parts;
  readonly #subscriptions: Subscriptions;
  /** The name of the client's own `handleMessage`, if the application replaced it: the library's does nothing. */
  readonly #ownName: string | undefined;
  #own: Handler<Topic> | undefined;
  /** The listeners as they are called, by the subscription that a message came by. */
  #measured = new WeakMap<Listener, Map<Topic | undefined, Method>>();

  constructor(client: MqttClient, parts: Parts) {
    this.#client = client;
    this.#parts = parts;
    this.#subscriptions = new Subscriptions(parts.topics, () => this.refresh());
    if (hasOwnHandling(client)) {
      const own: unknown = Reflect.get(client, "handleMessage");
      this.#ownName = this.#nameOf(String(field(own, "name")), "handleMessage");
    }
    const onListener = (event: unknown, listener: unknown) => {
      if (event === "message") this.refresh(listener);
    };
    const restore = undoing([
      replaceMethod(client, "publish", (method) => this.#publishing(method)),
      this.#subscriptions.watch(client),
      replaceMethod(client, "emit", (method) => this.#emitting(method)),
      ...(this.#ownName === undefined
        ? []
        : [replaceMethod(client, "handleMessage", (method) => this.#handling(method))]),
    ]);
    client.on("newListener", onListener);
    client.on("end", parts.ended);
    this.#declareWill();
    this.refresh();
    this.unwatch = () => {
      restore();
      client.removeListener("newListener", onListener);
      client.removeListener("end", parts.ended);
      this.#subscriptions.clear();
      this.#takeOver(new Set(), new Set());
    };
  }

  /** Reads the listeners and subscriptions again. `added` is a listener that is about to be added. */
  refresh(added?: unknown): void {
    const listeners: unknown[] = [...this.#listeners()];
    if (typeof added === "function") listeners.push(added);
    const names = new Set(listeners.map((each) => this.#listenerName(each as Listener)));
    if (this.#ownName !== undefined) names.add(this.#ownName);
    this.#takeOver(names, this.#subscriptions.topics);
    this.#measured = new WeakMap();
  }

  /** The functions of these names, and no others, take the client's messages, of these topics and no others. */
  #takeOver(names: ReadonlySet<string>, topics: ReadonlySet<Topic>): void {
    const { handlers } = this.#parts;
    for (const name of names) {
      const handler = handlers.get({ name, componentType: "mqtt:subscriber" });
      if (name === this.#ownName) this.#own = handler;
      handler.users.add(this);
      for (const topic of topics) handlers.take(handler, topic, this);
    }
    for (const { description, users } of handlers) if (!names.has(description.name)) users.delete(this);
    handlers.endAll(this, ({ handler, from }) => names.has(handler.description.name) && topics.has(from));
    handlers.prune();
  }

  /** Measures `publish`, which `publishAsync` calls too: the library calls back when the message is sent. */
  #publishing(method: Method): Method {
    const { host, topics } = this.#parts;
    const client = this.#client;
    return function publish(this: unknown, ...args) {
      if (!host.counts(SYSTEM)) return Reflect.apply(method, this, args);
      const [topic, , options] = args;
      const start = performance.now();
      const from = host.currentSender;
      if (field(options, "retain") && typeof topic === "string") topics.retain(topic);
      const node = topics.sentTo("topic", topic);
      const sent = (failed: boolean) => host.sent(node, outcome(start, failed), from);
      const at = typeof options === "function" ? 2 : 3;
      const callback = args[at];
      // A client that is ending reports this by an event if there is no callback, and must continue to do so.
      if (typeof callback !== "function" && field(client, "disconnecting")) {
        sent(true);
        return Reflect.apply(method, this, args);
      }
      while (args.length < at) args.push(undefined);
      args[at] = function (this: unknown, ...results: unknown[]) {
        sent(Boolean(results[0]));
        return typeof callback === "function" ? Reflect.apply(callback, this, results) : undefined;
      };
      try {
        return Reflect.apply(method, this, args);
      } catch (error) {
        sent(true);
        throw error;
      }
    };
  }

  /** Measures `emit`: calls the listeners to messages as Node.js does, each on behalf of its node. */
  #emitting(method: Method): Method {
    const { host } = this.#parts;
    const self = this;
    return function emit(this: unknown, ...args) {
      const [event, topic] = args;
      if (event !== "message" || typeof topic !== "string" || !host.counts(SYSTEM)) {
        return Reflect.apply(method, this, args);
      }
      const listeners = self.#listeners();
      const from = self.#cameBy(topic);
      // Node.js ignores what a listener returns.
      for (const listener of listeners) Reflect.apply(self.#measuredListener(listener, from), this, args.slice(1));
      return listeners.length > 0;
    };
  }

  /** Measures `handleMessage`, which calls back when it has handled a message. */
  #handling(method: Method): Method {
    const { host } = this.#parts;
    const self = this;
    return function handleMessage(this: unknown, packet, callback, ...rest) {
      const topic = field(packet, "topic");
      const own = self.#own;
      if (typeof topic !== "string" || typeof callback !== "function" || own === undefined || !host.counts(SYSTEM)) {
        return Reflect.apply(method, this, [packet, callback, ...rest]);
      }
      const from = self.#subscriptions.of(topic);
      const start = performance.now();
      let counted = false;
      const handled = (failed: boolean) => {
        if (!counted) host.handled(own.node, outcome(start, failed), from && own.inputs.get(from)?.input);
        counted = true;
      };
      function done(this: unknown, ...results: unknown[]): unknown {
        handled(Boolean(results[0]));
        return Reflect.apply(callback as Method, this, results);
      }
      try {
        return host.within(own.node, () => Reflect.apply(method, this, [packet, done, ...rest]));
      } catch (error) {
        handled(true);
        throw error;
      }
    };
  }

  #measuredListener(listener: Listener, from: Topic | undefined): Method {
    let measured = this.#measured.get(listener);
    if (measured === undefined) this.#measured.set(listener, (measured = new Map()));
    let call = measured.get(from);
    if (call === undefined) {
      const { host, handlers } = this.#parts;
      const { node, inputs } = handlers.get({ name: this.#listenerName(listener), componentType: "mqtt:subscriber" });
      call = host.handler(node, listener as AnyMethod, { input: from && inputs.get(from)?.input }) as Method;
      measured.set(from, call);
    }
    return call;
  }

  #cameBy(topic: string): Topic | undefined {
    const from = this.#subscriptions.of(topic);
    if (from?.wildcard) this.#parts.topics.came("topic", topic, from);
    return from;
  }

  #listeners(): readonly Listener[] {
    return this.#client.rawListeners("message");
  }

  /** The name of a listener. One that is called once is wrapped by Node.js. */
  #listenerName(listener: Listener): string {
    return this.#nameOf(String(listener.listener?.name ?? listener.name), "message");
  }

  #nameOf(name: string, by: MqttConsumption["by"]): string {
    const functionName = name === "anonymous" || name === "handleMessage" ? "" : name;
    const given = this.#parts.naming?.({ functionName, by });
    return shortened(given ?? (functionName === "" ? "mqtt.messages" : functionName));
  }

  /** The broker sends the will on behalf of the application when its connection breaks. */
  #declareWill(): void {
    const will = field(this.#client.options, "will");
    const topic = field(will, "topic");
    if (typeof topic !== "string" || topic === "") return;
    const properties = { will: true, ...(field(will, "retain") ? { retained: true } : {}) };
    const { host, topics } = this.#parts;
    host.link(host.currentSender, "output", topics.hold("topic", topic, "will", properties).node);
  }
}

function hasOwnHandling(client: MqttClient): boolean {
  if (Object.hasOwn(client, "handleMessage")) return true;
  const prototype: object | null = Object.getPrototypeOf(client);
  return prototype !== null && Object.hasOwn(prototype, "handleMessage") && !Object.hasOwn(prototype, "publish");
}
