import { type Span, textOf } from "../span.ts";
import type { Dialect, Operation, Reading, Traffic } from "../traffic.ts";

/** `addFlow` and `addBulkFlows` stand around an `addNode` for each job, which is what counts. */
const OPERATIONS: ReadonlyMap<unknown, Operation> = new Map([
  ["add", "send"],
  ["addBulk", "send"],
  ["addNode", "send"],
  ["process", "process"],
]);

/** The prefix of BullMQ's keys in Redis, unless an application has its own; spans do not tell. */
const PREFIX = "bull:";

/** BullMQ's own telemetry, `bullmq-otel`: names of its own, without the Redis behind the queue. */
export const bullmqDialect: Dialect = {
  scopes: ["bullmq"],

  read({ attributes }: Span): Reading | undefined {
    const operation = OPERATIONS.get(attributes["bullmq.queue.operation"]);
    const queue = textOf(attributes["bullmq.queue.name"]);
    if (operation === undefined || queue === undefined) return undefined;
    const worker = operation === "process" ? textOf(attributes["bullmq.worker.name"]) : undefined;
    return { operation, system: "bullmq", destination: queue, group: worker };
  },

  understand({ operation, system, destination, group }: Reading): Traffic {
    return { operation, system, destination: { kind: "queue", name: destination, scope: PREFIX }, handler: group };
  },
};
