import type { MqttClient, mqttSource } from "../../adapters/graph/mqtt/index.ts";
import { GraphObjects } from "../graph-objects.ts";
import type { Library } from "../library.ts";
import { part } from "../parts.ts";
import { onSight } from "../sighting.ts";

interface MqttClients {
  readonly default: { readonly prototype: object };
}

const objects = new GraphObjects<MqttClient>(() =>
  part<{ mqttSource: typeof mqttSource }>("adapters/graph/mqtt/index").mqttSource(),
);

/**
 * A client is seen when it connects, which its constructor does; and again when it reconnects, because one that had ended was forgotten.
 * A `handleMessage` that the application assigns later is not shown.
 */
export const mqtt: Library = {
  watch: (exports, findings) =>
    onSight(
      (exports as MqttClients).default.prototype,
      "connect",
      findings,
      (client) => void objects.watch(client as MqttClient, findings),
      {
        always: true,
      },
    ),
  inHeap: { classes: { default: ["handleMessage", "publish", "reconnect", "subscribe"] } },
  recognize: (client, findings) => objects.watch(client as MqttClient, findings),
};
