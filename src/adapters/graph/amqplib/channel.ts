import type { GraphHost } from "../../../integration-graph/adapter.ts";
import { field } from "../../kit/interception/field.ts";
import { type Live, type Making, placeMethod, undoing } from "../../kit/interception/replaced-method.ts";
import { outcome } from "../../kit/messaging/delivery.ts";
import type { Unwatch } from "../../kit/messaging/watching-adapter.ts";
import type { Consumers } from "./consumers.ts";
import { Consuming, Deliveries } from "./consuming.ts";
import type { Declarations } from "./declarations.ts";
import type { AmqpChannel } from "./target.ts";
import { SYSTEM, type Topology } from "./topology.ts";
import { measuredConfirmedPublish, measuredPublish, requests, settlements } from "./wrapped-methods.ts";

/** What one virtual host of one broker is to the graph. */
export interface Place {
  readonly topology: Topology;
  readonly consumers: Consumers;
  readonly declarations: Declarations;
}

/** Watches what an application does with a channel, until that closes. */
export function watchChannel(channel: AmqpChannel, host: GraphHost, place: Place, closed: () => void): Unwatch {
  const { topology, consumers, declarations } = place;
  const live: Live = { live: true };
  const deliveries = new Deliveries(host);
  const consuming = new Consuming(host, consumers, deliveries, live);
  const [agreed, settling] = [requests(live), settlements(live)];
  // The name "" stands for the queue that was last declared on the channel.
  let last = "";
  const queue = (name: unknown) => (typeof name === "string" && name !== "" ? name : last);

  function declared(reply: unknown): string {
    const name = field(reply, "queue");
    if (typeof name === "string") last = name;
    return last;
  }

  const methods: { readonly [name: string]: Making } = {
    assertQueue: agreed(2, ([, options], reply) => declarations.assertQueue(declared(reply), options)),
    checkQueue: agreed(1, (_, reply) => declarations.check("queue", declared(reply))),
    deleteQueue: agreed(2, ([name]) => declarations.deleteQueue(queue(name))),
    bindQueue: agreed(4, ([name, source, key, args]) =>
      declarations.bind("queue", queue(name), `${source}`, key, args),
    ),
    unbindQueue: agreed(4, ([name, source, key, args]) =>
      declarations.unbind("queue", queue(name), `${source}`, key, args),
    ),
    assertExchange: agreed(3, ([name, type, options]) => declarations.assertExchange(`${name}`, type, options)),
    checkExchange: agreed(1, ([name]) => declarations.check("exchange", `${name}`)),
    deleteExchange: agreed(2, ([name]) => declarations.deleteExchange(`${name}`)),
    bindExchange: agreed(4, ([name, source, key, args]) =>
      declarations.bind("exchange", `${name}`, `${source}`, key, args),
    ),
    unbindExchange: agreed(4, ([name, source, key, args]) =>
      declarations.unbind("exchange", `${name}`, `${source}`, key, args),
    ),
    publish: isConfirming(channel)
      ? measuredConfirmedPublish(host, topology, live)
      : measuredPublish(host, topology, live),
    consume: consuming.consume(agreed, () => last),
    cancel: agreed(1, ([tag]) => consuming.cancelled(tag)),
    get: agreed(2, ([name], reply) => {
      const polled = topology.hold("queue", queue(name), "consumed");
      topology.poll(polled);
      if (reply && host.counts(SYSTEM)) host.received(polled.node, outcome(performance.now(), false));
    }),
    ack: settling((message, upTo) => deliveries.settle(tagOf(message), Boolean(upTo), false, false)),
    ackAll: settling(() => deliveries.settle(0, true, false, false)),
    nack: settling((message, upTo, requeue) =>
      deliveries.settle(tagOf(message), Boolean(upTo), true, isFinal(requeue)),
    ),
    nackAll: settling((requeue) => deliveries.settle(0, true, true, isFinal(requeue))),
    reject: settling((message, requeue) => deliveries.settle(tagOf(message), false, true, isFinal(requeue))),
    recover: settling(() => deliveries.abandon()),
    close: settling(() => consuming.ended()),
  };
  const restore = undoing(Object.entries(methods).map(([name, make]) => placeMethod(channel, name, make)));
  consuming.found(field(channel, "consumers"));
  const onClose = () => {
    deliveries.abandon();
    consuming.lost();
    closed();
  };
  channel.on("close", onClose);
  return () => {
    live.live = false;
    restore();
    channel.removeListener("close", onClose);
    consuming.giveBack(field(channel, "consumers"));
    consuming.ended();
    deliveries.clear();
  };
}

function isConfirming(channel: AmqpChannel): boolean {
  return typeof field(channel, "waitForConfirms") === "function";
}

/** The library has accepted the message, so it has a tag. */
function tagOf(message: unknown): number {
  return (message as { readonly fields: { readonly deliveryTag: number } }).fields.deliveryTag;
}

/** A message that is refused goes back to its queue unless the application says otherwise. */
function isFinal(requeue: unknown): boolean {
  return requeue !== undefined && !requeue;
}
