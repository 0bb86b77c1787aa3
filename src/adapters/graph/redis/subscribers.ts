import type { GraphHost } from "../../../integration-graph/adapter.ts";
import { MAX_NAME_LENGTH } from "../../../integration-graph/declaration.ts";
import type { GraphLink, GraphNode } from "../../../integration-graph/node.ts";
import { endpointKey } from "../../../integration-graph/node-id.ts";
import { handled } from "./handling.ts";
import { type Kind, type Names, SYSTEM } from "./names.ts";
import type { RedisMessagingOptions } from "./options.ts";

export type SubscribedKind = Exclude<Kind, "stream">;
export type Listener = (this: unknown, ...args: unknown[]) => unknown;

/** So many channels are shown to lead to one pattern. */
const MAX_WAYS = 200;
/** So many subscriptions are kept at least, though nobody may listen any more, until somebody rebuilds the graph. */
const MIN_KEPT = 250;

/** One function that listens to one channel or pattern. */
export interface Subscription {
  readonly kind: SubscribedKind;
  /** As the application names it. */
  readonly name: string;
  readonly node: GraphNode;
  readonly input: GraphLink | undefined;
  /** The clients that it listens by. */
  readonly clients: Set<object>;
}

/** The functions that listen to channels and patterns of one Redis, as nodes of the graph. */
export class Subscribers {
  readonly #host: GraphHost;
  readonly #names: Names;
  readonly #naming: RedisMessagingOptions["name"];
  readonly #subscriptions = new Map<string, Subscription>();
  readonly #ways = new Map<string, Map<string, GraphLink | undefined>>();
  #pruneAt = MIN_KEPT;

  constructor(host: GraphHost, names: Names, naming: RedisMessagingOptions["name"]) {
    this.#host = host;
    this.#names = names;
    this.#naming = naming;
  }

  /** `listener` listens by `client`. */
  add(kind: SubscribedKind, name: string, listener: Listener, client: object): Subscription {
    const title = this.#titleOf(kind, name, listener);
    const key = endpointKey(this.#host.app, "service_activator", kind === "channel" ? title : `${kind}:${title}`);
    let subscription = this.#subscriptions.get(key);
    if (subscription === undefined) {
      if (this.#subscriptions.size >= this.#pruneAt) this.#makeRoom();
      const clients = new Set<object>();
      const channel = this.#names.hold(kind, name, clients);
      const node = this.#host.declare({
        name: title,
        pattern: "service_activator",
        componentType: "redis:subscriber",
        key,
      });
      subscription = { kind, name, node, input: this.#host.link(channel, "input", node), clients };
      this.#subscriptions.set(key, subscription);
    }
    subscription.clients.add(client);
    return subscription;
  }

  /** Only what `isLive` says listens by a client. */
  keep(client: object, isLive: (subscription: Subscription) => boolean): void {
    for (const subscription of this.#subscriptions.values()) {
      if (!isLive(subscription)) subscription.clients.delete(client);
    }
  }

  /** Drops the functions that listen no more. */
  prune(): void {
    for (const [key, { kind, name, clients, node }] of this.#subscriptions) {
      if (clients.size > 0) continue;
      this.#subscriptions.delete(key);
      if (kind === "pattern") this.#ways.delete(name);
      this.#names.release(clients);
      this.#host.withdraw(node);
    }
  }

  /** Channels may be made up for each user, and the graph need never be rebuilt. */
  #makeRoom(): void {
    this.prune();
    this.#names.prune();
    this.#pruneAt = Math.max(MIN_KEPT, 2 * this.#subscriptions.size);
  }

  /** A message came. `channel` is where it was published, `first` whether no other listener of the client has it before. */
  call(subscription: Subscription, channel: unknown, first: boolean, run: () => unknown): unknown {
    if (!this.#host.counts(SYSTEM)) return this.#host.within(subscription.node, run);
    if (first && subscription.kind === "pattern") this.#countWay(subscription.name, channel);
    return handled(this.#host, subscription, run);
  }

  /** Which channels a pattern stands for is seen only when messages come. */
  #countWay(pattern: string, channel: unknown): void {
    let ways = this.#ways.get(pattern);
    if (ways === undefined) this.#ways.set(pattern, (ways = new Map()));
    const name = typeof channel === "string" ? channel : String(channel);
    let way = ways.get(name);
    if (way === undefined || way.dormant) {
      if (ways.size >= MAX_WAYS && !ways.has(name)) return;
      way = this.#host.way(this.#names.seen("channel", name), "route", this.#names.seen("pattern", pattern));
      ways.set(name, way);
    }
    if (way !== undefined) way.count++;
  }

  #titleOf(kind: SubscribedKind, name: string, { name: given }: Listener): string {
    const functionName = typeof given === "string" ? given.replace(/^(bound )+/, "") : "";
    const channel = this.#names.shown(name);
    const title = this.#naming?.({ kind, channel, functionName }) ?? `${channel}.${functionName || "subscriber"}`;
    return title.slice(0, MAX_NAME_LENGTH).toWellFormed();
  }
}
