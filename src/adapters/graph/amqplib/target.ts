import { field, hasMethods, isObject } from "../../kit/interception/field.ts";

// biome-ignore lint/suspicious/noExplicitAny: the methods of both interfaces of the library, and of all its versions.
type Method = (...args: any[]) => unknown;

/** A channel of amqplib, with or without confirms, of its promise or its callback interface. */
export interface AmqpChannel {
  readonly connection: object;
  readonly assertQueue: Method;
  readonly publish: Method;
  readonly consume: Method;
  readonly on: Method;
  readonly removeListener: Method;
}

/** A connection of amqplib, of its promise or its callback interface; also one that recovers by itself. */
export interface AmqpConnection {
  readonly createChannel: Method;
  readonly createConfirmChannel: Method;
  readonly on: Method;
  readonly removeListener: Method;
}

/** What amqplib's messages go through. */
export type AmqpTarget = AmqpChannel | AmqpConnection;

/** What is watched, and what takes it out of sight again. */
export type Unwatch = () => void;

const CHANNEL_METHODS = ["assertQueue", "publish", "consume", "on", "removeListener"];
const CONNECTION_METHODS = ["createChannel", "createConfirmChannel", "on", "removeListener"];

export function isChannel(value: unknown): value is AmqpChannel {
  return hasMethods(value, ...CHANNEL_METHODS) && isObject(field(value, "connection"));
}

export function isConnection(value: unknown): value is AmqpConnection {
  return hasMethods(value, ...CONNECTION_METHODS);
}

/** The channels of a connection that are open already, as far as this version of the library lets them be seen. */
export function openChannels(connection: AmqpConnection): readonly AmqpChannel[] {
  const entries: unknown = field(field(connection, "connection"), "channels");
  return Array.isArray(entries) ? entries.map((entry) => field(entry, "channel")).filter(isChannel) : [];
}
