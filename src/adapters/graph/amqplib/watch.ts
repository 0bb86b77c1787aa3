import type { GraphHost } from "../../../integration-graph/adapter.ts";
import { type Method, placeMethod } from "../../kit/interception/replaced-method.ts";
import { brokerOf } from "./broker.ts";
import { type Place, watchChannel } from "./channel.ts";
import { Consumers } from "./consumers.ts";
import { Declarations } from "./declarations.ts";
import type { AmqplibOptions } from "./options.ts";
import {
  type AmqpChannel,
  type AmqpConnection,
  type AmqpTarget,
  isChannel,
  openChannels,
  type Unwatch,
} from "./target.ts";
import { Topology } from "./topology.ts";
import type { Watching } from "./watched-method.ts";

/** What any adapter watches: a message must not count twice. */
const watched = new WeakSet<AmqpTarget>();

/** The channels and connections that one adapter watches for one graph. */
export class Watch {
  readonly #host: GraphHost;
  readonly #options: AmqplibOptions;
  /** By the identity of the broker. */
  readonly #places = new Map<string, Place>();
  readonly #targets = new Map<AmqpTarget, Unwatch>();

  constructor(host: GraphHost, options: AmqplibOptions) {
    this.#host = host;
    this.#options = options;
    const prune = () => {
      for (const { consumers } of this.#places.values()) consumers.prune();
      return { nodes: [], links: [] };
    };
    host.read({ name: "amqplib", read: prune });
  }

  /** Throws a TypeError where it is watched already. */
  add(target: AmqpTarget): void {
    if (watched.has(target))
      throw new TypeError("this channel or connection is watched by an adapter of amqplib already");
    if (isChannel(target)) this.#addChannel(target);
    else this.#addConnection(target);
  }

  end(): void {
    for (const target of this.#targets.keys()) this.#remove(target);
  }

  #addChannel(channel: AmqpChannel): void {
    const unwatch = watchChannel(channel, this.#host, this.#placeOf(channel.connection), () => this.#remove(channel));
    this.#keep(channel, unwatch);
  }

  #addConnection(connection: AmqpConnection): void {
    const watching: Watching = { live: true };
    const opened = (value: unknown) => {
      if (watching.live && isChannel(value) && !watched.has(value)) this.#addChannel(value);
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
        // The callback interface gives the channel back at once, and it can be used before it is open.
        opened(result);
        return result;
      };
    const restore = ["createChannel", "createConfirmChannel"].map((name) => placeMethod(connection, name, opening));
    const onClose = () => this.#remove(connection);
    // One that recovers by itself says "disconnect", and goes on.
    connection.on("close", onClose);
    this.#keep(connection, () => {
      watching.live = false;
      for (const put of restore) put();
      connection.removeListener("close", onClose);
    });
    for (const channel of openChannels(connection)) opened(channel);
  }

  #keep(target: AmqpTarget, unwatch: Unwatch): void {
    watched.add(target);
    this.#targets.set(target, unwatch);
  }

  #remove(target: AmqpTarget): void {
    this.#targets.get(target)?.();
    this.#targets.delete(target);
    watched.delete(target);
  }

  #placeOf(connection: object): Place {
    const broker = brokerOf(connection, this.#host);
    let place = this.#places.get(broker);
    if (place === undefined) {
      const topology = new Topology(this.#host, broker, this.#options.vhost ?? "/");
      const consumers = new Consumers(this.#host, topology, this.#options.name);
      place = { topology, consumers, declarations: new Declarations(topology, consumers) };
      this.#places.set(broker, place);
    }
    return place;
  }
}
