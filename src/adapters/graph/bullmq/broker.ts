import type { GraphHost } from "../../../integration-graph/adapter.ts";
import { field } from "../../kit/interception/field.ts";
import { addressOf, redisIdentity } from "../../kit/messaging/redis-address.ts";

/** The system that queues are of, as keys and counts name it. */
export const SYSTEM = "bullmq";

/** The prefix of BullMQ's keys unless the application says otherwise. */
export const DEFAULT_PREFIX = "bull";

/** Where queues are: two of the same name are one only where all of this is the same. */
export interface Place {
  /** The identity of the database in Redis. */
  readonly broker: string;
  readonly prefix: string;
}

/** Where the queue of a queue or worker is, and those of a flow producer unless a flow says otherwise. */
export function placeOf(target: object, host: GraphHost): Place {
  const options = field(target, "opts");
  const prefix = field(options, "prefix");
  return {
    broker: redisIdentity(host, SYSTEM, addressOf(field(options, "connection")), true),
    prefix: typeof prefix === "string" && prefix !== "" ? prefix : DEFAULT_PREFIX,
  };
}

/** The name of a queue and its place, of `<prefix>:<queue>` as jobs hold it: only a prefix can have a colon. */
export function placeOfKey(broker: string, key: string): { readonly place: Place; readonly name: string } {
  const colon = key.lastIndexOf(":");
  return { place: { broker, prefix: key.slice(0, Math.max(colon, 0)) }, name: key.slice(colon + 1) };
}
