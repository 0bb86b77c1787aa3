import { field, hasMethods } from "../../kit/interception/field.ts";
import { whenSettled } from "../../kit/interception/plain-promise.ts";
import { type Method, replaceMethods } from "../../kit/interception/replaced-method.ts";
import type { Ended } from "./commands.ts";
import { type Listener, paced, type SubscribedKind, type Subscribers, type Subscription } from "./subscribers.ts";
import type { Parts, RedisMessagingClient, WatchedClient } from "./target.ts";

/**
 * Watches a client of node-redis. What `createClient` returns is one of several proxies of an inner client, and that is what is
 * watched: every command passes through its `sendCommand`, except those of a transaction or pipeline.
 */
export function watchNodeRedis(client: RedisMessagingClient, parts: Parts): WatchedClient {
  const { commands } = parts;
  const inner = (field(client, "_self") as object | undefined) ?? client;
  let db = Number(field(field(client, "options"), "database") ?? 0) || 0;
  let live = true;

  const begin = (args: unknown): Ended | undefined => {
    if (!Array.isArray(args)) return undefined;
    const name = typeof args[0] === "string" ? args[0] : String(args[0]);
    return commands.begin(name, () => args.slice(1), db);
  };

  const sending = (method: Method): Method =>
    function sendCommand(this: unknown, ...args) {
      const ended = begin(args[0]);
      const selected = isSelect(args[0]) ? Number(args[0][1]) : undefined;
      const result = Reflect.apply(method, this, args);
      if (ended === undefined && selected === undefined) return result;
      return whenSettled(
        result,
        (reply) => {
          if (selected !== undefined) db = selected;
          if (live) ended?.(false, reply);
        },
        () => {
          if (live) ended?.(true, undefined);
        },
      );
    };

  const multi = (method: Method): Method =>
    function multi(this: unknown, ...args) {
      const made = Reflect.apply(method, this, args);
      if (live && hasMethods(made, "exec", "addCommand")) watchMulti(made as object, begin, () => live);
      return made;
    };

  const restore = replaceMethods(inner, { sendCommand: sending, multi, MULTI: multi });
  const subscriptions = watchSubscriptions(client, inner, parts.subscribers);

  return {
    isReady: () => field(client, "isReady") === true,
    isSubscribing: () => field(client, "isPubSubActive") === true,
    db: () => db,
    send: (...command) => Reflect.apply(client.sendCommand, client, [command]),
    sync: subscriptions.sync,
    unwatch() {
      live = false;
      restore();
      subscriptions.unwatch();
    },
  };
}

/** A transaction, or a pipeline: its messages are sent when it is executed. It lives as long as the application holds it. */
function watchMulti(made: object, begin: (args: unknown) => Ended | undefined, isLive: () => boolean): void {
  const commands: unknown[] = [];
  const adding = (method: Method): Method =>
    function addCommand(this: unknown, ...args) {
      commands.push(args[0]);
      return Reflect.apply(method, this, args);
    };
  const executing = (method: Method): Method =>
    function exec(this: unknown, ...args) {
      // One way to execute calls another one.
      const all = isLive() ? commands.splice(0).map(begin) : [];
      const result = Reflect.apply(method, this, args);
      if (!all.some((ended) => ended !== undefined)) return result;
      return whenSettled(
        result,
        () => {
          if (isLive()) for (const ended of all) ended?.(false, undefined);
        },
        (error) => {
          const replies = field(error, "replies");
          const known = Array.isArray(replies) && replies.length === all.length ? replies : undefined;
          if (!isLive()) return;
          for (const [at, ended] of all.entries())
            ended?.(known === undefined || known[at] instanceof Error, undefined);
        },
      );
    };
  replaceMethods(made, {
    addCommand: adding,
    sendCommand: adding,
    exec: executing,
    EXEC: executing,
    execTyped: executing,
    execAsPipeline: executing,
    execAsPipelineTyped: executing,
  });
}

function isSelect(args: unknown): args is readonly unknown[] {
  return Array.isArray(args) && (args[0] === "SELECT" || args[0] === "select");
}

type Type = "CHANNELS" | "PATTERNS" | "SHARDED";

const KINDS: { readonly [T in Type]: SubscribedKind } = {
  CHANNELS: "channel",
  PATTERNS: "pattern",
  SHARDED: "sharded-channel",
};

/** The methods for each type, as they are called in either spelling. */
const METHODS: readonly (readonly [type: Type, prefix: string])[] = [
  ["CHANNELS", ""],
  ["PATTERNS", "p"],
  ["SHARDED", "s"],
];

interface Listeners {
  readonly buffers: Set<Listener>;
  readonly strings: Set<Listener>;
}

/**
 * Watches what a client of node-redis subscribes to. It keeps listeners in sets, and a listener that is added again is the same: so
 * each has one stand-in, in the sets and when it is removed from them.
 */
function watchSubscriptions(client: RedisMessagingClient, inner: object, subscribers: Subscribers) {
  /** The stand-ins of a listener: one for each pattern, since a listener is not told which pattern a message came by. */
  const standIns = new WeakMap<Listener, Map<string, Listener>>();
  const originals = new WeakMap<Listener, Listener>();
  const known = new Map<Listener, Map<string, Subscription>>();
  let live = true;

  function subscriptionOf(type: Type, name: string, listener: Listener): Subscription {
    let subscriptions = known.get(listener);
    if (subscriptions === undefined) known.set(listener, (subscriptions = new Map()));
    const key = `${type} ${name}`;
    let subscription = subscriptions.get(key);
    if (subscription === undefined || !subscription.users.has(client)) {
      subscription = subscribers.subscribe(KINDS[type], name, listener, client);
      subscriptions.set(key, subscription);
    }
    return subscription;
  }

  function standIn(type: Type, name: string, listener: Listener): Listener {
    if (originals.has(listener)) return listener;
    let made = standIns.get(listener);
    if (made === undefined) standIns.set(listener, (made = new Map()));
    const key = type === "PATTERNS" ? `${type} ${name}` : type;
    let other = made.get(key);
    if (other !== undefined) return other;
    other = function heard(this: unknown, ...args) {
      const run = () => Reflect.apply(listener, this, args);
      if (!live) return run();
      const channel = args[1];
      const subscribed = type === "PATTERNS" ? name : String(channel);
      const subscription = subscriptionOf(type, subscribed, listener);
      return subscribers.call(subscription, channel, isFirst(type, subscribed, other!), run);
    };
    made.set(key, other);
    originals.set(other, listener);
    return other;
  }

  function isFirst(type: Type, name: string, listener: Listener): boolean {
    const { buffers, strings } = listenersOf(type).get(name) ?? {};
    return (buffers?.values().next().value ?? strings?.values().next().value) === listener;
  }

  function listenersOf(type: Type): ReadonlyMap<string, Listeners> {
    return Reflect.apply(Reflect.get(client, "getPubSubListeners"), client, [type]);
  }

  const changed = paced(sync);

  /** `method` takes names, a listener and whether it takes bytes; one call for each pattern, and one for all channels. */
  const standing = (type: Type) => (method: Method) =>
    function (this: unknown, ...args: unknown[]): unknown {
      const [names, listener, ...rest] = args;
      if (typeof listener !== "function") return ended(Reflect.apply(method, this, args));
      const call = (of: unknown, name: string) =>
        Reflect.apply(method, this, [of, standIn(type, name, listener as Listener), ...rest]);
      if (type !== "PATTERNS") return ended(call(names, ""));
      if (!Array.isArray(names)) return ended(call(names, String(names)));
      return ended(Promise.all(names.map((name) => call(name, String(name)))).then(() => undefined));
    };

  function ended(result: unknown): unknown {
    return whenSettled(result, changed);
  }

  /** Reads what the client subscribes to, and replaces listeners by their stand-ins. */
  function sync(): number {
    if (!live) return 0;
    const now = new Set<Subscription>();
    each((type, name, listener) => {
      const original = originals.get(listener) ?? listener;
      now.add(subscriptionOf(type, name, original));
      return standIn(type, name, original);
    });
    // A closed client still has its listeners.
    const isOpen = Reflect.get(client, "isOpen") !== false;
    subscribers.endAll(client, (subscription) => isOpen && now.has(subscription));
    forgetExcept(now);
    return now.size;
  }

  /** One function may listen to ever new channels. */
  function forgetExcept(now: ReadonlySet<Subscription>): void {
    for (const [listener, subscriptions] of known) {
      for (const [key, subscription] of subscriptions) {
        if (now.has(subscription)) continue;
        subscriptions.delete(key);
        standIns.get(listener)?.delete(key);
      }
      if (subscriptions.size === 0) known.delete(listener);
    }
  }

  /** Replaces every listener. */
  function each(replace: (type: Type, name: string, listener: Listener) => Listener): void {
    for (const [type] of METHODS) {
      for (const [name, { buffers, strings }] of listenersOf(type)) {
        for (const set of [buffers, strings]) {
          const replaced = Array.from(set, (listener) => replace(type, name, listener));
          set.clear();
          for (const listener of replaced) set.add(listener);
        }
      }
    }
  }

  const restore = replaceMethods(
    inner,
    Object.fromEntries(
      METHODS.flatMap(([type, prefix]) =>
        ["subscribe", "unsubscribe"].flatMap((word) => {
          const name = prefix === "" ? word : prefix + word[0]!.toUpperCase() + word.slice(1);
          return [name, name.toUpperCase()].map((spelling) => [spelling, standing(type)] as const);
        }),
      ),
    ),
  );
  sync();

  return {
    sync,
    unwatch(): void {
      live = false;
      known.clear();
      restore();
      each((_type, _name, listener) => originals.get(listener) ?? listener);
      subscribers.endAll(client);
    },
  };
}
