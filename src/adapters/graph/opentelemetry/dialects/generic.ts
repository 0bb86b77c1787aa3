import { brokerAddress } from "../address.ts";
import { type Span, SpanKind, textOf } from "../span.ts";
import { defaultKind } from "../systems.ts";
import type { Dialect, Operation, Reading, Traffic } from "../traffic.ts";
import { rabbitmqDestination } from "./rabbitmq-destination.ts";

/** `create` is followed by a `send` that counts; `settle` by nothing, after a message that was counted when it came. */
const OPERATIONS: ReadonlyMap<unknown, Operation> = new Map([
  ["send", "send"],
  ["publish", "send"],
  ["receive", "receive"],
  ["poll", "receive"],
  ["process", "process"],
  ["deliver", "process"],
]);

/** Where conventions have called an attribute differently, the current name first. */
const NAMES = {
  operation: ["messaging.operation.type", "messaging.operation"],
  name: ["messaging.destination.name", "messaging.destination"],
  routingKey: ["messaging.rabbitmq.destination.routing_key", "messaging.rabbitmq.routing_key"],
  group: [
    "messaging.consumer.group.name",
    "messaging.destination.subscription.name",
    "messaging.kafka.consumer.group",
    "messaging.consumer_group",
  ],
  cluster: ["messaging.kafka.cluster.id"],
  host: ["server.address", "net.peer.name"],
  port: ["server.port", "net.peer.port"],
} as const;

/** The attributes that this dialect reads. */
export const GENERIC_ATTRIBUTES: readonly string[] = [
  ...Object.values(NAMES).flat(),
  "messaging.system",
  "messaging.destination.template",
  "messaging.destination.temporary",
  "messaging.destination.anonymous",
  "messaging.destination_kind",
];

/**
 * The semantic conventions of messaging as they are since 1.30, with the names of older ones, for all instrumentations without a
 * dialect of their own. A template stands for all destinations that were made of it, and temporary and anonymous ones are one.
 */
export const genericDialect: Dialect = {
  scopes: [],

  read({ kind, attributes }: Span): Reading | undefined {
    const system = textOf(attributes["messaging.system"]);
    if (system === undefined) return undefined;
    const said = first(attributes, NAMES.operation);
    const operation = said === undefined ? operationOf(kind) : OPERATIONS.get(said);
    if (operation === undefined) return undefined;
    const key = system === "rabbitmq" ? first(attributes, NAMES.routingKey) : undefined;
    return {
      operation,
      system,
      destination: destinationOf(attributes) ?? (key === undefined ? "" : DEFAULT_EXCHANGE),
      detail: key ?? textOf(attributes["messaging.destination_kind"]),
      group: operation === "send" ? undefined : first(attributes, NAMES.group),
      cluster: first(attributes, NAMES.cluster),
      address: first(attributes, NAMES.host),
      port: attributes["server.port"] ?? attributes["net.peer.port"],
    };
  },

  understand(reading: Reading): Traffic {
    const { operation, destination, detail, group, address, port, cluster } = reading;
    const said = reading.system.toLowerCase();
    const system = SYSTEM.test(said) ? said : "unknown";
    const place = { operation, system, group, cluster, address: brokerAddress(address, port) };
    if (system === "rabbitmq") return { ...place, ...rabbitmqDestination(operation, destination, detail) };
    const usual = defaultKind(system);
    const kind = detail !== undefined && usual !== "topic" && EITHER.has(usual) && EITHER.has(detail) ? detail : usual;
    return { ...place, destination: { kind, name: destination } };
  },
};

const DEFAULT_EXCHANGE = "amq.default";

/** What systems are called; anything else is no name of one. */
const SYSTEM = /^[a-z][a-z0-9_.-]{0,49}$/;

/** What a destination may be where that is the system's usual one, as older conventions told it apart. */
const EITHER: ReadonlySet<string> = new Set(["queue", "topic", "destination"]);

function operationOf(kind: number): Operation | undefined {
  if (kind === SpanKind.PRODUCER) return "send";
  return kind === SpanKind.CONSUMER ? "process" : undefined;
}

function destinationOf(attributes: Span["attributes"]): string | undefined {
  if (attributes["messaging.destination.temporary"] === true) return "(temporary)";
  if (attributes["messaging.destination.anonymous"] === true) return "(anonymous)";
  return textOf(attributes["messaging.destination.template"]) ?? first(attributes, NAMES.name);
}

function first(attributes: Span["attributes"], names: readonly string[]): string | undefined {
  for (const name of names) {
    const value = attributes[name];
    if (typeof value === "string" && value !== "") return value;
  }
  return undefined;
}
