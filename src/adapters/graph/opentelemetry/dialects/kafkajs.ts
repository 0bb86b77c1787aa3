import { type Span, textOf } from "../span.ts";
import type { Dialect, Operation, Reading, Traffic } from "../traffic.ts";

const OPERATIONS: ReadonlyMap<unknown, Operation> = new Map([
  ["send", "send"],
  ["receive", "receive"],
  ["process", "process"],
]);

/**
 * `@opentelemetry/instrumentation-kafkajs`, in the current words. It does not say where the broker is, and what the cluster calls
 * itself only once it has heard; the group of a consumer it does not say at all, but the application may, on the active span.
 */
export const kafkajsDialect: Dialect = {
  scopes: ["@opentelemetry/instrumentation-kafkajs"],

  read({ attributes }: Span): Reading | undefined {
    const operation = OPERATIONS.get(attributes["messaging.operation.type"]);
    const destination = attributes["messaging.destination.name"];
    if (operation === undefined || typeof destination !== "string") return undefined;
    return {
      operation,
      system: "kafka",
      destination,
      group: operation === "send" ? undefined : textOf(attributes["messaging.consumer.group.name"]),
      cluster: textOf(attributes["messaging.kafka.cluster.id"]),
    };
  },

  understand({ operation, system, destination, group, cluster }: Reading): Traffic {
    return { operation, system, destination: { kind: "topic", name: destination }, group, cluster };
  },
};
