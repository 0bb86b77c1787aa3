import { field, hasMethods } from "../../kit/interception/field.ts";

// biome-ignore lint/suspicious/noExplicitAny: the methods of all versions of the library.
type Method = (...args: any[]) => any;

/** A queue of BullMQ. */
export interface BullmqQueue {
  readonly name: string;
  readonly add: Method;
  readonly addBulk: Method;
  readonly close: Method;
}

/** A worker of BullMQ. */
export interface BullmqWorker {
  readonly name: string;
  readonly getNextJob: Method;
  readonly close: Method;
}

/** A flow producer of BullMQ. */
export interface BullmqFlowProducer {
  readonly add: Method;
  readonly addBulk: Method;
  readonly getFlow: Method;
  readonly close: Method;
}

/** The events of a queue of BullMQ. */
export interface BullmqQueueEvents {
  readonly name: string;
  readonly run: Method;
  readonly emit: Method;
  readonly close: Method;
}

/** What {@link bullmqSource} watches. */
export type BullmqTarget = BullmqQueue | BullmqWorker | BullmqFlowProducer | BullmqQueueEvents;

export type TargetKind = "queue" | "worker" | "flow producer" | "queue events";

/** What a value is; undefined if it is not an object of BullMQ. */
export function kindOf(value: unknown): TargetKind | undefined {
  if (!hasMethods(value, "close", "emit", "waitUntilReady") && !hasMethods(value, "close", "getFlow")) return undefined;
  if (hasMethods(value, "getFlow", "add", "addBulk")) return "flow producer";
  if (typeof field(value, "name") !== "string") return undefined;
  if (hasMethods(value, "getNextJob", "run")) return "worker";
  if (hasMethods(value, "add", "addBulk")) return "queue";
  return hasMethods(value, "run") ? "queue events" : undefined;
}
