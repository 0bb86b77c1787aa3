import type { Detach, GraphAdapter, GraphHost } from "../../../integration-graph/adapter.ts";
import { watchAll } from "../../../integration-graph/watching-adapter.ts";
import { requireVersion } from "../../kit/library-version.ts";
import { handlerOf } from "./handler.ts";
import type { RedisMessagingOptions, StreamSource } from "./options.ts";
import { libraryOf, type RedisMessagingClient } from "./target.ts";
import { Watch } from "./watch.ts";

/** Feeds the graph with the messages that go through Redis. */
export interface RedisMessagingAdapter extends GraphAdapter {
  /**
   * Watches another client, and gives it back: `redis.watch(client.duplicate())`. A client can be connected again after it was
   * closed, so one that is given up has to be taken out with `unwatch`.
   *
   * Throws a TypeError where it is no client of node-redis or ioredis, or is watched already.
   */
  watch<T extends RedisMessagingClient>(client: T): T;
  /** Does not watch a client any more. What it subscribed to goes with the next rebuild. */
  unwatch(client: RedisMessagingClient): void;
  /**
   * `fn`, measured as what handles the entries of a stream: what it sends is sent by it. For a loop that reads streams, since
   * nothing tells which function gets what was read. Of a consumer group, acknowledgements do not count then. On the Redis of
   * the first client that is watched.
   */
  // biome-ignore lint/suspicious/noExplicitAny: any function, as it is.
  handler<F extends (...args: any[]) => unknown>(source: StreamSource, fn: F): F;
}

/**
 * The channels and streams of Redis that an application publishes to and listens to, through clients of node-redis or ioredis:
 * `flow.attach(redisMessaging([client, subscriber]))`.
 *
 * - What a client subscribes to is in the graph before any message, also what it subscribed to before: channels, patterns and
 *   channels of shards, and each listener as an endpoint. A listener's message fails where it throws or rejects. With ioredis
 *   every listener of `message` listens to all channels of its client.
 * - A pattern is a channel of its own, and the channels whose messages came by it lead to it (`route`), once one did.
 * - A message is sent when Redis has taken it, in a transaction or pipeline too. A transaction that does not happen sent nothing.
 *   How many received it is not looked at.
 * - A stream is a channel that is read from: its entries count as received when they are read. A consumer group that the application
 *   reads for is an endpoint. It handled an entry when that is acknowledged, and the time since it was delivered is how long that
 *   took; without acknowledgements, at once. Whatever is sent meanwhile is not known to be sent by it: see
 *   {@link RedisMessagingAdapter.handler}. Entries that others claim, or nobody acknowledges, do not count.
 * - A broker is one Redis: "host:port" unless the graph's `brokers` name it, as `redis://host:port`. Channels are of all its
 *   databases, a stream is of one.
 * - The names of channels of keyspace notifications are cut, since they hold keys. No message or other key is looked at.
 *
 * Methods are replaced on the clients themselves. For node-redis 5 and 6 and ioredis 5 and 6; clusters and pools are not watched.
 *
 * Throws a TypeError where it is given something else.
 */
export function redisMessaging(
  clients: RedisMessagingClient | readonly RedisMessagingClient[] = [],
  options: RedisMessagingOptions = {},
): RedisMessagingAdapter {
  const waiting = new Set<RedisMessagingClient>();
  let attached: { readonly watch: Watch; readonly host: GraphHost } | undefined;

  function watch<T extends RedisMessagingClient>(client: T): T {
    const library = libraryOf(client);
    if (library === "ioredis") requireVersion({ subpath: "redis-messaging", library: "ioredis", versions: "5 to 6" });
    else requireVersion({ subpath: "redis-messaging", library: "redis", versions: "5 to 6" });
    if (library === undefined) {
      throw new TypeError("redisMessaging() watches clients of node-redis and ioredis, and got something else");
    }
    if (attached === undefined) waiting.add(client);
    else attached.watch.add(client);
    return client;
  }

  for (const client of Array.isArray(clients) ? clients : [clients]) watch(client);
  return {
    name: "redis",
    watch,
    unwatch(client) {
      waiting.delete(client);
      attached?.watch.remove(client);
    },
    handler: (source, fn) => handlerOf(source, fn, () => attached),
    attach(host: GraphHost): Detach {
      if (attached !== undefined) throw new TypeError("this adapter of Redis is attached already");
      const watched = watchAll(new Watch(host, options), waiting);
      if (options.discover) watched.discover();
      const now = { watch: watched, host };
      attached = now;
      waiting.clear();
      return () => {
        if (attached === now) attached = undefined;
        watched.end();
      };
    },
  };
}
