import { callable, checkOptions, text } from "../../../common/options.ts";
import type { GraphHost } from "../../../integration-graph/adapter.ts";
import { type Live, type Method, placeMethod, undoing } from "../../kit/interception/replaced-method.ts";
import { requireVersion } from "../../kit/library-version.ts";
import { PerBroker } from "../../kit/messaging/destinations.ts";
import {
  type Unwatch,
  WatchedObjects,
  type Watcher,
  type WatchingAdapter,
  type WatchSet,
  watchingAdapter,
} from "../../kit/messaging/watching-adapter.ts";
import { type Place, watchChannel } from "./channel.ts";
import { type ConsumerNaming, Consumers } from "./consumers.ts";
import { Declarations } from "./declarations.ts";
import { type AmqpConnection, type AmqpTarget, brokerOf, isChannel, isTarget, openChannels } from "./target.ts";
import { Topology } from "./topology.ts";

export type { Consumption } from "./consumers.ts";
export type { AmqpChannel, AmqpConnection, AmqpTarget } from "./target.ts";

/** Options of {@link amqplibSource}. */
export interface AmqplibOptions {
  /**
   * The virtual host of the connections, "/" by default. amqplib does not keep the one that it was given, so an application
   * with another one has to name it here; otherwise its queues are taken for those of "/".
   */
  readonly vhost?: string | undefined;
  /**
   * Names a consumer in the graph. By default, and if this returns undefined, `<queue>.<function's name>`, or
   * `<queue>.consumer` for a function without a name. Consumers of one name are one node.
   */
  readonly name?: ConsumerNaming;
}

const watched = new WatchedObjects("channel or connection of amqplib");

/** Feeds the graph with what passes through channels of amqplib. */
export type AmqplibAdapter = WatchingAdapter<AmqpTarget>;

/**
 * Shows the exchanges, queues and bindings of RabbitMQ that an application declares through amqplib, its publishers and its
 * consumers. For the promise and the callback interface, channels with and without confirms.
 *
 * - Topology is in the graph as soon as the broker has agreed, before any message, with dead-letter and alternate exchanges. It
 *   stays until the application deletes it. What was declared before the adapter was attached is not seen, except for what messages
 *   mention: the exchange that a message came from, the destination that one was sent to. Functions that consumed before are shown
 *   with their next message, at the exchange that it came from; at the queue if that is the default exchange.
 * - The channels of a connection are watched: those it has, and those it creates. A closed channel or connection is forgotten, so
 *   code that reconnects calls `watch` again. Methods are replaced on the objects themselves, not on their prototypes.
 * - A message is handled when its function has settled and it is acknowledged or rejected, whichever is later; without
 *   acknowledgements when the function has settled. It counts once: as failed if the function throws or rejects, if it is
 *   nacked or rejected, requeued or not, and if its channel ends before it is settled. Redelivered, it counts again.
 * - A message is sent when the library takes it; on a confirm channel, when the broker confirms it. Then a refusal, or the end of
 *   the channel, is a failure. A full buffer (`false`) is not.
 * - The broker's identity is the name of its cluster.
 *
 * @example
 * ```ts
 * const rabbit = amqplibSource();
 * flow.attach(rabbit);
 * const connection = rabbit.watch(await amqp.connect("amqp://localhost"));
 * ```
 * @throws ActuatorError INVALID_ARGUMENT if a target is neither a channel nor a connection.
 */
export function amqplibSource(
  targets: AmqpTarget | readonly AmqpTarget[] = [],
  options: AmqplibOptions = {},
): AmqplibAdapter {
  checkOptions("amqplibSource", options, { vhost: text, name: callable });
  return watchingAdapter<AmqpTarget>({
    name: "amqplib",
    source: "amqplibSource",
    expected: "a channel or connection of amqplib",
    checkVersion: () => requireVersion({ subpath: "amqplib", library: "amqplib", versions: "0.10 to 2" }),
    accepts: isTarget,
    targets,
    watched,
    begin: (host, objects) => watchConnections(host, objects, options),
  });
}

/** Watches channels and connections for one graph. */
function watchConnections(
  host: GraphHost,
  objects: WatchSet<AmqpTarget>,
  options: AmqplibOptions,
): Watcher<AmqpTarget> {
  const places = new PerBroker<Place>((broker) => {
    const topology = new Topology(host, broker, options.vhost ?? "/");
    const consumers = new Consumers(host, topology, options.name);
    return { topology, consumers, declarations: new Declarations(topology, consumers) };
  });
  return {
    watch(target) {
      if (!isChannel(target)) return watchConnection(target, objects);
      return watchChannel(target, host, places.at(brokerOf(target.connection, host)), () => objects.remove(target));
    },
    prune() {
      for (const { consumers } of places) consumers.prune();
    },
  };
}

function watchConnection(connection: AmqpConnection, objects: WatchSet<AmqpTarget>): Unwatch {
  const live: Live = { live: true };
  const opened = (value: unknown) => {
    if (live.live && isChannel(value)) objects.addNew(value);
  };
  const opening = (method: Method): Method =>
    function (this: unknown, ...args) {
      const at = args.findLastIndex((arg) => typeof arg === "function");
      const callback = args[at] as Method | undefined;
      if (callback !== undefined) {
        args[at] = function (this: unknown, ...results: unknown[]) {
          opened(results[1]);
          return Reflect.apply(callback, this, results);
        };
      }
      const result = Reflect.apply(method, this, args);
      if (result instanceof Promise) {
        return result.then((channel) => {
          opened(channel);
          return channel;
        });
      }
      // The callback interface returns the channel at once, and it can be used before it is open.
      opened(result);
      return result;
    };
  const onClose = () => objects.remove(connection);
  // A connection that reconnects by itself emits "disconnect" and goes on.
  connection.on("close", onClose);
  const restore = undoing(
    ["createChannel", "createConfirmChannel"].map((name) => placeMethod(connection, name, opening)),
  );
  for (const channel of openChannels(connection)) opened(channel);
  return () => {
    live.live = false;
    restore();
    connection.removeListener("close", onClose);
  };
}
