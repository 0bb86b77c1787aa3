import type { GraphHost } from "../../../integration-graph/adapter.ts";
import { field, hasMethods, isObject } from "../../kit/interception/field.ts";
import { SYSTEM } from "./subjects.ts";

// biome-ignore lint/suspicious/noExplicitAny: the methods of the library, in all its versions.
type Method = (...args: any[]) => any;

/** A connection to NATS, of `@nats-io/nats-core` 3 or `nats` 2. */
export interface NatsConnection {
  readonly publish: Method;
  readonly subscribe: Method;
  readonly request: Method;
  readonly closed: Method;
  readonly isClosed: Method;
}

/** A client of JetStream, or its manager. */
export interface NatsJetStream {
  readonly streams: object;
  readonly consumers: object;
}

/** What {@link natsSource} watches. */
export type NatsTarget = NatsConnection | NatsJetStream;

/** A subscription as the library keeps it. */
export interface Subscription extends AsyncIterable<Message> {
  readonly subject: string;
  readonly queue?: string;
  callback?: (error: Error | null, message: Message) => unknown;
  readonly noIterator?: boolean;
  readonly closed: Promise<unknown>;
}

export interface Message {
  readonly subject: string;
}

export function isConnection(value: unknown): value is NatsConnection {
  return hasMethods(value, "publish", "subscribe", "request", "closed", "isClosed");
}

/** The connection of a JetStream is not public, but every version keeps it under this name. */
export function isJetStream(value: unknown): value is NatsJetStream & { readonly nc: NatsConnection } {
  return isObject(field(value, "streams")) && isObject(field(value, "consumers")) && isConnection(field(value, "nc"));
}

/** The version of the client library, which a connection tells its server. */
export function statedVersion(target: unknown): unknown {
  return field(field(isConnection(target) ? target : field(target, "nc"), "protocol"), "version");
}

/** The subscriptions of a connection, as far as this version of the library exposes them. */
export function subscriptionsOf(connection: NatsConnection): readonly Subscription[] {
  const subs = field(field(field(connection, "protocol"), "subscriptions"), "subs");
  return subs instanceof Map ? [...subs.values()].filter((sub) => typeof field(sub, "subject") === "string") : [];
}

/** How many servers are remembered by their ids. */
const MAX_SERVERS = 100;

/**
 * The identity of the broker behind a connection: the name of its cluster, or else the name given to the server, or else its
 * address. A server's id is new at every start, so it only tells that several addresses are of one server: the first counts.
 *
 * @param servers the addresses of servers, by their ids
 */
export function brokerOf(connection: NatsConnection, host: GraphHost, servers: Map<string, string>): string {
  const info = field(connection, "info");
  const address = addressOf(connection);
  const [id, cluster, name] = [field(info, "server_id"), field(info, "cluster"), field(info, "server_name")];
  const given = [cluster, name].find((text) => typeof text === "string" && text !== "" && text !== id);
  if (typeof given === "string") host.nameBroker(SYSTEM, address, given);
  else if (typeof id === "string") {
    const first = servers.get(id);
    if (first !== undefined && first !== address) host.nameBroker(SYSTEM, address, host.broker(SYSTEM, first));
    else if (servers.size < MAX_SERVERS) servers.set(id, address);
  }
  return host.broker(SYSTEM, address);
}

function addressOf(connection: NatsConnection): string {
  const getServer = field(connection, "getServer");
  const address: unknown = typeof getServer === "function" ? Reflect.apply(getServer, connection, []) : "";
  return typeof address === "string" && address !== "" ? address.toLowerCase() : "unknown";
}
