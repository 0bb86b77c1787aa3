import type { ChannelPattern } from "../../../integration-graph/pattern.ts";

/** What the graph has to know of a messaging system. */
interface System {
  /** What its destinations are, where spans do not say. */
  readonly kind: string;
  /** How the component types of its nodes begin; by default with the system's name. */
  readonly type?: string;
  /** What those who process its messages are called; by default consumers. */
  readonly handler?: string;
  /** Whether messages are taken out one by one, by whoever polls. */
  readonly polled?: true;
}

const SYSTEMS: { readonly [system: string]: System } = {
  activemq: { kind: "queue" },
  aws_sns: { kind: "topic", type: "sns" },
  aws_sqs: { kind: "queue", type: "sqs", polled: true },
  bullmq: { kind: "queue", handler: "worker" },
  eventhubs: { kind: "topic" },
  gcp_pubsub: { kind: "topic", type: "pubsub" },
  jms: { kind: "queue" },
  kafka: { kind: "topic" },
  mqtt: { kind: "topic" },
  nats: { kind: "subject" },
  pulsar: { kind: "topic" },
  rabbitmq: { kind: "queue", type: "amqp" },
  rocketmq: { kind: "topic" },
  servicebus: { kind: "queue" },
};

const OTHER: System = { kind: "destination" };

const PATTERNS: { readonly [kind: string]: ChannelPattern } = {
  exchange: "publish_subscribe_channel",
  topic: "publish_subscribe_channel",
  subject: "publish_subscribe_channel",
};

function systemOf(system: string): System {
  return Object.hasOwn(SYSTEMS, system) ? SYSTEMS[system]! : OTHER;
}

/** What the destinations of a system are. */
export function defaultKind(system: string): string {
  return systemOf(system).kind;
}

/** What those who process a system's messages are called. */
export function handlerWord(system: string): string {
  return systemOf(system).handler ?? "consumer";
}

/** Whether messages of the system are taken out one by one, so that receiving them is all that can be seen. */
export function isPolled(system: string): boolean {
  return systemOf(system).polled === true;
}

/** The pattern of a destination. */
export function patternOf(system: string, kind: string): ChannelPattern {
  if (kind === "queue" && isPolled(system)) return "pollable_channel";
  return (Object.hasOwn(PATTERNS, kind) ? PATTERNS[kind] : undefined) ?? "message_channel";
}

/** The component type of a node of the system, such as `amqp:queue`. */
export function componentTypeOf(system: string, what: string): string {
  const name = systemOf(system).type ?? system.replace(/[^a-z0-9]+/g, "-").replace(/^[-0-9]+|-+$/g, "");
  return `${name.slice(0, 50).replace(/-+$/, "") || "messaging"}:${what}`;
}
