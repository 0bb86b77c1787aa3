import { type Method, replaceMethods } from "../../kit/interception/replaced-method.ts";
import { paced } from "./pace.ts";
import type { Listener, SubscribedKind, Subscribers, Subscription } from "./subscribers.ts";
import type { RedisMessagingClient } from "./target.ts";

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
 * Watches what a client of node-redis subscribes to. Its listeners are in sets, and one that is given again is the same: so each
 * has one that stands for it, in the sets and when it is taken out of them.
 */
export function watchSubscriptions(client: RedisMessagingClient, inner: object, subscribers: Subscribers) {
  /** What stands for a listener: for each pattern another one, as it is not told which one a message came by. */
  const standIns = new WeakMap<Listener, Map<string, Listener>>();
  const originals = new WeakMap<Listener, Listener>();
  const known = new Map<Listener, Map<string, Subscription>>();
  let live = true;

  function subscriptionOf(type: Type, name: string, listener: Listener): Subscription {
    let subscriptions = known.get(listener);
    if (subscriptions === undefined) known.set(listener, (subscriptions = new Map()));
    const key = `${type} ${name}`;
    let subscription = subscriptions.get(key);
    if (subscription === undefined || !subscription.clients.has(client)) {
      subscription = subscribers.add(KINDS[type], name, listener, client);
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
    if (!(result instanceof Promise)) return result;
    return result.then((value) => {
      changed();
      return value;
    });
  }

  /** What it subscribes to, with every listener that has none replaced by what stands for it. */
  function sync(): number {
    if (!live) return 0;
    const now = new Set<Subscription>();
    each((type, name, listener) => {
      const original = originals.get(listener) ?? listener;
      now.add(subscriptionOf(type, name, original));
      return standIn(type, name, original);
    });
    // One that was closed still has its listeners.
    const isOpen = Reflect.get(client, "isOpen") !== false;
    subscribers.keep(client, (subscription) => isOpen && now.has(subscription));
    forgetExcept(now);
    return now.size;
  }

  /** One function may listen to ever other channels. */
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

  /** Puts something in the place of every listener. */
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
      subscribers.keep(client, () => false);
    },
  };
}
