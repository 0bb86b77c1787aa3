import { field } from "../../kit/interception/field.ts";
import { type Method, replaceMethods } from "../../kit/interception/replaced-method.ts";
import type { Ended } from "./commands.ts";
import { type Listener, paced, type SubscribedKind, type Subscription } from "./subscribers.ts";
import type { Parts, RedisMessagingClient, WatchedClient } from "./target.ts";

interface Event {
  readonly kind: SubscribedKind;
  /** The positions of the arguments that are the subscription and the channel. */
  readonly name: number;
  readonly channel: number;
}

/** The events of messages, and the subscriptions that they belong to. */
const EVENTS: ReadonlyMap<unknown, Event> = new Map([
  ["message", { kind: "channel", name: 0, channel: 0 }],
  ["messageBuffer", { kind: "channel", name: 0, channel: 0 }],
  ["pmessage", { kind: "pattern", name: 0, channel: 1 }],
  ["pmessageBuffer", { kind: "pattern", name: 0, channel: 1 }],
  ["smessage", { kind: "sharded-channel", name: 0, channel: 0 }],
  ["smessageBuffer", { kind: "sharded-channel", name: 0, channel: 0 }],
]);

const SETS = { channel: "subscribe", pattern: "psubscribe", "sharded-channel": "ssubscribe" } as const;
const SUBSCRIBING = /^[ps]?(un)?subscribe$/i;

interface Command {
  readonly name: string;
  readonly args: readonly unknown[];
  resolve: (reply: unknown) => void;
  reject: (error: unknown) => void;
}

interface Emitter {
  rawListeners(event: string): readonly Listener[];
  on(event: string, listener: (event: unknown) => void): void;
  removeListener(event: string, listener: (event: unknown) => void): void;
}

/**
 * Watches a client of ioredis. Every command passes through `sendCommand`, whether it is sent alone, in a pipeline or in a
 * transaction; a command that waits for a connection passes twice.
 */
export function watchIoredis(client: RedisMessagingClient, { commands, subscribers }: Parts): WatchedClient {
  const emitter = client as unknown as Emitter;
  const sent = new WeakSet<object>();
  /** What is sent in an open transaction: all of it happens when it ends, or nothing. */
  let transaction: Ended[] | undefined;
  let live = true;
  const known = new Map<Listener, Map<string, Subscription>>();

  function begin(command: Command): void {
    if (sent.has(command)) return;
    const ended = commands.begin(command.name, () => command.args, db());
    const isMessage = ended !== undefined;
    const isEnd = transaction !== undefined && /^(exec|discard)$/i.test(command.name);
    if (command.name === "multi" || command.name === "MULTI") transaction = [];
    else if (isMessage && transaction !== undefined) transaction.push(ended);
    else if (isMessage) whenEnded(command, ended);
    else if (isEnd) endTransaction(command);
    else if (SUBSCRIBING.test(command.name)) whenEnded(command, () => queueMicrotask(changed));
    else return;
    sent.add(command);
  }

  function endTransaction(command: Command): void {
    const all = transaction!;
    transaction = undefined;
    if (command.name.toLowerCase() === "discard") return;
    whenEnded(command, (failed, replies) => {
      for (const ended of all) ended(failed || !Array.isArray(replies), undefined);
    });
  }

  /** Does not use the command's promise, because that would mark its rejection as handled. */
  function whenEnded(command: Command, ended: Ended): void {
    const { resolve, reject } = command;
    command.resolve = (reply) => {
      if (live) ended(false, reply);
      resolve(reply);
    };
    command.reject = (error) => {
      if (live) ended(true, undefined);
      reject(error);
    };
  }

  function subscriptionOf({ kind, name }: Event, args: readonly unknown[], raw: Listener): Subscription {
    const listener = (field(raw, "listener") as Listener | undefined) ?? raw;
    const subscribed = String(args[name]);
    let subscriptions = known.get(listener);
    if (subscriptions === undefined) known.set(listener, (subscriptions = new Map()));
    let subscription = subscriptions.get(subscribed);
    if (subscription?.from.kind !== kind) {
      subscription = subscribers.subscribe(kind, subscribed, listener, client);
      subscriptions.set(subscribed, subscription);
    }
    return subscription;
  }

  const emitting = (method: Method): Method =>
    function emit(this: unknown, ...args) {
      const event = EVENTS.get(args[0]);
      if (event === undefined) return Reflect.apply(method, this, args);
      const message = args.slice(1);
      const listeners = emitter.rawListeners(args[0] as string);
      for (const listener of listeners) {
        const subscription = subscriptionOf(event, message, listener);
        const first = listener === listeners[0] && !isToldBefore(args[0] as string);
        subscribers.call(subscription, message[event.channel], first, () => Reflect.apply(listener, this, message));
      }
      return listeners.length > 0;
    };

  /** Listeners for text are called before listeners for bytes. */
  function isToldBefore(event: string): boolean {
    return event.endsWith("Buffer") && emitter.rawListeners(event.slice(0, -"Buffer".length)).length > 0;
  }

  function db(): number {
    return Number(field(field(client, "condition"), "select") ?? field(field(client, "options"), "db") ?? 0);
  }

  /** Reads what the client subscribes to. Without a connection, nothing has changed. */
  function sync(): number {
    const status = field(client, "status");
    if (!live || (status !== "ready" && status !== "end")) return 0;
    const now = new Set<Subscription>();
    const set = status === "ready" && field(field(client, "condition"), "subscriber");
    for (const [event, described] of EVENTS) {
      const channels = set ? (set as { channels(set: string): string[] }).channels(SETS[described.kind]) : [];
      for (const listener of emitter.rawListeners(event as string)) {
        for (const channel of channels) now.add(subscriptionOf(described, [channel], listener));
      }
    }
    for (const [listener, subscriptions] of known) {
      for (const [name, subscription] of subscriptions) if (!now.has(subscription)) subscriptions.delete(name);
      if (subscriptions.size === 0) known.delete(listener);
    }
    subscribers.endAll(client, (subscription) => now.has(subscription));
    return now.size;
  }
  const changed = paced(sync);

  const restore = replaceMethods(client, {
    sendCommand: (method) =>
      function sendCommand(this: unknown, ...args) {
        begin(args[0] as Command);
        return Reflect.apply(method, this, args);
      },
    emit: emitting,
  });
  const onListener = (event: unknown) => {
    if (EVENTS.has(event)) queueMicrotask(changed);
  };
  emitter.on("newListener", onListener);
  emitter.on("removeListener", onListener);
  sync();

  return {
    isReady: () => field(client, "status") === "ready",
    isSubscribing: () => Boolean(field(field(client, "condition"), "subscriber")),
    db,
    send: (...command) => Reflect.apply(Reflect.get(client, "call"), client, command),
    sync,
    unwatch() {
      live = false;
      restore();
      emitter.removeListener("newListener", onListener);
      emitter.removeListener("removeListener", onListener);
      subscribers.endAll(client);
    },
  };
}
