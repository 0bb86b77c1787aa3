import { parentPort } from "node:worker_threads";
import { checkOptions, text } from "../../../common/options.ts";
import type { GraphHost } from "../../../integration-graph/adapter.ts";
import type { GraphNode } from "../../../integration-graph/node.ts";
import { channelKey } from "../../../integration-graph/node-id.ts";
import { field, hasMethods } from "../../kit/interception/field.ts";
import {
  type Method,
  replaceMethod,
  type TimedCall,
  timedCall,
  undoing,
} from "../../kit/interception/replaced-method.ts";
import { PerBroker } from "../../kit/messaging/destinations.ts";
import { changeListeners, type Emitter, type Listener } from "../../kit/messaging/emitter-target.ts";
import { SYSTEM } from "../../kit/messaging/event-channels.ts";
import { type Unwatch, WatchedObjects, type Watcher, watchingAdapter } from "../../kit/messaging/watching-adapter.ts";
import { EventListeners, originalOf, rawListener } from "./listeners.ts";
import { EXAMPLE, type InProcessAdapter, type InProcessOptions, nameIn } from "./options.ts";

// biome-ignore lint/suspicious/noExplicitAny: the methods of ports, workers and broadcast channels.
type Any = any;

/** A port, a worker, or a BroadcastChannel. */
export interface MessageEnd {
  postMessage(...args: Any[]): Any;
}

/** Both ends of a channel: what `new MessageChannel()` makes. */
export interface BothPorts {
  readonly port1: MessageEnd;
  readonly port2: MessageEnd;
}

/** What {@link messageChannelSource} watches. */
export type MessageTarget = MessageEnd | BothPorts;

/** An end of a channel that calls its listeners as the DOM does: all but a worker. */
interface EventTargetEnd extends MessageEnd {
  addEventListener: Any;
  removeEventListener: Any;
}

/** The channels that an end sends to and receives from: parts of their names. */
interface Directions {
  readonly end: MessageEnd;
  readonly to: string;
  readonly from: string;
}

const parts = (target: MessageTarget) => directionsOf(target).map(({ end }) => end);

const watched = new WatchedObjects("end of a channel", { parts });

/**
 * Shows the messages of ports, workers and BroadcastChannels.
 *
 * - There is a channel for each direction, named for the end that its messages come to: `images.worker` and `images.parent` for a
 *   worker, and for `parentPort` within it; `images.port1` and `images.port2` for a MessageChannel, whose two ports are watched;
 *   `images.sent` and `images.received` for a port alone; `images` for a BroadcastChannel.
 * - A message is sent when `postMessage` takes it, and fails if that throws. It is handled once by each listener, a service
 *   activator named for its function, `images.parent.store`, or `images.parent.listener`; also `onmessage`.
 * - Listening starts a port, and keeps its thread alive, as before; the adapter itself never listens.
 * - What was added to a port before it is watched is not measured, except `onmessage`. A port that was transferred is no longer watched.
 * - Targets that are watched under one name are one: the workers of a pool.
 *
 * @example
 * ```ts
 * const worker = new Worker(new URL("./images.js", import.meta.url));
 * flow.attach(messageChannelSource(worker, { name: "images" }));
 * ```
 * @throws ActuatorError INVALID_ARGUMENT if a target is something else, or there is no name.
 */
export function messageChannelSource(
  targets: MessageTarget | readonly MessageTarget[],
  options: InProcessOptions,
): InProcessAdapter<MessageTarget> {
  checkOptions("messageChannelSource", options, { name: text }, EXAMPLE);
  const name = nameIn(options, "messageChannelSource");
  return watchingAdapter<MessageTarget>({
    name: "in-process",
    source: "messageChannelSource",
    expected: "a port, worker, BroadcastChannel or MessageChannel",
    accepts: (target) => isEnd(target) || isBothPorts(target),
    targets,
    watched,
    begin: (host) => watchChannels(host, name),
  });
}

function watchChannels(host: GraphHost, name: string): Watcher<MessageTarget> {
  const listeners = new EventListeners(host);
  const channels = new PerBroker((called) => ({ node: declare(called, "message") }));
  const broadcasts = new PerBroker((called) => ({ node: declare(called, "broadcast") }));

  function declare(called: string, kind: "message" | "broadcast"): GraphNode {
    return host.declare({
      name: called,
      pattern: kind === "broadcast" ? "publish_subscribe_channel" : "message_channel",
      componentType: `node:${kind}-channel`,
      key: channelKey(SYSTEM, host.app, "message-channel", called),
    });
  }

  function watchEnd({ end, to, from }: Directions, broadcast: boolean): Unwatch {
    const named = broadcast ? broadcasts : channels;
    const [outgoing, incoming] = [named.at(`${name}${to}`), named.at(`${name}${from}`)];
    const posted = (call: TimedCall) => host.sent(outgoing.node, call);
    const posting = (method: Method): Method =>
      function postMessage(this: unknown, ...args) {
        return timedCall(method, this, args, posted);
      };
    const measured = listeners.measured.bind(listeners, incoming);
    const find = listeners.find.bind(listeners, incoming);
    const stop = isWorker(end)
      ? watchWorkerMessages(end, { measured, find })
      : isEventTargetEnd(end)
        ? watchEventTarget(end, measured)
        : () => {};
    return undoing([stop, replaceMethod(end, "postMessage", posting)]);
  }

  return {
    watch: (target) =>
      undoing(directionsOf(target).map((direction) => watchEnd(direction, target instanceof BroadcastChannel))),
  };
}

function isEventTargetEnd(end: unknown): end is EventTargetEnd {
  return hasMethods(end, "postMessage", "addEventListener", "removeEventListener");
}

function isWorker(end: unknown): end is MessageEnd & Emitter {
  return hasMethods(end, "postMessage", "terminate", "emit", "on", "removeListener");
}

/** A channel is named for the end that its messages come to. A broadcast is one channel in both directions. */
function directionsOf(target: MessageTarget): readonly Directions[] {
  if (isBothPorts(target)) {
    return [
      { end: target.port1, to: ".port2", from: ".port1" },
      { end: target.port2, to: ".port1", from: ".port2" },
    ];
  }
  if (isWorker(target)) return [{ end: target, to: ".worker", from: ".parent" }];
  if ((target as object) === parentPort) return [{ end: target, to: ".parent", from: ".worker" }];
  if (target instanceof BroadcastChannel) return [{ end: target, to: "", from: "" }];
  return [{ end: target, to: ".sent", from: ".received" }];
}

function isBothPorts(target: unknown): target is BothPorts {
  if (typeof target !== "object" || target === null) return false;
  return isEventTargetEnd(Reflect.get(target, "port1")) && isEventTargetEnd(Reflect.get(target, "port2"));
}

function isEnd(target: unknown): boolean {
  return isEventTargetEnd(target) || isWorker(target);
}

/** Measures listeners, and finds the function that is called in place of one. */
interface Measuring {
  readonly measured: (listener: Listener) => Listener;
  readonly find: (listener: Listener) => Listener | undefined;
}

/** Measures the listeners to the messages of a worker, which is an emitter of events. */
function watchWorkerMessages(worker: Emitter, { measured, find }: Measuring): () => void {
  const change = (of: (listener: Listener) => Listener, [event, listener, ...rest]: unknown[]) => [
    event,
    event === "message" && typeof listener === "function" ? of(listener as Listener) : listener,
    ...rest,
  ];
  const registered = (listener: Listener) =>
    originalOf(listener) === listener ? listener : (find(listener) ?? listener);
  const adding = (method: Method): Method =>
    function (this: unknown, ...args) {
      return Reflect.apply(method, this, change(measured, args));
    };
  const removing = (method: Method): Method =>
    function (this: unknown, ...args) {
      return Reflect.apply(method, this, change(registered, args));
    };
  changeListeners(worker, (event, listener) => (event === "message" ? measured(listener) : listener));
  return undoing([
    () => changeListeners(worker, (_, listener) => rawListener(listener)),
    ...["on", "addListener", "prependListener"].map((name) => replaceMethod(worker, name, adding)),
    ...["off", "removeListener"].map((name) => replaceMethod(worker, name, removing)),
  ]);
}

/** A listener as EventTarget takes it. */
type TargetListener = Listener | { readonly handleEvent: Listener };

/** What was added in place of a listener, and how. */
interface Added {
  readonly measured: Listener;
  readonly options: unknown;
}

/**
 * Measures the listeners to messages of a port or a BroadcastChannel. All its ways to add one lead to `addEventListener`, and the
 * options there decide whether it is called with an event or with the message; so they are passed on as they are.
 */
function watchEventTarget(end: EventTargetEnd, measure: (listener: Listener) => Listener): () => void {
  const added = new Map<TargetListener, Added>();
  const add = end.addEventListener;
  const remove = end.removeEventListener;
  let handling = false;

  const adding = (method: Method): Method =>
    function addEventListener(this: unknown, type, listener, options, ...rest) {
      if (handling || type !== "message" || !isListener(listener) || isAborted(options)) {
        return Reflect.apply(method, this, [type, listener, options, ...rest]);
      }
      const known = added.get(listener)?.measured;
      const measured = known ?? once(listener, measure(functionOf(listener)), options);
      if (known === undefined) added.set(listener, { measured, options });
      return Reflect.apply(method, this, [type, measured, options, ...rest]);
    };
  const removing = (method: Method): Method =>
    function removeEventListener(this: unknown, type, listener, ...rest) {
      const known = type === "message" ? added.get(listener as TargetListener)?.measured : undefined;
      if (known !== undefined) added.delete(listener as TargetListener);
      return Reflect.apply(method, this, [type, known ?? listener, ...rest]);
    };
  const removingAll = (method: Method): Method =>
    function removeAllListeners(this: unknown, ...args) {
      if (args.length === 0 || args[0] === undefined || args[0] === "message") added.clear();
      return Reflect.apply(method, this, args);
    };
  /** One that is called once is removed then. */
  function once(listener: TargetListener, measured: Listener, options: unknown): Listener {
    if (!field(options, "once")) return measured;
    return function (this: unknown, ...args: never[]) {
      added.delete(listener);
      return Reflect.apply(measured, this, args);
    };
  }

  const restore = [
    replaceMethod(end, "addEventListener", adding),
    replaceMethod(end, "removeEventListener", removing),
    replaceHandler(end, measure, (set) => {
      handling = true;
      try {
        set();
      } finally {
        handling = false;
      }
    }),
    replaceMethod(end, "removeAllListeners", removingAll),
  ];
  return () => {
    const left = [...added];
    added.clear();
    undoing(restore)();
    // The new ones first: an end without listeners would not keep its thread alive.
    for (const [listener, { options }] of left) {
      if (!isAborted(options)) Reflect.apply(add, end, ["message", listener, options]);
    }
    for (const [, { measured, options }] of left) Reflect.apply(remove, end, ["message", measured, options]);
  };
}

/** Measures `onmessage`: what was set is what is read. `quietly` sets it without its being measured as a listener. */
function replaceHandler(
  end: object,
  measure: (listener: Listener) => Listener,
  quietly: (set: () => void) => void,
): () => void {
  const inherited = inheritedAccessor(end, "onmessage");
  if (inherited?.get === undefined || inherited.set === undefined || Object.hasOwn(end, "onmessage")) return () => {};
  const { get, set } = inherited;
  let current: unknown = Reflect.apply(get, end, []);
  const put = (handler: unknown) => quietly(() => Reflect.apply(set, end, [handler]));
  const use = (handler: unknown) => {
    current = handler;
    put(typeof handler === "function" ? measure(handler as Listener) : handler);
  };
  if (typeof current === "function") use(current);
  Object.defineProperty(end, "onmessage", { configurable: true, enumerable: false, get: () => current, set: use });
  return () => {
    Reflect.deleteProperty(end, "onmessage");
    if (typeof current === "function" && Reflect.apply(get, end, []) !== current) put(current);
  };
}

function inheritedAccessor(object: object, name: string): PropertyDescriptor | undefined {
  for (let at: object | null = object; at !== null; at = Object.getPrototypeOf(at)) {
    const found = Object.getOwnPropertyDescriptor(at, name);
    if (found !== undefined) return found;
  }
  return undefined;
}

function functionOf(listener: TargetListener): Listener {
  if (typeof listener === "function") return listener;
  const called = (...args: never[]) => Reflect.apply(listener.handleEvent, listener, args);
  return Object.defineProperty(called, "name", { value: listener.handleEvent.name });
}

function isListener(value: unknown): value is TargetListener {
  return typeof value === "function" || hasMethods(value, "handleEvent");
}

function isAborted(options: unknown): boolean {
  return field(field(options, "signal"), "aborted") === true;
}
