import { type WatchingAdapter, watchAll, watchingAdapter } from "../../../integration-graph/watching-adapter.ts";
import { requireVersion } from "../../kit/library-version.ts";
import type { MqttOptions } from "./options.ts";
import { isClient, type MqttClient, statedVersion } from "./target.ts";
import { Watch } from "./watch.ts";

/** Feeds the graph with what passes through clients of MQTT. */
export interface MqttAdapter extends WatchingAdapter<MqttClient> {
  /**
   * Watches another client, and gives it back: `watch(connect(url))`. One that has ended is forgotten, with its subscriptions; to
   * be seen when it connects again it has to be watched again.
   *
   * Throws a TypeError where it is none, or is watched already.
   */
  watch<T extends MqttClient>(client: T): T;
}

/**
 * The topics that an application publishes and subscribes to through mqtt.js 5: `flow.attach(mqtt(client))`.
 *
 * - A subscription is in the graph as soon as the broker has agreed, also one from before the adapter was attached. A filter with
 *   `+` or `#` is a node of its own; the topics that its messages were sent to lead there. At most 200 topics that only messages
 *   tell of are shown between two rebuilds: further ones count for the subscription that they fit, else for `#`. A subscription
 *   that is shared (`$share/group/filter`) is one of its filter, with the group as a property.
 * - The library has no function for a subscription: every listener to "message" takes the messages of all. Each is a node, with an
 *   input from every subscription, and named for the function, without a name `mqtt.messages`. A message counts for the
 *   subscription of its very topic, else for the first that it fits: brokers do not say by which of several it came.
 * - A message is handled when the listener returns, or its promise settles; it failed where that throws or rejects. The client's
 *   own `handleMessage`, if it was replaced before the adapter was attached, is another node, and has done when it says so.
 * - A message is sent when it is written, and with a quality of service of 1 or 2 when the broker has it; one that is published
 *   while there is no connection is sent later. The topic of the will is an output of the application.
 * - The broker's identity is host and port; its names at other addresses can be told to the graph (`brokers`).
 *
 * Throws a TypeError where one of `clients` is no client.
 */
export function mqtt(clients: MqttClient | readonly MqttClient[] = [], options: MqttOptions = {}): MqttAdapter {
  return watchingAdapter<MqttClient>({
    name: "mqtt",
    title: "this adapter of MQTT",
    targets: clients,
    check(client) {
      requireVersion({ subpath: "mqtt", library: "mqtt", versions: "5" }, statedVersion(client));
      if (!isClient(client)) throw new TypeError("mqtt() watches clients of mqtt.js, and got something else");
    },
    begin: (host, clients) => watchAll(new Watch(host, options), clients),
  });
}
