import type { GraphHost } from "../../../integration-graph/adapter.ts";
import { brokerOf } from "./broker.ts";
import { type WatchedClient, watchClient } from "./client.ts";
import { Handlers } from "./handlers.ts";
import type { MqttOptions } from "./options.ts";
import type { MqttClient } from "./target.ts";
import { Topics } from "./topics.ts";

/** What any adapter watches: a message must not count twice. */
const watched = new WeakSet<MqttClient>();

/** The clients that one adapter watches for one graph. */
export class Watch {
  readonly #host: GraphHost;
  readonly #handlers: Handlers;
  /** By the identity of the broker. */
  readonly #topics = new Map<string, Topics>();
  readonly #clients = new Map<MqttClient, WatchedClient>();

  constructor(host: GraphHost, options: MqttOptions) {
    this.#host = host;
    this.#handlers = new Handlers(host, options.name);
    const prune = () => {
      for (const client of this.#clients.values()) client.prune();
      for (const topics of this.#topics.values()) topics.renew();
      return { nodes: [], links: [] };
    };
    host.read({ name: "mqtt", read: prune });
  }

  /** Throws a TypeError where it is watched already. */
  add(client: MqttClient): void {
    if (watched.has(client)) throw new TypeError("this client is watched by an adapter of MQTT already");
    const broker = brokerOf(client, this.#host);
    let topics = this.#topics.get(broker);
    if (topics === undefined) {
      topics = new Topics(this.#host, broker);
      this.#topics.set(broker, topics);
    }
    const ended = () => {
      this.#clients.delete(client);
      watched.delete(client);
    };
    this.#clients.set(client, watchClient(client, this.#host, { topics, handlers: this.#handlers, ended }));
    watched.add(client);
  }

  end(): void {
    for (const [client, { unwatch }] of this.#clients) {
      unwatch();
      watched.delete(client);
    }
    this.#clients.clear();
  }
}
