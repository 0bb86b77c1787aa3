import type { GraphHost } from "../../../integration-graph/adapter.ts";
import type { NodeDeclaration } from "../../../integration-graph/declaration.ts";
import type { Topology } from "../../../integration-graph/source.ts";
import { addressOf, redisIdentity } from "../../kit/messaging/redis-address.ts";
import type { WatchedClient } from "./client.ts";
import { Commands } from "./commands.ts";
import { discover } from "./discovery.ts";
import { Groups } from "./groups.ts";
import { watchIoredis } from "./ioredis.ts";
import { Names, SYSTEM } from "./names.ts";
import { watchNodeRedis } from "./node-redis.ts";
import type { RedisMessagingOptions } from "./options.ts";
import { Subscribers } from "./subscribers.ts";
import { libraryOf, type RedisMessagingClient } from "./target.ts";

/** What any adapter watches: a message must not count twice. */
const watched = new WeakSet<object>();

/** What one Redis is to the graph. */
interface Server {
  readonly names: Names;
  readonly groups: Groups;
  readonly commands: Commands;
  readonly subscribers: Subscribers;
  readonly clients: Set<WatchedClient>;
}

/** The clients that one adapter watches for one graph. */
export class Watch {
  readonly #host: GraphHost;
  readonly #options: RedisMessagingOptions;
  /** By the identity of the Redis. */
  readonly #servers = new Map<string, Server>();
  readonly #clients = new Map<RedisMessagingClient, { readonly server: Server; readonly client: WatchedClient }>();

  constructor(host: GraphHost, options: RedisMessagingOptions) {
    this.#host = host;
    this.#options = options;
    host.read({ name: "redis", read: () => this.#prune() });
  }

  /** Asks every Redis for what else is there. */
  discover(): void {
    this.#host.read({ name: "the channels and streams in Redis", read: () => this.#discover() });
  }

  /** Throws a TypeError where it is watched already. */
  add(client: RedisMessagingClient): void {
    const identity = (Reflect.get(client, "_self") as object | undefined) ?? client;
    if (watched.has(identity)) throw new TypeError("this client of Redis is watched by an adapter already");
    const server = this.#serverOf(redisIdentity(this.#host, SYSTEM, addressOf(client), false));
    const watchClient = libraryOf(client) === "ioredis" ? watchIoredis : watchNodeRedis;
    const made = watchClient(client, server);
    server.clients.add(made);
    watched.add(identity);
    this.#clients.set(client, { server, client: made });
  }

  remove(client: RedisMessagingClient): void {
    const known = this.#clients.get(client);
    if (known === undefined) return;
    known.client.unwatch();
    known.server.clients.delete(known.client);
    this.#clients.delete(client);
    watched.delete((Reflect.get(client, "_self") as object | undefined) ?? client);
  }

  end(): void {
    for (const client of this.#clients.keys()) this.remove(client);
  }

  /** The Redis that a client talks to, or else the first, and the database there. */
  at(wanted?: RedisMessagingClient): { readonly server: Server; readonly db: number } | undefined {
    const known = wanted === undefined ? [...this.#clients.values()][0] : this.#clients.get(wanted);
    return known && { server: known.server, db: known.client.db() };
  }

  #serverOf(broker: string): Server {
    let server = this.#servers.get(broker);
    if (server === undefined) {
      const names = new Names(this.#host, broker);
      const groups = new Groups(this.#host, names);
      const commands = new Commands(this.#host, names, groups);
      const subscribers = new Subscribers(this.#host, names, this.#options.name);
      server = { names, groups, commands, subscribers, clients: new Set() };
      this.#servers.set(broker, server);
    }
    return server;
  }

  #prune(): Topology {
    for (const { client } of this.#clients.values()) client.sync();
    for (const { subscribers, names } of this.#servers.values()) {
      subscribers.prune();
      names.prune();
    }
    return { nodes: [], links: [] };
  }

  async #discover(): Promise<Topology> {
    const nodes: NodeDeclaration[] = [];
    for (const { clients, names } of this.#servers.values()) {
      const free = [...clients].filter(({ isSubscribing }) => !isSubscribing());
      // One that is about to connect keeps the commands until then.
      const client = free.find(({ isReady }) => isReady()) ?? free[0];
      if (client === undefined) throw new Error("every client of this Redis that is watched has subscriptions");
      nodes.push(...(await discover(client, names)));
    }
    return { nodes, links: [] };
  }
}
