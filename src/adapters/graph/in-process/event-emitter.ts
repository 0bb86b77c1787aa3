import { errorMonitor } from "node:events";
import type { GraphHost } from "../../../integration-graph/adapter.ts";
import type { Watch } from "../../../integration-graph/watching-adapter.ts";
import { hasMethods } from "../../kit/interception/field.ts";
import { type Method, replaceMethod, undoing } from "../../kit/interception/replaced-method.ts";
import {
  changeListeners,
  type Emitter,
  type EventName,
  isEmitter,
  type Listener,
  wildcardDelimiter,
} from "../../kit/messaging/emitter-target.ts";
import { EventChannels } from "../../kit/messaging/event-channels.ts";
import {
  type InProcessAdapter,
  type InProcessOptions,
  inProcessAdapter,
  WatchedObjects,
} from "../../kit/messaging/in-process-adapter.ts";
import { EventListeners, originalOf, rawListener } from "./event-listeners.ts";

/** How the events of emitters are shown. */
export interface EventEmitterOptions extends InProcessOptions {
  /** So many events have nodes of their own, 100 by default. All others are one, `<name>.*`. */
  readonly maxEvents?: number | undefined;
}

/** Those with which an emitter speaks of itself, and the one that watches errors without handling them. */
const OWN_EVENTS: ReadonlySet<unknown> = new Set(["newListener", "removeListener", errorMonitor]);

/** Of whichever adapter: an event must not count twice. */
export const watchedEmitters = new WatchedObjects("emitter");

/**
 * The events of emitters that the application has for its own messages: `flow.attach(eventEmitter(bus, { name: "orders" }))`.
 *
 * - An event is a channel, `orders.placed`; a listener is a service activator by the name of its function,
 *   `orders.placed.sendMail`, or `orders.placed.listener`. What listeners there are is in the graph before any event.
 * - An event counts once, as failed where `emit` throws, and once for each listener. An async listener takes until its promise
 *   settles. Everything else stays: the order of listeners, `once`, what `listeners()` shows, what `emit` returns or throws, an
 *   `error` that nobody listens to. Only `rawListeners()` shows the measured functions.
 * - A listener that is gone stays in the graph until a rebuild.
 * - EventEmitter2 as well; an event is led to those who listen to `order.*` by a `route`. Listeners to any event are not seen.
 *
 * Throws a TypeError where a target is no emitter, or watched already.
 */
export function eventEmitter(
  targets: Emitter | readonly Emitter[],
  options: EventEmitterOptions,
): InProcessAdapter<Emitter> {
  const { maxEvents = 100 } = options;
  if (!Number.isInteger(maxEvents) || maxEvents < 1) throw new TypeError("maxEvents must be a positive integer");
  const checked = (target: unknown) => {
    if (!isEmitter(target)) throw new TypeError("eventEmitter() watches emitters of events, and got something else");
  };
  return inProcessAdapter<Emitter>(Array.isArray(targets) ? targets : [targets], options, checked, (host) =>
    watchEmitters(host, options.name, maxEvents),
  );
}

function watchEmitters(host: GraphHost, name: string, maxEvents: number): Watch<Emitter> {
  const channels = new EventChannels(host, name, maxEvents);
  const listeners = new EventListeners(host);
  const emitters = new Map<Emitter, () => void>();
  const prune = () => {
    const found: Listener[] = [];
    const find = (_: EventName, listener: Listener) => {
      found.push(listener);
      return listener;
    };
    for (const emitter of emitters.keys()) changeListeners(emitter, find);
    listeners.keep(found);
    return { nodes: [], links: [] };
  };
  host.read({ name: `events of ${name}`, read: prune });
  return {
    add(emitter) {
      watchedEmitters.enter(emitter);
      emitters.set(emitter, watchEmitter(emitter, host, channels, listeners));
    },
    end() {
      for (const [emitter, unwatch] of emitters) {
        unwatch();
        watchedEmitters.leave(emitter);
      }
      emitters.clear();
    },
  };
}

function watchEmitter(
  emitter: Emitter,
  host: GraphHost,
  channels: EventChannels,
  listeners: EventListeners,
): () => void {
  const delimiter = wildcardDelimiter(emitter);
  const measured = (event: EventName, listener: Listener) =>
    OWN_EVENTS.has(event) || typeof listener !== "function"
      ? listener
      : listeners.measured(channels.listened(event), listener);
  const emitting = (method: Method): Method =>
    function emit(this: unknown, ...args) {
      if (OWN_EVENTS.has(args[0])) return Reflect.apply(method, this, args);
      const channel = channels.emitted(Array.isArray(args[0]) ? eventName(args[0], delimiter) : args[0]);
      if (delimiter !== undefined) for (const route of channels.routes(channel, delimiter)) route.tally.count++;
      let failed = true;
      let heard: unknown;
      const start = performance.now();
      try {
        heard = Reflect.apply(method, this, args);
        failed = false;
        return heard;
      } finally {
        // Nobody listened, so no time has passed. Reading the clock is most of what an event costs then.
        host.sent(channel.node, { start, end: heard === false ? start : performance.now(), failed });
      }
    };
  const adding = (method: Method): Method =>
    function (this: unknown, event, listener, ...rest) {
      return Reflect.apply(method, this, [event, measured(eventName(event, delimiter), listener as Listener), ...rest]);
    };
  const removing = (method: Method): Method =>
    function (this: unknown, event, listener, ...rest) {
      return Reflect.apply(method, this, [
        event,
        registered(eventName(event, delimiter), listener as Listener),
        ...rest,
      ]);
    };
  /** A function that is called once removes itself, by its own name. */
  function registered(event: EventName, listener: Listener): Listener {
    if (OWN_EVENTS.has(event) || typeof listener !== "function" || originalOf(listener) === listener) return listener;
    return listeners.find(channels.listened(event), listener) ?? listener;
  }

  changeListeners(emitter, measured);
  // All of EventEmitter2's ways to add a listener lead there.
  const addingMethods = hasMethods(emitter, "_on") ? ["_on"] : ["on", "addListener", "prependListener"];
  const restore = [
    ...["emit", "emitAsync"].map((name) => replaceMethod(emitter, name, emitting)),
    ...addingMethods.map((name) => replaceMethod(emitter, name, adding)),
    ...["off", "removeListener"].map((name) => replaceMethod(emitter, name, removing)),
  ];
  return undoing([() => changeListeners(emitter, (_, listener) => rawListener(listener)), undoing(restore)]);
}

function eventName(event: unknown, delimiter: string | undefined): EventName {
  if (Array.isArray(event)) return event.join(delimiter ?? ".");
  return typeof event === "symbol" ? event : String(event);
}
