import type { GraphHost } from "../../../integration-graph/adapter.ts";
import { outcome } from "../../../integration-graph/outcome.ts";
import { SYSTEM } from "./broker.ts";
import { type Loop, watchLoops } from "./loop.ts";
import type { Subjects } from "./subjects.ts";
import type { Use } from "./subscribers.ts";
import type { Message, Subscription, Unwatch } from "./target.ts";

type Callback = NonNullable<Subscription["callback"]>;

/** Measures what a subscription does with its messages. */
export function watchSubscription(subscription: Subscription, host: GraphHost, subjects: Subjects, use: Use): Unwatch {
  return subscription.noIterator
    ? watchCallback(subscription, host, subjects, use)
    : watchLoops(subscription, () => loopOf(host, subjects, use));
}

/** The callback is what the library calls, and is kept as a property of the subscription. */
function watchCallback(subscription: Subscription, host: GraphHost, subjects: Subjects, use: Use): Unwatch {
  const callback = subscription.callback as Callback;
  const { from, node, input } = use;
  const measured = host.handler(node, callback, { input });
  let live = true;
  function watched(this: unknown, error: Error | null, message: Message): unknown {
    if (error || !live || !host.counts(SYSTEM)) return Reflect.apply(callback, this, [error, message]);
    if (from.wildcard) subjects.came(message.subject, from);
    return Reflect.apply(measured, this, [error, message]);
  }
  subscription.callback = watched;
  return () => {
    live = false;
    if (subscription.callback === watched) subscription.callback = callback;
  };
}

/** A loop that throws leaves no trace that one which breaks does not leave too: its last message counts as handled. */
function loopOf(host: GraphHost, subjects: Subjects, { from, node, input }: Use): Loop<Message> {
  let start = 0;
  return {
    took(message) {
      start = performance.now();
      if (from.wildcard && host.counts(SYSTEM)) subjects.came(message.subject, from);
    },
    done() {
      if (host.counts(SYSTEM)) host.handled(node, outcome(start, false), input);
    },
  };
}
