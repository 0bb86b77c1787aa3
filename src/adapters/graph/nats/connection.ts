import type { GraphHost } from "../../../integration-graph/adapter.ts";
import { field } from "../../kit/interception/field.ts";
import { replaceMethod, undoing } from "../../kit/interception/replaced-method.ts";
import { outcome } from "../../kit/messaging/delivery.ts";
import type { Unwatch } from "../../kit/messaging/watching-adapter.ts";
import { counted, watchSending } from "./sending.ts";
import { isControl, isInbox, type Subjects, SYSTEM } from "./subjects.ts";
import { type Loop, type Subscribers, type Use, watchLoops } from "./subscribers.ts";
import { type Message, type NatsConnection, type Subscription, subscriptionsOf } from "./target.ts";

/** What one broker is to the graph. */
export interface Place {
  readonly subjects: Subjects;
  readonly subscribers: Subscribers;
  /** The names and keys of the subscribers, by subject and queue group. */
  readonly own: Map<string, { readonly name: string; readonly key: string }>;
}

/** Watches what an application does with a connection. */
export function watchConnection(connection: NatsConnection, host: GraphHost, place: Place): Unwatch {
  const { subjects, subscribers, own } = place;
  const inboxes = field(field(connection, "options"), "inboxPrefix");
  const watched = new Map<Subscription, Unwatch>();

  function watch(subscription: Subscription): void {
    const { subject, queue, callback, noIterator } = subscription;
    if (isInbox(subject, inboxes) || watched.has(subscription)) return;
    if (isControl(subject)) {
      watchControl(subscription);
      return;
    }
    const functionName = noIterator ? String(callback?.name ?? "") : "";
    const consumption = { subject, queue, stream: undefined, consumer: undefined, functionName };
    const from = subjects.hold("subject", subject, connection);
    const use = subscribers.subscribe(consumption, from, subscription, queue ? { queueGroup: queue } : undefined);
    from.release(connection);
    const id = `${subject} ${queue ?? ""}`;
    own.set(id, { name: use.node.name, key: use.node.key });
    const unwatch = watchSubscription(subscription, host, subjects, use);
    watched.set(subscription, () => {
      unwatch();
      subscribers.end(use, subscription);
    });
    const closed = () => {
      if (!watched.delete(subscription)) return;
      subscribers.end(use, subscription);
      own.delete(id);
      // A loop may have messages left.
      if (noIterator) unwatch();
    };
    subscription.closed.then(closed, closed);
  }

  /** What services answer when they are discovered is not a message of the application. */
  function watchControl(subscription: Subscription): void {
    const { callback } = subscription;
    if (!subscription.noIterator || callback === undefined) return;
    function uncounted(this: unknown, ...args: unknown[]): unknown {
      return counted.run(true, () => Reflect.apply(callback as () => unknown, this, args));
    }
    subscription.callback = uncounted;
    const forget = () => watched.delete(subscription);
    watched.set(subscription, () => {
      if (subscription.callback === uncounted) subscription.callback = callback;
    });
    subscription.closed.then(forget, forget);
  }

  const restore = undoing([
    watchSending(connection, host, subjects),
    replaceMethod(
      connection,
      "subscribe",
      (method) =>
        function (this: unknown, ...args) {
          const subscription = Reflect.apply(method, this, args);
          if (!counted.getStore()) watch(subscription as Subscription);
          return subscription;
        },
    ),
  ]);
  for (const subscription of subscriptionsOf(connection)) watch(subscription);
  return () => {
    restore();
    for (const unwatch of watched.values()) unwatch();
    watched.clear();
  };
}

/** Measures what a subscription does with its messages. */
function watchSubscription(subscription: Subscription, host: GraphHost, subjects: Subjects, use: Use): Unwatch {
  return subscription.noIterator
    ? watchCallback(subscription, host, subjects, use)
    : watchLoops(subscription, () => loopOf(host, subjects, use));
}

/** The library calls the callback that is a property of the subscription. */
function watchCallback(subscription: Subscription, host: GraphHost, subjects: Subjects, use: Use): Unwatch {
  const callback = subscription.callback as NonNullable<Subscription["callback"]>;
  const { from, node, input } = use;
  const measured = host.handler(node, callback, { input });
  let live = true;
  function watched(this: unknown, error: Error | null, message: Message): unknown {
    if (error || !live || !host.counts(SYSTEM)) return Reflect.apply(callback, this, [error, message]);
    if (from.wildcard) subjects.came("subject", message.subject, from);
    return Reflect.apply(measured, this, [error, message]);
  }
  subscription.callback = watched;
  return () => {
    live = false;
    if (subscription.callback === watched) subscription.callback = callback;
  };
}

/** A loop that throws cannot be told from one that breaks: its last message counts as handled. */
function loopOf(host: GraphHost, subjects: Subjects, { from, node, input }: Use): Loop<Message> {
  let start = 0;
  return {
    took(message) {
      start = performance.now();
      if (from.wildcard && host.counts(SYSTEM)) subjects.came("subject", message.subject, from);
    },
    done() {
      if (host.counts(SYSTEM)) host.handled(node, outcome(start, false), input);
    },
  };
}
