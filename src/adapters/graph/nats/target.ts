import { field, isObject } from "../../kit/interception/field.ts";

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

/** What NATS's messages go through. */
export type NatsTarget = NatsConnection | NatsJetStream;

/** A subscription, as the library keeps it. */
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

/** What is watched, and what takes it out of sight again. */
export type Unwatch = () => void;

export function isConnection(value: unknown): value is NatsConnection {
  return ["publish", "subscribe", "request", "closed", "isClosed"].every((name) => isMethod(value, name));
}

/** The connection of a JetStream is its own business, but every version has it under this name. */
export function isJetStream(value: unknown): value is NatsJetStream & { readonly nc: NatsConnection } {
  return isObject(field(value, "streams")) && isObject(field(value, "consumers")) && isConnection(field(value, "nc"));
}

/** The version of the client library, which a connection tells its server. */
export function statedVersion(target: unknown): unknown {
  return field(field(isConnection(target) ? target : field(target, "nc"), "protocol"), "version");
}

/** The subscriptions of a connection, as far as this version of the library lets them be seen. */
export function subscriptionsOf(connection: NatsConnection): readonly Subscription[] {
  const subs = field(field(field(connection, "protocol"), "subscriptions"), "subs");
  return subs instanceof Map ? [...subs.values()].filter((sub) => typeof field(sub, "subject") === "string") : [];
}

export function isMethod(value: unknown, name: string): boolean {
  return typeof field(value, name) === "function";
}
