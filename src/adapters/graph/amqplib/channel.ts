import type { GraphHost } from "../../../integration-graph/adapter.ts";
import { outcome } from "../../../integration-graph/outcome.ts";
import { field } from "../../kit/interception/field.ts";
import { type Making, placeMethod } from "../../kit/interception/replaced-method.ts";
import { SYSTEM } from "./broker.ts";
import type { Consumers } from "./consumers.ts";
import { Consuming } from "./consuming.ts";
import type { Declarations } from "./declarations.ts";
import { Deliveries } from "./deliveries.ts";
import { measuredConfirmedPublish, measuredPublish } from "./publishing.ts";
import type { AmqpChannel, Unwatch } from "./target.ts";
import type { Topology } from "./topology.ts";
import { requests, settlements, type Watching } from "./watched-method.ts";

/** What one virtual host of one broker is to the graph. */
export interface Place {
  readonly topology: Topology;
  readonly consumers: Consumers;
  readonly declarations: Declarations;
}

/** Watches what an application does with a channel, until that closes. */
export function watchChannel(channel: AmqpChannel, host: GraphHost, place: Place, closed: () => void): Unwatch {
  const { topology, consumers, declarations } = place;
  const watching: Watching = { live: true };
  const deliveries = new Deliveries(host);
  const consuming = new Consuming(host, consumers, deliveries, watching);
  const [agreed, settling] = [requests(watching), settlements(watching)];
  // What the name "" stands for: the broker takes the last queue that was declared on the channel.
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
      ? measuredConfirmedPublish(host, topology, watching)
      : measuredPublish(host, topology, watching),
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
    recover: settling(() => deliveries.lose()),
    close: settling(() => consuming.ended()),
  };
  const restore = Object.entries(methods).map(([name, make]) => placeMethod(channel, name, make));
  const onClose = () => {
    deliveries.lose();
    consuming.lost();
    unwatch();
    closed();
  };
  channel.on("close", onClose);

  function unwatch(): void {
    watching.live = false;
    for (const put of restore) put();
    channel.removeListener("close", onClose);
    consuming.giveBack(field(channel, "consumers"));
    deliveries.clear();
  }
  return unwatch;
}

function isConfirming(channel: AmqpChannel): boolean {
  return typeof field(channel, "waitForConfirms") === "function";
}

/** The library has taken it already, and read the same. */
function tagOf(message: unknown): number {
  return (message as { readonly fields: { readonly deliveryTag: number } }).fields.deliveryTag;
}

/** As the library takes it: a message that is refused goes back to its queue unless the application says otherwise. */
function isFinal(requeue: unknown): boolean {
  return requeue !== undefined && !requeue;
}
