import type { GraphHost, MeasuredHandler } from "../../../integration-graph/adapter.ts";
import type { GraphNode } from "../../../integration-graph/node.ts";
import type { Listener } from "../../kit/messaging/emitter-target.ts";
import { functionName, HandlerRegistry, type Input, type InputChannel } from "../../kit/messaging/handlers.ts";

/** The function that is called in place of a listener. */
interface Measured {
  readonly raw: Listener;
  readonly by: Input<InputChannel>;
}

const measuredListeners = new WeakMap<Listener, Measured>();

/** The listener that a measured one stands for; the listener itself if it is not measured. */
export function rawListener(listener: Listener): Listener {
  return measuredListeners.get(listener)?.raw ?? listener;
}

/** The listener as the application knows it. */
export function originalOf(raw: Listener): Listener {
  const original = raw.listener ?? Reflect.get(raw, "_origin");
  return typeof original === "function" ? (original as Listener) : raw;
}

/** The functions that listen to channels, as nodes of the graph. */
export class EventListeners {
  readonly #host: GraphHost;
  readonly #handlers: HandlerRegistry<InputChannel>;
  readonly #measured = new WeakMap<GraphNode, WeakMap<Listener, Listener>>();

  /** Shared with what emits their events. */
  readonly moment: NonNullable<MeasuredHandler["moment"]> = { at: 0 };

  constructor(host: GraphHost) {
    this.#host = host;
    this.#handlers = new HandlerRegistry(host);
  }

  /** The function to call in place of `raw`. It is removed by whatever would remove `raw`, and has its name. */
  measured(channel: InputChannel, raw: Listener): Listener {
    if (measuredListeners.has(raw)) return raw;
    const known = this.find(channel, raw);
    if (known !== undefined) return known;
    const original = originalOf(raw);
    const name = `${channel.node.name}.${functionName(original) || "listener"}`;
    const by = this.#handlers.add({ name, componentType: "node:listener" }, channel, this);
    const measured = this.#host.handler(by.node, raw, { input: by.input, moment: this.moment }) as Listener;
    Object.defineProperty(measured, "listener", { value: original, configurable: true, writable: true });
    measuredListeners.set(measured, { raw, by });
    let ofChannel = this.#measured.get(channel.node);
    if (ofChannel === undefined) this.#measured.set(channel.node, (ofChannel = new WeakMap()));
    ofChannel.set(raw, measured);
    return measured;
  }

  /** The function that is called in place of `raw`, as long as its node is there. */
  find(channel: InputChannel, raw: Listener): Listener | undefined {
    const measured = this.#measured.get(channel.node)?.get(raw);
    if (measured === undefined) return undefined;
    const { handler, from } = measuredListeners.get(measured)!.by;
    return handler.inputs.has(from) ? measured : undefined;
  }

  /** Removes the nodes of all but these listeners. */
  keep(listeners: Iterable<Listener>): void {
    const used = new Set(Array.from(listeners, (listener) => measuredListeners.get(listener)?.by));
    this.#handlers.endAll(this, (input) => used.has(input));
    this.#handlers.prune();
  }
}
