import { type Span, SpanKind, textOf } from "./span.ts";
import {
  COUNT_ATTRIBUTES,
  type Destination,
  type Dialect,
  defaultKind,
  type Operation,
  type Reading,
  type Traffic,
} from "./traffic.ts";

/** The address of a broker as the libraries' adapters name it. They know the socket's: for "localhost" it is 127.0.0.1. */
function brokerAddress(host: string | undefined, port: unknown): string | undefined {
  if (host === undefined) return undefined;
  const plain = host === "localhost" ? "127.0.0.1" : host.includes(":") && !host.startsWith("[") ? `[${host}]` : host;
  const number = Number(port);
  return Number.isInteger(number) && number > 0 ? `${plain}:${number}` : plain;
}

/** The names that instrumentations use for the exchange without a name. */
const DEFAULT_EXCHANGES = new Set(["", "amq.default", "<default>", "(default)"]);

/**
 * The conventions join exchange, routing key and queue with colons, `orders:eu.new:billing`, leave out what is empty or said
 * already, and allow colons in each of the three. So the routing key, which has an attribute of its own, is cut out; of a send
 * the exchange remains, of a delivery exchange and queue.
 */
function rabbitmqDestination(
  operation: Operation,
  name: string,
  key: string | undefined,
): Pick<Traffic, "destination" | "exchange"> {
  if (operation === "send") {
    const exchange = key === undefined ? name : withoutEnd(name, key);
    return { destination: DEFAULT_EXCHANGES.has(exchange) ? queue(key ?? "") : at("exchange", exchange) };
  }
  const [exchange, queueName] = delivered(name, key);
  return {
    destination: queue(queueName),
    exchange: DEFAULT_EXCHANGES.has(exchange) ? undefined : at("exchange", exchange),
  };
}

/** The exchange and the queue in a name. A name with only one part is a queue's. */
function delivered(name: string, key: string | undefined): readonly [string, string] {
  if (key === undefined || name === key) return ["", name];
  const middle = name.indexOf(`:${key}:`);
  if (middle >= 0) return [name.slice(0, middle), name.slice(middle + key.length + 2)];
  if (name.startsWith(`${key}:`)) return ["", name.slice(key.length + 1)];
  // A queue with the name of the routing key is not written twice.
  if (name.endsWith(`:${key}`)) return [name.slice(0, -key.length - 1), key];
  return DEFAULT_EXCHANGES.has(name) ? ["", key] : ["", name];
}

function withoutEnd(name: string, key: string): string {
  if (name === key) return "";
  return name.endsWith(`:${key}`) ? name.slice(0, -key.length - 1) : name;
}

function queue(name: string): Destination {
  return at("queue", name);
}

/** Spans do not name the virtual host. */
function at(kind: string, name: string): Destination {
  return { kind, name, scope: "//" };
}

/** `create` is followed by a `send` that counts; `settle` by nothing, after a message that was counted when it came. */
const OPERATIONS: ReadonlyMap<unknown, Operation> = new Map([
  ["send", "send"],
  ["publish", "send"],
  ["receive", "receive"],
  ["poll", "receive"],
  ["process", "process"],
  ["deliver", "process"],
]);

/** The names of an attribute in all versions of the conventions, the current one first. */
const NAMES = {
  operation: ["messaging.operation.type", "messaging.operation"],
  name: ["messaging.destination.name", "messaging.destination", "messaging.source.name"],
  routingKey: ["messaging.rabbitmq.destination.routing_key", "messaging.rabbitmq.routing_key"],
  group: [
    "messaging.consumer.group.name",
    "messaging.destination.subscription.name",
    "messaging.kafka.consumer.group",
    "messaging.consumer_group",
  ],
  cluster: ["messaging.kafka.cluster.id"],
  host: ["server.address", "net.peer.name", "network.peer.address"],
  port: ["server.port", "net.peer.port", "network.peer.port"],
} as const;

/** The attributes that this dialect reads. */
const GENERIC_ATTRIBUTES: readonly string[] = [
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
const genericDialect: Dialect = {
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
      port: attributes["server.port"] ?? attributes["net.peer.port"] ?? attributes["network.peer.port"],
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

/** The form of a system's name. */
const SYSTEM = /^[a-z][a-z0-9_.-]{0,49}$/;

/** Kinds that older conventions distinguish, if the system's usual kind is one of them. */
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

const PROCESS = / process$/;

/**
 * `@opentelemetry/instrumentation-amqplib`, in the words of semantic conventions 1.7: the destination is the exchange, and the
 * queue of a consumer is in the name of its span alone, `<queue> process`. A message for the default exchange is for the queue
 * that its routing key names.
 */
const amqplibDialect: Dialect = {
  scopes: ["@opentelemetry/instrumentation-amqplib"],

  read({ name, kind, attributes }: Span): Reading | undefined {
    const exchange = attributes["messaging.destination"];
    if (typeof exchange !== "string") return undefined;
    const url = attributes["messaging.url"];
    const place = {
      address: textOf(url) ?? textOf(attributes["server.address"]),
      port: url === undefined ? attributes["server.port"] : undefined,
    };
    if (kind === SpanKind.CONSUMER) {
      return { operation: "process", system: "rabbitmq", destination: name, detail: exchange, ...place };
    }
    if (kind !== SpanKind.PRODUCER) return undefined;
    const queue = exchange === "" ? (textOf(attributes["messaging.rabbitmq.routing_key"]) ?? "") : undefined;
    return { operation: "send", system: "rabbitmq", destination: exchange, detail: queue, ...place };
  },

  understand({ operation, system, destination, detail, address, port }: Reading): Traffic {
    const place = placeOf(address, port);
    const at = (kind: string, name: string): Destination => ({ kind, name, scope: `${place.vhost}/` });
    if (operation === "process") {
      const exchange = detail === "" || detail === undefined ? undefined : at("exchange", detail);
      const queue = at("queue", destination.replace(PROCESS, ""));
      return { operation, system, destination: queue, exchange, address: place.address };
    }
    const target = detail === undefined ? at("exchange", destination) : at("queue", detail);
    return { operation, system, destination: target, address: place.address };
  },
};

/** The connection as the instrumentation describes it: its URL with the password masked, or host and port. */
function placeOf(address: string | undefined, port: unknown): { address: string | undefined; vhost: string } {
  if (!address?.includes("://")) return { address: brokerAddress(address, port ?? 5672), vhost: "/" };
  try {
    const url = new URL(address);
    const plain = url.protocol === "amqps:" ? 5671 : 5672;
    const vhost = decodeURIComponent(url.pathname.slice(1)) || "/";
    return { address: brokerAddress(url.hostname || "localhost", url.port || plain), vhost };
  } catch {
    return { address: undefined, vhost: "/" };
  }
}

const OPERATION_TYPES: ReadonlyMap<unknown, Operation> = new Map([
  ["send", "send"],
  ["receive", "receive"],
  ["process", "process"],
]);

/**
 * `@opentelemetry/instrumentation-kafkajs`, in the current words. It does not say where the broker is, and what the cluster calls
 * itself only once it has heard; the group of a consumer it does not say at all, but the application may, on the active span.
 */
const kafkajsDialect: Dialect = {
  scopes: ["@opentelemetry/instrumentation-kafkajs"],

  read({ attributes }: Span): Reading | undefined {
    const operation = OPERATION_TYPES.get(attributes["messaging.operation.type"]);
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

/** `addFlow` and `addBulkFlows` contain an `addNode` for each job, which is counted instead. */
const BULLMQ_OPERATIONS: ReadonlyMap<unknown, Operation> = new Map([
  ["add", "send"],
  ["addBulk", "send"],
  ["addNode", "send"],
  ["process", "process"],
]);

/** The default prefix of BullMQ's keys in Redis; spans do not show another one. */
const PREFIX = "bull:";

/** BullMQ's own telemetry, `bullmq-otel`: names of its own, without the Redis behind the queue. */
const bullmqDialect: Dialect = {
  scopes: ["bullmq"],

  read({ attributes }: Span): Reading | undefined {
    const operation = BULLMQ_OPERATIONS.get(attributes["bullmq.queue.operation"]);
    const queue = textOf(attributes["bullmq.queue.name"]);
    if (operation === undefined || queue === undefined) return undefined;
    const worker = operation === "process" ? textOf(attributes["bullmq.worker.name"]) : undefined;
    return { operation, system: "bullmq", destination: queue, group: worker };
  },

  understand({ operation, system, destination, group }: Reading): Traffic {
    return { operation, system, destination: { kind: "queue", name: destination, scope: PREFIX }, handler: group };
  },
};

/**
 * pika's instrumentation for Python. The destination is the exchange, or for the default exchange the queue that the routing key
 * names. Spans do not say which: a name that messages are delivered from is taken for an exchange, any other one for a queue, unless
 * it is known better from elsewhere. Each publish has two spans.
 */
const pikaDialect: Dialect = {
  scopes: ["opentelemetry.instrumentation.pika.pika_instrumentor", "opentelemetry.instrumentation.pika"],

  read({ kind, attributes }: Span): Reading | undefined {
    const destination = textOf(attributes["messaging.destination"]);
    if (destination === undefined || (kind !== SpanKind.PRODUCER && kind !== SpanKind.CONSUMER)) return undefined;
    return {
      operation: kind === SpanKind.PRODUCER ? "send" : "process",
      system: "rabbitmq",
      destination,
      address: textOf(attributes["net.peer.name"]),
      port: attributes["net.peer.port"],
    };
  },

  understand({ operation, system, destination, address, port }: Reading): Traffic {
    const kinds = [queue(destination), at("exchange", destination)] as const;
    const [likely, alternative] = operation === "send" ? kinds : kinds.toReversed();
    const place = { operation, system, address: brokerAddress(address, port) };
    return { ...place, destination: likely!, alternative, repeated: operation === "send" };
  },
};

/** Celery's instrumentation for Python: a task is sent to a queue and run from it. Spans name neither the system nor the broker. */
const celeryDialect: Dialect = {
  scopes: ["opentelemetry.instrumentation.celery"],

  read({ attributes }: Span): Reading | undefined {
    const destination = textOf(attributes["messaging.destination"]);
    const operation = CELERY_OPERATIONS.get(attributes["celery.action"]);
    if (destination === undefined || operation === undefined) return undefined;
    const task = operation === "process" ? textOf(attributes["celery.task_name"]) : undefined;
    return { operation, system: "celery", destination, detail: task };
  },

  understand({ operation, system, destination, detail }: Reading): Traffic {
    return { operation, system, destination: { kind: "queue", name: destination }, task: detail };
  },
};

const CELERY_OPERATIONS: ReadonlyMap<unknown, Operation> = new Map([
  ["apply_async", "send"],
  ["run", "process"],
]);

/** A destination of SNS that is a telephone number. */
const PHONE_NUMBER = /^\+?\d+$/;

/** arn:aws:sns:eu-central-1:123456789012:orders */
const ARN = /^arn:[^:]*:(?:sns|sqs):([^:]*):([^:]*):(.+)$/;

/**
 * `@opentelemetry/instrumentation-aws-sdk`: queues of SQS and topics of SNS. Its newer versions have no span for the processing of
 * a message, and say how many were received; its older ones have, and do not. The broker is the region and, of a topic that is
 * named in full (ARN), the account.
 */
const awsSdkDialect: Dialect = {
  scopes: ["@opentelemetry/instrumentation-aws-sdk"],

  read({ kind, attributes }: Span): Reading | undefined {
    const named = textOf(attributes["messaging.destination.name"]) ?? textOf(attributes["messaging.destination"]);
    const operation = awsOperationOf(kind, attributes);
    if (named === undefined || operation === undefined) return undefined;
    const address = textOf(attributes["cloud.region"]) ?? textOf(attributes["aws.region"]);
    return { operation, system: textOf(attributes["messaging.system"]) ?? "aws_sqs", destination: named, address };
  },

  understand({ operation, system: said, destination, address }: Reading): Traffic {
    const topic = /sns$/i.test(said);
    const [, region, account, name] = ARN.exec(destination) ?? [];
    const shown = name ?? (topic && PHONE_NUMBER.test(destination) ? "(phone number)" : destination);
    return {
      operation,
      system: topic ? "aws_sns" : "aws_sqs",
      destination: { kind: topic ? "topic" : "queue", name: shown },
      address: region === undefined ? address : [region, account].filter(Boolean).join("/"),
    };
  },
};

/** A poll without a number of messages may have received none. */
function awsOperationOf(kind: number, attributes: Span["attributes"]): Operation | undefined {
  if (kind === SpanKind.PRODUCER) return "send";
  if (kind !== SpanKind.CONSUMER) return undefined;
  const said = attributes["messaging.operation.type"] ?? attributes["messaging.operation"];
  if (said === "process") return "process";
  return attributes["messaging.batch.message_count"] === undefined ? undefined : "receive";
}

/** Every dialect; the last one reads what no other does. */
const DIALECTS: readonly Dialect[] = [
  amqplibDialect,
  kafkajsDialect,
  bullmqDialect,
  pikaDialect,
  celeryDialect,
  awsSdkDialect,
  {
    ...genericDialect,
    // The application chooses the name of the scope that BullMQ's spans have.
    read: (span: Span): Reading | undefined => genericDialect.read(span) ?? bullmqDialect.read(span),
    understand: (reading) => (reading.system === "bullmq" ? bullmqDialect : genericDialect).understand(reading),
  },
];

const byScope = new Map(DIALECTS.flatMap((dialect) => dialect.scopes.map((scope) => [scope, dialect] as const)));

/** The dialect of an instrumentation scope. */
export function dialectOf(scope: string): Dialect {
  return byScope.get(scope) ?? DIALECTS.at(-1)!;
}

/** The attributes that any dialect reads; others need not be kept. */
export const ATTRIBUTES: ReadonlySet<string> = new Set([
  ...GENERIC_ATTRIBUTES,
  ...COUNT_ATTRIBUTES,
  ...["messaging.url", "bullmq.queue.name", "bullmq.queue.operation", "bullmq.worker.name"],
  ...["cloud.region", "aws.region", "error.type", "celery.action", "celery.task_name"],
  ...["http.request.method", "http.method", "http.route"],
]);
