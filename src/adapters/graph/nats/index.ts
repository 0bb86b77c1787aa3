import { callable, checkOptions, flag } from "../../../common/options.ts";
import type { GraphHost } from "../../../integration-graph/adapter.ts";
import type { Topology } from "../../../integration-graph/source.ts";
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
import { type Place, watchConnection } from "./connection.ts";
import { Collected, readJetStream, readServices } from "./discovery.ts";
import { JetStreamClients } from "./jetstream.ts";
import { Subjects } from "./subjects.ts";
import { type SubscriberNaming, Subscribers } from "./subscribers.ts";
import {
  brokerOf,
  isConnection,
  isJetStream,
  type NatsConnection,
  type NatsJetStream,
  type NatsTarget,
  statedVersion,
} from "./target.ts";

export type { NatsConsumption } from "./subscribers.ts";
export type { NatsConnection, NatsJetStream, NatsTarget } from "./target.ts";

/** Options of {@link natsSource}. */
export interface NatsOptions {
  /**
   * Names a subscriber in the graph. By default, and if this returns undefined, the callback's name; without one,
   * and for loops, `<queue group or subject>.subscriber`, for JetStream `<consumer or stream>.consumer`. Subscribers of one name
   * are one node.
   */
  readonly name?: SubscriberNaming;
  /** Whether the graph asks all services of the broker for their endpoints, at every rebuild. False by default. */
  readonly services?: boolean | undefined;
  /**
   * Whether streams, the subjects that lead there, and durable consumers are read from the broker of a JetStream, at first and at every
   * rebuild. True by default; otherwise those that messages mention are shown.
   */
  readonly streams?: boolean | undefined;
}

const watched = new WatchedObjects("connection or JetStream of NATS");

/** Feeds the graph with what passes through connections to NATS. */
export type NatsAdapter = WatchingAdapter<NatsTarget>;

/**
 * Shows the subjects that an application publishes and subscribes to through NATS, for connections of `@nats-io/nats-core` 3 and
 * `nats` 2.
 *
 * - Subscriptions are in the graph at once, also those from before the adapter was attached. A subject with wildcards is a node of
 *   its own; the subjects that its messages were sent to lead there. At most 200 subjects that only messages mention are shown
 *   between two rebuilds: further ones count for the subscription that they match, or else for `>`.
 * - A message to a callback is handled when that returns, or its promise settles; it failed if that throws or rejects. A loop
 *   (`for await`) handles a message until it asks for the next one, if it began after the adapter was attached. What a loop sends
 *   is not linked to its messages, and whether it threw is not known, because a loop does not run in a context of the adapter.
 * - A message is sent when the library takes it. A request is sent when it is answered: without an answer it failed. Replies go to
 *   `_INBOX.*`, one node for all; waiting for one is not a subscription.
 * - With a client of JetStream (`natsSource([connection, jetstream(connection)])`), which stands for all clients of its connection,
 *   a message to a stream counts once, when the stream has
 *   taken it, and those of consumers that the client returns are handled when they are acknowledged: as failed with `nak` and
 *   `term`, if a callback throws or rejects, and if a loop ends with a message that is not acknowledged. Streams, the
 *   subjects that lead there, and durable consumers are read when the graph is built and at every rebuild.
 * - The broker's identity is the name of its cluster, or else of the server, or else its address. Accounts are not known, so
 *   one subject of two accounts is one node.
 * - A closed connection is forgotten. What was declared through it leaves the graph at the next rebuild.
 *
 * @example
 * ```ts
 * const connection = await connect({ servers: "nats://localhost" });
 * flow.attach(natsSource([connection, jetstream(connection)]));
 * ```
 * @throws ActuatorError INVALID_ARGUMENT if a target is neither a connection nor a JetStream.
 */
export function natsSource(targets: NatsTarget | readonly NatsTarget[] = [], options: NatsOptions = {}): NatsAdapter {
  checkOptions("natsSource", options, { name: callable, services: flag, streams: flag });
  return watchingAdapter<NatsTarget>({
    name: "nats",
    source: "natsSource",
    expected: "a connection of NATS, or a client or manager of JetStream",
    checkVersion: (target) =>
      requireVersion({ subpath: "nats", library: "nats", versions: "2 to 3" }, statedVersion(target)),
    accepts: (target) => isConnection(target) || isJetStream(target),
    targets,
    watched,
    begin: (host, objects) => watchTargets(host, objects, options),
  });
}

function watchTargets(host: GraphHost, objects: WatchSet<NatsTarget>, options: NatsOptions): Watcher<NatsTarget> {
  const subscribers = new Subscribers(host, options.name);
  const places = new PerBroker<Place>((broker) => ({
    subjects: new Subjects(host, broker),
    subscribers,
    own: new Map(),
  }));
  const placeOf = new Map<NatsConnection, Place>();
  const servers = new Map<string, string>();
  const jetStreams = new JetStreamClients(host, placeOf);
  let readsJetStream = false;
  let readsServices = false;

  function watchTarget(target: NatsTarget): Unwatch {
    if (!isJetStream(target)) return watchAndForget(target as NatsConnection);
    const { nc } = target;
    // One that another adapter watches is refused.
    if (!objects.has(nc)) objects.add(nc);
    if (!readsJetStream && options.streams !== false)
      host.read({ name: "nats JetStream", read: (signal) => read(jetStreamOf, signal) });
    readsJetStream = true;
    return jetStreams.watch(target);
  }

  function watchAndForget(connection: NatsConnection): Unwatch {
    const place = places.at(brokerOf(connection, host, servers));
    placeOf.set(connection, place);
    const unwatch = watchConnection(connection, host, place);
    const closed = () => objects.remove(connection);
    (connection.closed() as Promise<unknown>).then(closed, closed);
    if (options.services && !readsServices) {
      readsServices = true;
      host.read({ name: "nats services", read: (signal) => read(servicesOf, signal) });
    }
    return () => {
      unwatch();
      placeOf.delete(connection);
      for (const other of objects) if (isJetStream(other) && other.nc === connection) objects.remove(other);
    };
  }

  type Reading = (target: NatsTarget, to: Collected, signal: AbortSignal) => Promise<void> | undefined;
  const jetStreamOf: Reading = (target, to, signal) => {
    const place = isJetStream(target) ? placeOf.get(target.nc) : undefined;
    return place && readJetStream(target as NatsJetStream, place.subjects, to, signal);
  };
  const servicesOf: Reading = (target, to, signal) => {
    const place = placeOf.get(target as NatsConnection);
    return place && readServices(target as NatsConnection, place, to, signal);
  };

  async function read(reading: Reading, signal: AbortSignal): Promise<Topology> {
    const collected = new Collected();
    await Promise.all(Array.from(objects, (target) => reading(target, collected, signal)));
    return collected.topology;
  }

  return {
    watch: watchTarget,
    prune() {
      subscribers.prune();
      for (const { subjects } of places) subjects.prune();
    },
  };
}
