export { type MqttAdapter, mqtt } from "./adapter.ts";
export type { MqttConsumption, MqttOptions } from "./options.ts";
export type { MqttClient } from "./target.ts";
