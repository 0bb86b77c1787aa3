import type { GraphHost } from "../../../integration-graph/adapter.ts";
import { field } from "../../kit/interception/field.ts";
import { replaceMethod, undoing } from "../../kit/interception/replaced-method.ts";
import { counted, watchSending } from "./sending.ts";
import { isControl, isInbox } from "./subject.ts";
import type { Subjects } from "./subjects.ts";
import type { Subscribers } from "./subscribers.ts";
import { watchSubscription } from "./subscription.ts";
import { type NatsConnection, type Subscription, subscriptionsOf, type Unwatch } from "./target.ts";

/** What one broker is to the graph. */
export interface Place {
  readonly subjects: Subjects;
  readonly subscribers: Subscribers;
  /** The keys of the subscribers, by subject and queue group. */
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
    const properties = queue ? { queueGroup: queue } : undefined;
    const use = subscribers.add(consumption, subjects, subjects.hold("subject", subject), properties);
    const id = `${subject} ${queue ?? ""}`;
    own.set(id, { name: use.node.name, key: use.node.key });
    const unwatch = watchSubscription(subscription, host, subjects, use);
    watched.set(subscription, unwatch);
    const closed = () => {
      if (!watched.delete(subscription)) return;
      use.end();
      own.delete(id);
      // A loop may have messages left.
      if (noIterator) unwatch();
    };
    subscription.closed.then(closed, closed);
  }

  /** What services answer to those who ask what they are is no message of the application. */
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
