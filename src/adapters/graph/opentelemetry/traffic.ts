import type { ChannelPattern } from "../../../integration-graph/pattern.ts";
import type { Span } from "./span.ts";

/** What happened to messages in a span. */
export type Operation = "send" | "receive" | "process";

/**
 * What a span says of messages, as raw as it says it. One is made of every such span, compared with those before by `===`,
 * and looked into only where none was the same.
 */
export interface Reading {
  readonly operation: Operation;
  readonly system: string;
  /** The most specific name of the destination. */
  readonly destination: string;
  /** What else distinguishes destinations; its meaning depends on the dialect. */
  readonly detail?: string | undefined;
  /** The consumer group or subscription, which distinguishes consumers of one destination. */
  readonly group?: string | undefined;
  /** The address of the broker, or what the span has of it. */
  readonly address?: string | undefined;
  readonly port?: unknown;
  /** The broker's own name. */
  readonly cluster?: string | undefined;
}

/** A destination of a broker. */
export interface Destination {
  /** As the keys of channels name it: "queue", "topic" … */
  readonly kind: string;
  readonly name: string;
  /** What stands before the name in its key, such as the virtual host. */
  readonly scope?: string | undefined;
}

/** What a reading means. */
export interface Traffic {
  readonly operation: Operation;
  /** As the keys of channels name it. */
  readonly system: string;
  readonly destination: Destination;
  /** The exchange that a message was published to, before it came to the queue. */
  readonly exchange?: Destination | undefined;
  /** What the destination may be instead: spans do not tell the two apart, but something else may know one of them. */
  readonly alternative?: Destination | undefined;
  /** Whether a send has another span of itself below it. */
  readonly repeated?: boolean | undefined;
  readonly group?: string | undefined;
  /** What distinguishes handlers otherwise, such as a worker's name. */
  readonly handler?: string | undefined;
  /** The handler's whole name, whatever its destination. */
  readonly task?: string | undefined;
  /** host:port; undefined if spans do not have it. */
  readonly address?: string | undefined;
  readonly cluster?: string | undefined;
}

/** How one instrumentation describes messages. */
export interface Dialect {
  /** The instrumentation scopes that use it. */
  readonly scopes: readonly string[];
  /** Reads a span; undefined if it has no messages, or repeats those of another span. */
  read(span: Span): Reading | undefined;
  /** The traffic of a reading. Called once for equal readings. */
  understand(reading: Reading): Traffic;
}

/** The attributes with the number of a span's messages. */
export const COUNT_ATTRIBUTES = ["messaging.batch.message_count", "bullmq.job.bulk.count"] as const;

/** More messages than that in one span are not believed. */
const MAX_COUNT = 1_000_000;

/** How many messages a span stands for. */
export function countOf({ attributes }: Span): number {
  const said = attributes[COUNT_ATTRIBUTES[0]] ?? attributes[COUNT_ATTRIBUTES[1]];
  if (said === undefined) return 1;
  const count = Number(said);
  return Number.isInteger(count) && count >= 0 && count <= MAX_COUNT ? count : 1;
}

/** What the graph has to know about a messaging system. */
interface System {
  /** The kind of its destinations if a span does not say. */
  readonly kind: string;
  /** The prefix of the component types of its nodes; by default the system's name. */
  readonly type?: string;
  /** The word for handlers of its messages; "consumer" by default. */
  readonly handler?: string;
  /** Whether applications poll for messages. */
  readonly polled?: true;
}

const SYSTEMS: { readonly [system: string]: System } = {
  activemq: { kind: "queue" },
  aws_sns: { kind: "topic", type: "sns" },
  aws_sqs: { kind: "queue", type: "sqs", polled: true },
  bullmq: { kind: "queue", handler: "worker" },
  celery: { kind: "queue", handler: "task" },
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

/** The kind of a system's destinations. */
export function defaultKind(system: string): string {
  return systemOf(system).kind;
}

/** The word for handlers of a system's messages. */
export function handlerWord(system: string): string {
  return systemOf(system).handler ?? "consumer";
}

/** Whether applications poll the system for messages, so that only receiving them can be seen. */
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
