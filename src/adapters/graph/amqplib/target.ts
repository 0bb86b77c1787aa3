import type { GraphHost } from "../../../integration-graph/adapter.ts";
import { field, hasMethods, isObject } from "../../kit/interception/field.ts";
import { SYSTEM } from "./topology.ts";

// biome-ignore lint/suspicious/noExplicitAny: the methods of both interfaces of the library, and of all its versions.
type AnyMethod = (...args: any[]) => unknown;

/** A channel of amqplib, with or without confirms, of its promise or its callback interface. */
export interface AmqpChannel {
  readonly connection: object;
  readonly assertQueue: AnyMethod;
  readonly publish: AnyMethod;
  readonly consume: AnyMethod;
  readonly on: AnyMethod;
  readonly removeListener: AnyMethod;
}

/** A connection of amqplib, of its promise or its callback interface; also one that reconnects by itself. */
export interface AmqpConnection {
  readonly createChannel: AnyMethod;
  readonly createConfirmChannel: AnyMethod;
  readonly on: AnyMethod;
  readonly removeListener: AnyMethod;
}

/** What {@link amqplibSource} watches. */
export type AmqpTarget = AmqpChannel | AmqpConnection;

export function isTarget(value: unknown): value is AmqpTarget {
  return isChannel(value) || hasMethods(value, "createChannel", "createConfirmChannel", "on", "removeListener");
}

export function isChannel(value: unknown): value is AmqpChannel {
  const methods = ["assertQueue", "publish", "consume", "on", "removeListener"];
  return hasMethods(value, ...methods) && isObject(field(value, "connection"));
}

/** The channels of a connection that are open already, as far as this version of the library exposes them. */
export function openChannels(connection: AmqpConnection): readonly AmqpChannel[] {
  const entries: unknown = field(field(connection, "connection"), "channels");
  return Array.isArray(entries) ? entries.map((entry) => field(entry, "channel")).filter(isChannel) : [];
}

/**
 * The identity of the broker behind a connection: the name of its cluster, which it sends when a connection begins and which is
 * the same at every address. A broker that sends none is known by its address.
 */
export function brokerOf(connection: object, host: GraphHost): string {
  const stream = field(connection, "stream");
  const [remote, port] = [field(stream, "remoteAddress"), field(stream, "remotePort")];
  const known = typeof remote === "string" && typeof port === "number";
  const address = known ? `${remote.includes(":") ? `[${remote}]` : remote}:${port}` : "unknown";
  const cluster = field(field(connection, "serverProperties"), "cluster_name");
  if (typeof cluster === "string" && cluster !== "") host.nameBroker(SYSTEM, address, cluster);
  return host.broker(SYSTEM, address);
}
