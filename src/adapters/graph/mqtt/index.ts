import { callable, checkOptions } from "../../../common/options.ts";
import type { GraphHost } from "../../../integration-graph/adapter.ts";
import { field, hasMethods } from "../../kit/interception/field.ts";
import { requireVersion } from "../../kit/library-version.ts";
import { PerBroker } from "../../kit/messaging/destinations.ts";
import { HandlerRegistry } from "../../kit/messaging/handlers.ts";
import {
  WatchedObjects,
  type Watcher,
  type WatchingAdapter,
  type WatchSet,
  watchingAdapter,
} from "../../kit/messaging/watching-adapter.ts";
import { type MqttClient, type SubscriberNaming, WatchedClient } from "./client.ts";
import { SYSTEM, type Topic, Topics } from "./topics.ts";

export type { MqttClient, MqttConsumption } from "./client.ts";

/** Options of {@link mqttSource}. */
export interface MqttOptions {
  /**
   * Names a function that takes messages in the graph. By default, and if this returns undefined, its own name;
   * `mqtt.messages` for a function without a name. Functions of one name are one node.
   */
  readonly name?: SubscriberNaming;
}

const watched = new WatchedObjects("client of MQTT.js");

/** Feeds the graph with what passes through clients of MQTT.js. */
export type MqttAdapter = WatchingAdapter<MqttClient>;

/**
 * Shows the topics that an application publishes and subscribes to through MQTT.js 5.
 *
 * - A subscription is in the graph as soon as the broker has agreed, also one from before the adapter was attached. A filter with
 *   `+` or `#` is a node of its own; the topics that its messages were sent to lead there. At most 200 topics that only messages
 *   mention are shown between two rebuilds: further ones count for the subscription that they match, or else for `#`. A shared
 *   subscription (`$share/group/filter`) is shown as its filter, with the group as a property.
 * - The library has no function for a subscription: every listener to "message" takes the messages of all. Each is a node, with an
 *   input from every subscription, named for the function, or `mqtt.messages`. A message counts for the subscription of its exact
 *   topic, or else for the first that it matches: brokers do not say by which of several it came.
 * - A message is handled when the listener returns, or its promise settles; it failed if that throws or rejects. The client's
 *   own `handleMessage`, if it was replaced before the adapter was attached, is another node, and handles until it calls back.
 * - A message is sent when it is written, and with a quality of service of 1 or 2 when the broker has it; one that is published
 *   without a connection is sent later. The topic of the will is an output of the application.
 * - The broker's identity is host and port; its names at other addresses are an option of the graph (`brokers`).
 * - A client that has ended is forgotten, with its subscriptions. To be seen when it connects again, it has to be watched again.
 *
 * @example
 * ```ts
 * const client = mqtt.connect("mqtt://localhost");
 * flow.attach(mqttSource(client));
 * ```
 * @throws ActuatorError INVALID_ARGUMENT if one of `clients` is not a client of MQTT.js.
 */
export function mqttSource(clients: MqttClient | readonly MqttClient[] = [], options: MqttOptions = {}): MqttAdapter {
  checkOptions("mqttSource", options, { name: callable });
  return watchingAdapter<MqttClient>({
    name: "mqtt",
    source: "mqttSource",
    expected: "a client of MQTT.js, such as mqtt.connect(url)",
    // The class of a client states it, since MQTT.js 5.
    checkVersion(client) {
      const stated = field(field(client, "constructor"), "VERSION");
      requireVersion({ subpath: "mqtt", library: "mqtt", versions: "5" }, stated);
    },
    accepts: isClient,
    targets: clients,
    watched,
    begin: (host, objects) => watchClients(host, objects, options),
  });
}

function watchClients(host: GraphHost, objects: WatchSet<MqttClient>, { name }: MqttOptions): Watcher<MqttClient> {
  const brokers = new PerBroker((broker) => new Topics(host, broker));
  const clients = new Map<MqttClient, WatchedClient>();
  const parts = { host, handlers: new HandlerRegistry<Topic>(host), naming: name } as const;
  return {
    watch(client) {
      const topics = brokers.at(host.broker(SYSTEM, addressOf(client.options)));
      const watchedClient = new WatchedClient(client, { ...parts, topics, ended: () => objects.remove(client) });
      clients.set(client, watchedClient);
      return () => {
        clients.delete(client);
        watchedClient.unwatch();
      };
    },
    prune() {
      for (const client of clients.values()) client.refresh();
      for (const topics of brokers) topics.prune();
    },
  };
}

function isClient(value: unknown): value is MqttClient {
  const methods = [
    "publish",
    "subscribe",
    "unsubscribe",
    "handleMessage",
    "emit",
    "on",
    "removeListener",
    "rawListeners",
  ];
  return hasMethods(value, ...methods) && typeof field(value, "options") === "object";
}

const PORTS: { readonly [protocol: string]: number } = { mqtts: 8883, ssl: 8883, tls: 8883, ws: 80, wss: 443 };

/** The address of a broker is all that is known of it. */
function addressOf(options: object): string {
  // Of several brokers of one cluster the first stands for all.
  const servers = field(options, "servers");
  const server = Array.isArray(servers) && servers.length > 0 ? servers[0] : options;
  const names = [field(server, "hostname"), field(server, "host"), field(options, "path")];
  const name = names.find((each): each is string => typeof each === "string" && each !== "");
  if (name === undefined) return "unknown";
  const protocol = String(field(server, "protocol") ?? field(options, "protocol") ?? "mqtt").replace(/:$/, "");
  if (field(options, "unixSocket") || protocol.endsWith("+unix")) return `unix:${name}`;
  const port = field(server, "port") ?? PORTS[protocol] ?? 1883;
  return name.includes(":") && !name.startsWith("[") ? `[${name}]:${port}` : `${name}:${port}`;
}
