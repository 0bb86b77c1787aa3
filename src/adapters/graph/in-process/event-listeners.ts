import type { GraphHost } from "../../../integration-graph/adapter.ts";
import { MAX_NAME_LENGTH } from "../../../integration-graph/declaration.ts";
import type { GraphLink, GraphNode } from "../../../integration-graph/node.ts";
import { endpointKey } from "../../../integration-graph/node-id.ts";
import type { Listener } from "../../kit/messaging/emitter-target.ts";

/** Whatever messages of a channel come to. */
export interface ListenedChannel {
  readonly node: GraphNode;
}

interface ListenerNode {
  readonly name: string;
  readonly node: GraphNode;
  readonly input: GraphLink | undefined;
}

/** What is called in the place of a listener. */
interface Measured {
  readonly raw: Listener;
  readonly of: ListenerNode;
}

const measuredListeners = new WeakMap<Listener, Measured>();

/** The listener that a measured one stands for: itself, where it is none. */
export function rawListener(listener: Listener): Listener {
  return measuredListeners.get(listener)?.raw ?? listener;
}

/** The functions that listen to channels, as nodes of the graph, by name. */
export class EventListeners {
  readonly #host: GraphHost;
  readonly #nodes = new Map<string, ListenerNode>();
  readonly #wrapped = new WeakMap<GraphNode, WeakMap<Listener, Listener>>();

  constructor(host: GraphHost) {
    this.#host = host;
  }

  /** What has to be called in the place of `raw`. It is removed by whatever would remove `raw`, and named like it. */
  measured(channel: ListenedChannel, raw: Listener): Listener {
    if (measuredListeners.has(raw)) return raw;
    const known = this.find(channel, raw);
    if (known !== undefined) return known;
    const original = originalOf(raw);
    const of = this.#nodeOf(channel, original);
    const measured = this.#host.handler(of.node, raw, { input: of.input }) as Listener;
    Object.defineProperty(measured, "listener", { value: original, configurable: true, writable: true });
    measuredListeners.set(measured, { raw, of });
    let wrapped = this.#wrapped.get(channel.node);
    if (wrapped === undefined) this.#wrapped.set(channel.node, (wrapped = new WeakMap()));
    wrapped.set(raw, measured);
    return measured;
  }

  /** What is called in the place of `raw`, as long as its node is there. */
  find(channel: ListenedChannel, raw: Listener): Listener | undefined {
    const measured = this.#wrapped.get(channel.node)?.get(raw);
    if (measured === undefined) return undefined;
    const { of } = measuredListeners.get(measured)!;
    return this.#nodes.get(of.name) === of ? measured : undefined;
  }

  /** Drops the nodes of which no listener is among these any more. */
  keep(listeners: Iterable<Listener>): void {
    const used = new Set(Array.from(listeners, (listener) => measuredListeners.get(listener)?.of));
    for (const [name, of] of this.#nodes) {
      if (used.has(of)) continue;
      this.#nodes.delete(name);
      this.#host.withdraw(of.node);
    }
  }

  #nodeOf(channel: ListenedChannel, { name: functionName }: Listener): ListenerNode {
    const called = typeof functionName === "string" ? functionName.replace(/^(bound )+/, "") : "";
    const name = `${channel.node.name}.${called || "listener"}`.slice(0, MAX_NAME_LENGTH).toWellFormed();
    let of = this.#nodes.get(name);
    if (of === undefined) {
      const key = endpointKey(this.#host.app, "service_activator", name);
      const node = this.#host.declare({ name, pattern: "service_activator", componentType: "node:listener", key });
      of = { name, node, input: this.#host.link(channel.node, "input", node) };
      this.#nodes.set(name, of);
    }
    return of;
  }
}

/** The listener as the application knows it. */
export function originalOf(raw: Listener): Listener {
  const original = raw.listener ?? Reflect.get(raw, "_origin");
  return typeof original === "function" ? (original as Listener) : raw;
}
