import { callable, checkOptions, flag } from "../../../common/options.ts";
import type { GraphHost } from "../../../integration-graph/adapter.ts";
import { type NodeDeclaration, shortened } from "../../../integration-graph/declaration.ts";
import { endpointKey } from "../../../integration-graph/node-id.ts";
import type { Topology } from "../../../integration-graph/source.ts";
import { field } from "../../kit/interception/field.ts";
import { requireVersion } from "../../kit/library-version.ts";
import { Delivery, deliver, type Receiver } from "../../kit/messaging/delivery.ts";
import { PerBroker } from "../../kit/messaging/destinations.ts";
import { functionName } from "../../kit/messaging/handlers.ts";
import { addressOf, redisIdentity } from "../../kit/messaging/redis-address.ts";
import {
  WatchedObjects,
  type Watcher,
  type WatchingAdapter,
  type WatchSet,
  watchingAdapter,
} from "../../kit/messaging/watching-adapter.ts";
import { Commands } from "./commands.ts";
import { discover } from "./discovery.ts";
import { Groups } from "./groups.ts";
import { watchIoredis } from "./ioredis.ts";
import { Names, SYSTEM } from "./names.ts";
import { watchNodeRedis } from "./node-redis.ts";
import { type SubscriberNaming, Subscribers } from "./subscribers.ts";
import { libraryOf, type RedisMessagingClient, type WatchedClient } from "./target.ts";

export type { SubscriberDescription } from "./subscribers.ts";
export type { RedisMessagingClient } from "./target.ts";

/** Options of {@link redisSource}. */
export interface RedisMessagingOptions {
  /**
   * Names a function that listens in the graph. By default, and if this returns undefined,
   * `<channel>.<function's name>`, or `<channel>.subscriber` for a function without a name.
   */
  readonly name?: SubscriberNaming;
  /**
   * Whether to read from Redis, at first and at every rebuild, the channels that have subscribers in any application and the consumer
   * groups of the streams that are known; false by default. Uses PUBSUB and XINFO GROUPS on a watched client that has no subscriptions,
   * at most 200 channels and 100 streams.
   */
  readonly discover?: boolean | undefined;
}

/** What a function of the application handles: the entries of a stream, or those of a consumer group. */
export interface StreamSource {
  /** The stream's key, without a prefix that the client adds. */
  readonly stream: string;
  readonly group?: string | undefined;
  /** The function's name in the graph if there is no group; by default `<stream>.<function's name>`. */
  readonly name?: string | undefined;
}

/** Feeds the graph with the messages that go through Redis. */
export interface RedisMessagingAdapter extends WatchingAdapter<RedisMessagingClient> {
  /**
   * Measures `fn` as the handler of a stream's entries: what it sends is sent by it. For a loop that reads streams, since it is not
   * known which function receives what was read. Acknowledgements of the consumer group do not count then. Uses the Redis of
   * the first client that is watched.
   */
  handler<F extends AnyFunction>(source: StreamSource, fn: F): F;
}

// biome-ignore lint/suspicious/noExplicitAny: any function, as it is.
type AnyFunction = (...args: any[]) => unknown;

/** The inner client that several proxies of node-redis stand for. */
const parts = (client: object) => [(field(client, "_self") as object | undefined) ?? client];

const watched = new WatchedObjects("client of Redis", { parts });

/**
 * Shows the channels and streams of Redis that an application publishes to and listens to, through clients of node-redis 5 and 6 or
 * ioredis 5 and 6. Clusters and pools are not watched.
 *
 * - What a client subscribes to is in the graph before any message, also what it subscribed to before: channels, patterns and
 *   channels of shards, and each listener as an endpoint. A message fails if its listener throws or rejects. With ioredis
 *   every listener of `message` listens to all channels of its client.
 * - A pattern is a channel of its own, and the channels whose messages came by it lead to it (`route`), once one did.
 * - A message is sent when Redis has taken it, in a transaction or pipeline too. A transaction that is aborted sends nothing.
 * - A stream is a channel that is read from: its entries count as received when they are read. A consumer group that the application
 *   reads for is an endpoint. It handled an entry when that is acknowledged, and the time since it was delivered is how long that
 *   took; without acknowledgements, at once. What is sent meanwhile is not known to be sent by it: see
 *   {@link RedisMessagingAdapter.handler}. Entries that are claimed by others, or never acknowledged, do not count.
 * - A broker is one Redis: "host:port" unless the graph's `brokers` name it, as `redis://host:port`. Channels are of all its
 *   databases, a stream is of one.
 * - The names of channels of keyspace notifications are cut, since they contain keys. Messages and other keys are not read.
 * - Methods are replaced on the clients themselves. What a client subscribed to goes with the rebuild after `unwatch`.
 *
 *
 * @example
 * ```ts
 * const client = await createClient().connect();
 * const subscriber = await client.duplicate().connect();
 * flow.attach(redisSource([client, subscriber]));
 * ```
 * @throws ActuatorError INVALID_ARGUMENT if one of `clients` is not a client of node-redis or ioredis.
 */
export function redisSource(
  clients: RedisMessagingClient | readonly RedisMessagingClient[] = [],
  options: RedisMessagingOptions = {},
): RedisMessagingAdapter {
  checkOptions("redisSource", options, { name: callable, discover: flag });
  let attached: Attached | undefined;
  const adapter = watchingAdapter<RedisMessagingClient>({
    name: "redis",
    source: "redisSource",
    expected: "a client of node-redis or ioredis",
    checkVersion(client) {
      const library = libraryOf(client) === "ioredis" ? "ioredis" : "redis";
      requireVersion({ subpath: "redis-messaging", library, versions: "5 to 6" });
    },
    accepts: (client) => libraryOf(client) !== undefined,
    targets: clients,
    watched,
    begin(host, objects) {
      const { watcher, first } = watchClients(host, objects, options);
      const now = { host, first };
      attached = now;
      return {
        ...watcher,
        end() {
          if (attached === now) attached = undefined;
        },
      };
    },
  });
  return { ...adapter, handler: (source, fn) => handlerOf(source, fn, () => attached) };
}

/** What one Redis is to the graph. */
interface Server {
  readonly names: Names;
  readonly groups: Groups;
  readonly commands: Commands;
  readonly subscribers: Subscribers;
  readonly clients: Set<WatchedClient>;
}

function watchClients(
  host: GraphHost,
  objects: WatchSet<RedisMessagingClient>,
  options: RedisMessagingOptions,
): { readonly watcher: Watcher<RedisMessagingClient>; readonly first: Attached["first"] } {
  const servers = new PerBroker<Server>((broker) => {
    const names = new Names(host, broker);
    const groups = new Groups(host, names);
    const subscribers = new Subscribers(host, names, options.name);
    return { names, groups, commands: new Commands(host, names, groups), subscribers, clients: new Set() };
  });
  const clients = new Map<RedisMessagingClient, { readonly server: Server; readonly client: WatchedClient }>();

  async function discoverAll(): Promise<Topology> {
    const nodes: NodeDeclaration[] = [];
    for (const { clients, names } of servers) {
      const free = [...clients].filter(({ isSubscribing }) => !isSubscribing());
      // One that is about to connect keeps the commands until then.
      const client = free.find(({ isReady }) => isReady()) ?? free[0];
      if (client === undefined)
        throw new Error("all watched clients of this Redis have subscriptions; watch another one");
      nodes.push(...(await discover(client, names)));
    }
    return { nodes, links: [] };
  }

  const watcher: Watcher<RedisMessagingClient> = {
    watch(target) {
      const server = servers.at(redisIdentity(host, SYSTEM, addressOf(target), false));
      const client = (libraryOf(target) === "ioredis" ? watchIoredis : watchNodeRedis)(target, server);
      server.clients.add(client);
      clients.set(target, { server, client });
      return () => {
        client.unwatch();
        server.clients.delete(client);
        clients.delete(target);
      };
    },
    prune() {
      for (const { client } of clients.values()) client.sync();
      for (const { subscribers, groups, names } of servers) {
        subscribers.prune();
        groups.prune();
        names.prune();
      }
    },
    started() {
      if (options.discover) host.read({ name: "the channels and streams in Redis", read: discoverAll });
    },
  };
  return {
    watcher,
    first() {
      const [target] = objects;
      const known = target && clients.get(target);
      return known && { server: known.server, db: known.client.db() };
    },
  };
}

interface Attached {
  readonly host: GraphHost;
  /** The Redis of the first client that is watched, and its database. */
  readonly first: () => { readonly server: Server; readonly db: number } | undefined;
}

/** Measures `fn` while the adapter is attached. */
function handlerOf<F extends AnyFunction>(source: StreamSource, fn: F, attached: () => Attached | undefined): F {
  let of: Attached | undefined;
  let endpoint: Receiver | undefined;
  function handle(this: unknown, ...args: unknown[]): unknown {
    const now = attached();
    const run = () => Reflect.apply(fn, this, args);
    if (now === undefined) return run();
    if (of !== now || endpoint === undefined) {
      endpoint = endpointOf(source, functionName(fn), now);
      of = now;
    }
    return endpoint !== undefined && now.host.counts(SYSTEM)
      ? deliver(now.host, new Delivery(now.host, endpoint, true), run)
      : run();
  }
  return Object.defineProperties(handle, Object.getOwnPropertyDescriptors(fn)) as unknown as F;
}

function endpointOf(
  { stream, group, name }: StreamSource,
  called: string,
  { host, first }: Attached,
): Receiver | undefined {
  const at = first();
  if (at === undefined) return undefined;
  const { server, db } = at;
  if (group !== undefined) {
    const known = server.groups.of(`${db}/${stream}`, group);
    if (known !== undefined) known.measured = true;
    return known;
  }
  const channel = server.names.hold("stream", `${db}/${stream}`, "handled");
  const title = shortened(name ?? `${server.names.shown(stream)}.${called || "handler"}`);
  const node = host.declare({
    name: title,
    pattern: "service_activator",
    componentType: "redis:stream-handler",
    key: endpointKey(host.app, "service_activator", title),
  });
  return { node, input: host.link(channel.node, "input", node) };
}
