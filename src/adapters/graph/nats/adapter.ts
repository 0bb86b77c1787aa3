import { type WatchingAdapter, watchAll, watchingAdapter } from "../../../integration-graph/watching-adapter.ts";
import { requireVersion } from "../../kit/library-version.ts";
import type { NatsOptions } from "./options.ts";
import { isConnection, isJetStream, type NatsTarget, statedVersion } from "./target.ts";
import { Watch } from "./watch.ts";

/** Feeds the graph with what passes through connections to NATS. */
export interface NatsAdapter extends WatchingAdapter<NatsTarget> {
  /**
   * Watches another connection, or client or manager of JetStream, and gives it back: `watch(await connect(options))`. A closed
   * connection is forgotten by itself, and what was declared through it leaves the graph with the next rebuild.
   *
   * Throws a TypeError where it is none of them, or is watched already.
   */
  watch<T extends NatsTarget>(target: T): T;
}

/**
 * The subjects that an application publishes and subscribes to through NATS: `flow.attach(nats(connection))`, for connections of
 * `@nats-io/nats-core` 3 and `nats` 2.
 *
 * - Subscriptions are in the graph at once, also those from before the adapter was attached. A subject with wildcards is a node of
 *   its own; the subjects that its messages were sent to lead there. At most 200 subjects that only messages tell of are shown
 *   between two rebuilds: further ones count for the subscription that they fit, else for `>`.
 * - A message to a callback is handled when that returns, or its promise settles; it failed where that throws or rejects. A loop
 *   (`for await`) handles a message until it asks for the next one, if it began after the adapter was attached. What a loop sends
 *   is not linked to its messages, and whether it threw is not known: no context of ours reaches into a loop.
 * - A message is sent when the library takes it. A request is sent when it is answered: without an answer it failed. Replies go to
 *   `_INBOX.*`, one node for all; whoever waits for them is no subscriber.
 * - With a client of JetStream (`nats([connection, jetstream(connection)])`) a message to a stream counts once, when the stream has
 *   taken it, and those of consumers that the client hands out are handled when they are acknowledged: as failed with `nak` and
 *   `term`, where a callback throws or rejects, and where a loop is left with a message that is not acknowledged. Streams, the
 *   subjects that lead there, and durable consumers are read when the graph is built and at every rebuild.
 * - The broker's identity is its cluster's name, else the name given to the server, else the server's id. Nothing tells of
 *   accounts, so one subject of two accounts is one node.
 *
 * Throws a TypeError where a target is neither a connection nor a JetStream.
 */
export function nats(targets: NatsTarget | readonly NatsTarget[] = [], options: NatsOptions = {}): NatsAdapter {
  return watchingAdapter<NatsTarget>({
    name: "nats",
    title: "this adapter of NATS",
    targets,
    check(target) {
      requireVersion({ subpath: "nats", library: "nats", versions: "2 to 3" }, statedVersion(target));
      if (isConnection(target) || isJetStream(target)) return;
      throw new TypeError("nats() watches connections and JetStreams of NATS, and got something else");
    },
    begin(host, targets) {
      // Connections first: a JetStream brings its own along.
      const inOrder = targets.toSorted((a, b) => Number(isConnection(b)) - Number(isConnection(a)));
      return watchAll(new Watch(host, options), inOrder);
    },
  });
}
