import { type WatchingAdapter, watchAll, watchingAdapter } from "../../../integration-graph/watching-adapter.ts";
import { requireVersion } from "../../kit/library-version.ts";
import type { AmqplibOptions } from "./options.ts";
import { type AmqpTarget, isChannel, isConnection } from "./target.ts";
import { Watch } from "./watch.ts";

/** Feeds the graph with what passes through channels of amqplib. */
export interface AmqplibAdapter extends WatchingAdapter<AmqpTarget> {
  /**
   * Watches another channel or connection, and gives it back: `rabbit.watch(await amqp.connect(url))` in code that connects
   * again. What is closed is forgotten by itself, and what it declared stays in the graph.
   *
   * Throws a TypeError where it is neither, or is watched already.
   */
  watch<T extends AmqpTarget>(target: T): T;
}

/**
 * The exchanges, queues and bindings of RabbitMQ that an application declares through amqplib, and its publishers and consumers:
 * `flow.attach(amqplib(connection))`. For the promise and the callback interface, channels with and without confirms.
 *
 * - Topology is in the graph as soon as the broker has agreed, before any message, with dead-letter and alternate exchanges. It
 *   stays until the application deletes it. What was declared before the adapter was attached is not seen; what messages tell of,
 *   is: the exchange that a message came from, the destination that one was sent to.
 * - A connection's channels are watched when they are created, and those it has. Methods are replaced on the objects themselves,
 *   not on their prototypes.
 * - A message is handled when its function has settled and it is acknowledged or rejected, whichever is later; without
 *   acknowledgements when the function has settled. It counts once: as failed where the function throws or rejects, where it is
 *   nacked or rejected, requeued or not, and where its channel ends before it is settled. Redelivered, it is another one.
 * - A message is sent when the library takes it; on a confirm channel, when the broker confirms it. Then a refusal, or the end of
 *   the channel, is a failure. A full buffer (`false`) is none.
 * - The broker's identity is its cluster's name.
 *
 * Throws a TypeError where a target is neither a channel nor a connection.
 */
export function amqplib(
  targets: AmqpTarget | readonly AmqpTarget[] = [],
  options: AmqplibOptions = {},
): AmqplibAdapter {
  return watchingAdapter<AmqpTarget>({
    name: "amqplib",
    title: "this adapter of amqplib",
    targets,
    check(target) {
      requireVersion({ subpath: "amqplib", library: "amqplib", versions: "0.10 to 2" });
      if (isChannel(target) || isConnection(target)) return;
      throw new TypeError("amqplib() watches channels and connections of amqplib, and got something else");
    },
    begin: (host, targets) => watchAll(new Watch(host, options), targets),
  });
}
