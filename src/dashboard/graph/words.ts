import type { Node } from "../../gen/actuator/v3/integration_graph_pb.ts";
import { keyParts } from "../../integration-graph/node-id.ts";
import { rate } from "../components/number.ts";

/** The pattern of a node in words, such as `service activator`. */
export function patternWords({ integrationPatternType }: Pick<Node, "integrationPatternType">): string {
  return integrationPatternType.replaceAll("_", " ");
}

const SYSTEMS: Readonly<Record<string, string>> = {
  activemq: "ActiveMQ",
  amqp: "AMQP",
  aws_sqs: "SQS",
  azure_servicebus: "Service Bus",
  bullmq: "BullMQ",
  celery: "Celery",
  gcp_pubsub: "Pub/Sub",
  kafka: "Kafka",
  mqtt: "MQTT",
  nats: "NATS",
  node: "in process",
  pulsar: "Pulsar",
  rabbitmq: "RabbitMQ",
  redis: "Redis",
  spring: "Spring",
};

/** A messaging system as its makers write it. */
export function systemName(system: string): string {
  return SYSTEMS[system] ?? system;
}

/** Where a channel is: its broker's system, or `in process`. */
export function placeOf({ key }: Pick<Node, "key">): string {
  const { system } = keyParts(key);
  return system === undefined ? "in process" : systemName(system);
}

/** A rate a second: `31.4/s`, and `0/s` for none. */
export function perSecond(value: number): string {
  if (value > 0 && value < 0.05) return "< 0.1/s";
  return `${rate(value)}/s`;
}

/** A duration as short as it may be: `0.1 ms`, `33 ms`, `1.9 s`. */
export function took(ms: number): string {
  if (ms >= 999.5) return `${rate(ms / 1_000)} s`;
  return ms >= 9.95 ? `${Math.round(ms)} ms` : `${ms < 0.05 && ms > 0 ? "< 0.1" : rate(ms)} ms`;
}
