import { field, hasMethods } from "../../kit/interception/field.ts";

// biome-ignore lint/suspicious/noExplicitAny: the methods of the library, in all its versions.
type Method = (...args: any[]) => any;

/** A client of mqtt.js. */
export interface MqttClient {
  readonly options: object;
  readonly publish: Method;
  readonly subscribe: Method;
  readonly unsubscribe: Method;
  readonly emit: Method;
  readonly on: Method;
  readonly removeListener: Method;
  readonly listeners: Method;
  readonly rawListeners: Method;
}

/** What is watched, and what takes it out of sight again. */
export type Unwatch = () => void;

const METHODS = [
  "publish",
  "subscribe",
  "unsubscribe",
  "handleMessage",
  "emit",
  "on",
  "removeListener",
  "rawListeners",
];

export function isClient(value: unknown): value is MqttClient {
  return hasMethods(value, ...METHODS) && typeof field(value, "options") === "object";
}

/** What the class of a client states, since mqtt.js 5. */
export function statedVersion(client: unknown): unknown {
  return field(field(client, "constructor"), "VERSION");
}
