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

/** What the library and the application call: sent messages, received ones, and what is sent if there are none for a while. */
const TRAFFIC = ["publish", "subscribe", "handleMessage", "sendPing"];

/**
 * A client is seen when it connects, which its constructor does; and again when it reconnects, because one that had ended was forgotten.
 * One that existed before is seen when it sends or receives. A `handleMessage` that the application assigns later is not shown.
 */
export const mqtt: Library = {
  watch: (exports, findings) => {
    const see = (client: object) => void objects.watch(client as MqttClient, findings);
    return onSight((exports as MqttClients).default.prototype, "connect", findings, see, { always: true });
  },
  meet(exports, findings) {
    const see = (client: object) => void objects.watch(client as MqttClient, findings);
    return onSight((exports as MqttClients).default.prototype, TRAFFIC, findings, see, { again: true });
  },
  inHeap: { classes: { default: ["handleMessage", "publish", "reconnect", "subscribe"] } },
  recognize(client, findings) {
    const hasEnded = (client as { readonly disconnected?: boolean }).disconnected === true;
    return !hasEnded && objects.watch(client as MqttClient, findings);
  },
};
