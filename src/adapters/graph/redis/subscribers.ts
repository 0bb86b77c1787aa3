import type { GraphHost } from "../../../integration-graph/adapter.ts";
import type { Method } from "../../kit/interception/replaced-method.ts";
import { Delivery, deliver } from "../../kit/messaging/delivery.ts";
import { functionName, HandlerRegistry, type Input } from "../../kit/messaging/handlers.ts";
import { type Kind, type Named, type Names, SYSTEM } from "./names.ts";

/** A function that listens and needs a name in the graph. */
export interface SubscriberDescription {
  readonly kind: "channel" | "sharded-channel" | "pattern";
  /** The channel or pattern, as the graph shows it. */
  readonly channel: string;
  /** The function's name, or "" if it has none. */
  readonly functionName: string;
}

/** Names a subscriber. */
export type SubscriberNaming = ((subscriber: SubscriberDescription) => string | undefined) | undefined;

export type SubscribedKind = Exclude<Kind, "stream">;
export type Listener = Method;

/** A function that listens to one channel or pattern. Its users are the clients that it listens by. */
export type Subscription = Input<Named>;

/** The functions that listen to channels and patterns of one Redis, as nodes of the graph. */
export class Subscribers extends HandlerRegistry<Named> {
  readonly #host: GraphHost;
  readonly #names: Names;
  readonly #naming: SubscriberNaming;

  constructor(host: GraphHost, names: Names, naming: SubscriberNaming) {
    super(host);
    this.#host = host;
    this.#names = names;
    this.#naming = naming;
  }

  /** `listener` listens by `client`. */
  subscribe(kind: SubscribedKind, name: string, listener: Listener, client: object): Subscription {
    const channel = this.#names.hold(kind, name, client);
    const called = functionName(listener);
    const given = this.#naming?.({ kind, channel: channel.name, functionName: called });
    const description = {
      name: given ?? `${channel.name}.${called || "subscriber"}`,
      componentType: "redis:subscriber",
      scope: kind === "channel" ? "" : `${kind}:`,
    };
    const subscription = this.add(description, channel, client);
    channel.release(client);
    return subscription;
  }

  /** Calls a listener with a message. `channel` is where it was published, `first` whether it is the client's first listener. */
  call(subscription: Subscription, channel: unknown, first: boolean, handle: () => unknown): unknown {
    if (!this.#host.counts(SYSTEM)) return this.#host.within(subscription.node, handle);
    // Only messages show which channels a pattern matches.
    if (first && subscription.from.kind === "pattern") this.#names.came("channel", String(channel), subscription.from);
    return deliver(this.#host, new Delivery(this.#host, subscription, true), handle);
  }
}

/** Up to this many subscriptions are read again with each that is added. */
const FEW = 200;
const PAUSE_MS = 100;

/**
 * Limits how often `look` runs, which reads all subscriptions and returns their number: at once as long as they are few, otherwise
 * once for all changes within a pause. A client may have thousands of subscriptions.
 */
export function paced(look: () => number): () => void {
  let size = 0;
  let isWaiting = false;
  function run(): void {
    isWaiting = false;
    size = look();
  }
  return () => {
    if (isWaiting) return;
    if (size <= FEW) {
      run();
      return;
    }
    isWaiting = true;
    setTimeout(run, PAUSE_MS).unref();
  };
}
