import { isRecord } from "../../../common/record.ts";
import type { DocumentChannel, JsonObject } from "./document.ts";

/** The destination of a broker that a channel stands for. */
export interface Destination {
  readonly system: string;
  readonly kind: string;
  /** As in the key of the channel. */
  readonly name: string;
  /** Whether every receiver receives each message. */
  readonly shared: boolean;
}

type Reading = (channel: DocumentChannel, protocol: string) => Destination;

/** The destinations of each protocol. Their names are those of the adapters, so that both show one node. */
const READINGS: Readonly<Record<string, Reading>> = {
  amqp: rabbit,
  amqps: rabbit,
  kafka: topic("kafka"),
  "kafka-secure": topic("kafka"),
  mqtt: topic("mqtt"),
  mqtts: topic("mqtt"),
  mqtt5: topic("mqtt"),
  "secure-mqtt": topic("mqtt"),
  nats: simple("nats", "subject"),
  redis: simple("redis", "channel"),
  rediss: simple("redis", "channel"),
  bullmq: ({ address }) => ({ system: "bullmq", kind: "queue", name: address, shared: false }),
};

/** The destination of a channel on a server of this protocol. */
export function destinationOf(channel: DocumentChannel, protocol: string): Destination {
  const reading = Object.hasOwn(READINGS, protocol) ? READINGS[protocol] : undefined;
  return (reading ?? simple(protocol.toLowerCase().replace(/[^a-z0-9-]+/g, "-") || "unknown", "channel"))(
    channel,
    protocol,
  );
}

function simple(system: string, kind: string): Reading {
  return ({ address }) => ({ system, kind, name: address, shared: true });
}

/** The binding may name a topic other than the address. */
function topic(system: string): Reading {
  return ({ address, bindings }) => {
    const named = system === "kafka" ? text(member(bindings, "kafka"), "topic") : undefined;
    return { system, kind: "topic", name: named ?? address, shared: true };
  };
}

function rabbit({ address, bindings }: DocumentChannel): Destination {
  const amqp = member(bindings, "amqp");
  const isQueue = amqp.is === "queue";
  const target = member(amqp, isQueue ? "queue" : "exchange");
  const name = text(target, "name") ?? address;
  const vhost = text(target, "vhost") ?? "/";
  return { system: "rabbitmq", kind: isQueue ? "queue" : "exchange", name: `${vhost}/${name}`, shared: !isQueue };
}

function member(object: JsonObject, name: string): JsonObject {
  const value = object[name];
  return isRecord(value) ? value : {};
}

function text(object: JsonObject, name: string): string | undefined {
  const value = object[name];
  return typeof value === "string" && value !== "" ? value : undefined;
}
