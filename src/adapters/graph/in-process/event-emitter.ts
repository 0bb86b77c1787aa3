import { EventEmitter, errorMonitor } from "node:events";
import { checkOptions, countFrom, text } from "../../../common/options.ts";
import type { GraphHost } from "../../../integration-graph/adapter.ts";
import { hasMethods } from "../../kit/interception/field.ts";
import { type Live, type Method, placeMethod, replaceMethod, undoing } from "../../kit/interception/replaced-method.ts";
import {
  changeListeners,
  type Emitter,
  type EventName,
  isEmitter,
  type Listener,
  watchedEmitters,
  wildcardDelimiter,
} from "../../kit/messaging/emitter-target.ts";
import { EventChannels } from "../../kit/messaging/event-channels.ts";
import { watchingAdapter } from "../../kit/messaging/watching-adapter.ts";
import { EventListeners, originalOf, rawListener } from "./listeners.ts";
import { EXAMPLE, type InProcessAdapter, type InProcessOptions, nameIn } from "./options.ts";

/** Options of {@link eventEmitterSource}. */
export interface EventEmitterOptions extends InProcessOptions {
  /** How many events have nodes of their own; 100 by default. All others are one node, `<name>.*`. */
  readonly maxEvents?: number | undefined;
}

/** The events of an emitter about itself, and the one that observes errors without handling them. */
const OWN_EVENTS: ReadonlySet<unknown> = new Set(["newListener", "removeListener", errorMonitor]);

/**
 * Shows the events of emitters that the application has for its own messages.
 *
 * - An event is a channel, `orders.placed`; a listener is a service activator named for its function,
 *   `orders.placed.sendMail`, or `orders.placed.listener`. Listeners are in the graph before any event.
 * - An event counts once, as failed if `emit` throws, and once for each listener. An async listener takes until its promise
 *   settles. Everything else stays: the order of listeners, `once`, the result of `listeners()`, what `emit` returns or throws, an
 *   `error` without a listener. Only `rawListeners()` returns the measured functions.
 * - A listener that was removed stays in the graph until a rebuild.
 * - Emitters that are watched under one name are one: an instance for each connection.
 * - For EventEmitter2 as well; a `route` leads from an event to listeners of `order.*`. Listeners to any event are not seen.
 *
 * @example
 * ```ts
 * const bus = new EventEmitter();
 * flow.attach(eventEmitterSource(bus, { name: "orders" }));
 * ```
 * @throws ActuatorError INVALID_ARGUMENT if a target is not an emitter or an option is invalid.
 */
export function eventEmitterSource(
  targets: Emitter | readonly Emitter[],
  options: EventEmitterOptions,
): InProcessAdapter<Emitter> {
  checkOptions("eventEmitterSource", options, { name: text, maxEvents: countFrom(1) }, EXAMPLE);
  const name = nameIn(options, "eventEmitterSource");
  const { maxEvents = 100 } = options;
  return watchingAdapter<Emitter>({
    name: "in-process",
    source: "eventEmitterSource",
    expected: "an emitter of events, such as new EventEmitter()",
    accepts: isEmitter,
    targets,
    watched: watchedEmitters,
    begin(host, emitters) {
      const channels = new EventChannels(host, name, maxEvents);
      const listeners = new EventListeners(host);
      return {
        watch: (emitter) => watchEmitter(emitter, host, channels, listeners),
        prune() {
          const found: Listener[] = [];
          for (const emitter of emitters) {
            changeListeners(emitter, (_, listener) => {
              found.push(listener);
              return listener;
            });
          }
          listeners.keep(found);
        },
      };
    },
  });
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
  const { moment } = listeners;
  const live: Live = { live: true };
  const emitting = (method: Method): Method => {
    // An `emit` of the application's own may do more than call listeners.
    const shares = method === EventEmitter.prototype.emit;
    return function emit(this: unknown, ...args) {
      const event = args[0];
      moment.at = 0;
      if (!live.live || OWN_EVENTS.has(event)) return Reflect.apply(method, this, args);
      const channel = channels.emitted(Array.isArray(event) ? eventName(event, delimiter) : event);
      if (delimiter !== undefined) for (const route of channels.routes(channel, delimiter)) route.tally.count++;
      let failed = true;
      let heard: unknown;
      const start = performance.now();
      if (shares) moment.at = start;
      try {
        heard = Reflect.apply(method, this, args);
        failed = false;
        return heard;
      } finally {
        const ended = moment.at;
        moment.at = 0;
        // Without listeners no time has passed, and reading the clock would be most of what the event costs.
        const end = heard === false ? start : ended > start ? ended : performance.now();
        host.sent(channel.node, { start, end, failed });
      }
    };
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
  /** A function that is called once removes itself. */
  function registered(event: EventName, listener: Listener): Listener {
    if (OWN_EVENTS.has(event) || typeof listener !== "function" || originalOf(listener) === listener) return listener;
    return listeners.find(channels.listened(event), listener) ?? listener;
  }

  changeListeners(emitter, measured);
  // All of EventEmitter2's ways to add a listener lead there.
  const addingMethods = hasMethods(emitter, "_on") ? ["_on"] : ["on", "addListener", "prependListener"];
  const restore = [
    ...["emit", "emitAsync"].map((name) => placeMethod(emitter, name, emitting)),
    ...addingMethods.map((name) => replaceMethod(emitter, name, adding)),
    ...["off", "removeListener"].map((name) => replaceMethod(emitter, name, removing)),
  ];
  return undoing([
    () => {
      live.live = false;
      changeListeners(emitter, (_, listener) => rawListener(listener));
    },
    undoing(restore),
  ]);
}

function eventName(event: unknown, delimiter: string | undefined): EventName {
  if (Array.isArray(event)) return event.join(delimiter ?? ".");
  return typeof event === "symbol" ? event : String(event);
}
