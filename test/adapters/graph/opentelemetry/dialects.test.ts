import fc from "fast-check";
import { expect, test } from "vitest";
import { ATTRIBUTES, dialectOf } from "../../../../src/adapters/graph/opentelemetry/dialects.ts";
import { type Span, SpanKind } from "../../../../src/adapters/graph/opentelemetry/span.ts";
import {
  componentTypeOf,
  countOf,
  patternOf,
  type Traffic,
} from "../../../../src/adapters/graph/opentelemetry/traffic.ts";

function span(kind: number, attributes: Span["attributes"], scope = "any", name = "span"): Span {
  return { kind, attributes, name, status: { code: 0 }, events: [], instrumentationScope: { name: scope } };
}

/** What a span means, without what is undefined. */
function meaning(given: Span): Partial<Traffic> | undefined {
  const dialect = dialectOf(given.instrumentationScope.name);
  const reading = dialect.read(given);
  return reading && JSON.parse(JSON.stringify(dialect.understand(reading)));
}

const { PRODUCER, CONSUMER, CLIENT, INTERNAL } = SpanKind;
const AMQPLIB = "@opentelemetry/instrumentation-amqplib";
const AWS = "@opentelemetry/instrumentation-aws-sdk";

/** RabbitMQ in the current words. */
const rabbitmq = (type: string, name: string, key?: string) => ({
  "messaging.system": "rabbitmq",
  "messaging.operation.type": type,
  "messaging.destination.name": name,
  ...(key !== undefined && { "messaging.rabbitmq.destination.routing_key": key }),
});
const at = (kind: string, name: string, scope = "//") => ({ kind, name, scope });

test.each<readonly [string, Span, Partial<Traffic> | undefined]>([
  [
    "an exchange and a routing key",
    span(PRODUCER, rabbitmq("send", "orders:eu:new", "eu:new")),
    { operation: "send", system: "rabbitmq", destination: at("exchange", "orders") },
  ],
  [
    "an exchange alone",
    span(PRODUCER, rabbitmq("send", "orders", "new")),
    { operation: "send", system: "rabbitmq", destination: at("exchange", "orders") },
  ],
  [
    "the default exchange",
    span(PRODUCER, rabbitmq("send", "amq.default", "billing")),
    { operation: "send", system: "rabbitmq", destination: at("queue", "billing") },
  ],
  [
    "nothing but a routing key",
    span(PRODUCER, rabbitmq("send", "billing", "billing")),
    { operation: "send", system: "rabbitmq", destination: at("queue", "billing") },
  ],
  [
    "exchange, routing key and queue",
    span(CONSUMER, rabbitmq("process", "orders:eu:new:billing:x", "eu:new")),
    {
      operation: "process",
      system: "rabbitmq",
      destination: at("queue", "billing:x"),
      exchange: at("exchange", "orders"),
    },
  ],
  [
    "an exchange and a queue called like the routing key",
    span(CONSUMER, rabbitmq("process", "orders:billing", "billing")),
    {
      operation: "process",
      system: "rabbitmq",
      destination: at("queue", "billing"),
      exchange: at("exchange", "orders"),
    },
  ],
  [
    "a routing key and a queue",
    span(CONSUMER, rabbitmq("process", "new:billing", "new")),
    { operation: "process", system: "rabbitmq", destination: at("queue", "billing") },
  ],
  [
    "a queue alone",
    span(CONSUMER, rabbitmq("receive", "billing")),
    { operation: "receive", system: "rabbitmq", destination: at("queue", "billing") },
  ],
  [
    "amqplib with host and port in the place of a URL",
    span(PRODUCER, { "messaging.destination": "orders", "server.address": "localhost", "server.port": 5673 }, AMQPLIB),
    { operation: "send", system: "rabbitmq", destination: at("exchange", "orders", "//"), address: "127.0.0.1:5673" },
  ],
  [
    "amqplib with a virtual host, over TLS",
    span(
      CONSUMER,
      { "messaging.destination": "", "messaging.url": "amqps://me:***@Rabbit.example/a%2Fb" },
      AMQPLIB,
      "process process",
    ),
    {
      operation: "process",
      system: "rabbitmq",
      destination: at("queue", "process", "a/b/"),
      address: "Rabbit.example:5671",
    },
  ],
  [
    "a queue of SQS that a message is sent to",
    span(
      PRODUCER,
      {
        "messaging.system": "aws_sqs",
        "messaging.destination.name": "jobs",
        "rpc.method": "SendMessage",
        "aws.region": "eu-1",
      },
      AWS,
    ),
    { operation: "send", system: "aws_sqs", destination: { kind: "queue", name: "jobs" }, address: "eu-1" },
  ],
  [
    "a queue of SQS that is polled",
    span(
      CONSUMER,
      { "messaging.system": "aws_sqs", "messaging.destination.name": "jobs", "messaging.batch.message_count": 2 },
      AWS,
    ),
    { operation: "receive", system: "aws_sqs", destination: { kind: "queue", name: "jobs" } },
  ],
  [
    "a topic of SNS",
    span(
      PRODUCER,
      { "messaging.system": "aws.sns", "messaging.destination": "arn:aws:sns:eu-1:42:news", "rpc.method": "Publish" },
      AWS,
    ),
    { operation: "send", system: "aws_sns", destination: { kind: "topic", name: "news" }, address: "eu-1/42" },
  ],
  [
    "a broker that only the socket's address tells",
    span(PRODUCER, {
      ...rabbitmq("send", "amq.default", "billing"),
      "network.peer.address": "127.0.0.1",
      "network.peer.port": 5672,
    }),
    { operation: "send", system: "rabbitmq", destination: at("queue", "billing"), address: "127.0.0.1:5672" },
  ],
  [
    "a publish of pika, which is to a queue or an exchange",
    span(PRODUCER, { "messaging.destination": "mails" }, "opentelemetry.instrumentation.pika.pika_instrumentor"),
    {
      operation: "send",
      system: "rabbitmq",
      destination: at("queue", "mails"),
      alternative: at("exchange", "mails"),
      repeated: true,
    },
  ],
  [
    "a task of Celery",
    span(
      CONSUMER,
      { "messaging.destination": "cel", "celery.action": "run", "celery.task_name": "tasks.mail" },
      "opentelemetry.instrumentation.celery",
    ),
    { operation: "process", system: "celery", destination: { kind: "queue", name: "cel" }, task: "tasks.mail" },
  ],
  [
    "a poll of SQS that does not say whether it got anything",
    span(CONSUMER, { "messaging.system": "aws.sqs", "messaging.destination": "jobs" }, AWS),
    undefined,
  ],
  [
    "a message of SQS that is processed",
    span(
      CONSUMER,
      { "messaging.system": "aws.sqs", "messaging.destination": "jobs", "messaging.operation": "process" },
      AWS,
    ),
    { operation: "process", system: "aws_sqs", destination: { kind: "queue", name: "jobs" } },
  ],
  [
    "a text message to somebody's telephone",
    span(PRODUCER, { "messaging.system": "aws.sns", "messaging.destination.name": "+491701234567" }, AWS),
    { operation: "send", system: "aws_sns", destination: { kind: "topic", name: "(phone number)" } },
  ],
  ["a client of AWS that has nothing to do with messages", span(CLIENT, { "rpc.method": "GetItem" }, AWS), undefined],
  [
    "older words",
    span(CONSUMER, {
      "messaging.system": "ActiveMQ",
      "messaging.destination": "orders",
      "messaging.destination_kind": "topic",
      "messaging.operation": "process",
      "net.peer.name": "mq",
      "net.peer.port": "61616",
      "messaging.consumer_group": "billing",
    }),
    {
      operation: "process",
      system: "activemq",
      destination: { kind: "topic", name: "orders" },
      address: "mq:61616",
      group: "billing",
    },
  ],
  [
    "an operation that only the kind tells",
    span(PRODUCER, { "messaging.system": "nats", "messaging.destination.name": "a.b" }),
    { operation: "send", system: "nats", destination: { kind: "subject", name: "a.b" } },
  ],
  ["a span that settles", span(CLIENT, rabbitmq("settle", "billing")), undefined],
  ["a span that creates what another one sends", span(PRODUCER, rabbitmq("create", "billing")), undefined],
  ["a client without an operation", span(CLIENT, { "messaging.system": "kafka" }), undefined],
  ["a span of something else", span(INTERNAL, { "db.system": "redis" }), undefined],
  [
    "a flow of BullMQ, which its nodes tell of",
    span(PRODUCER, { "bullmq.queue.name": "a", "bullmq.queue.operation": "addFlow" }, "bullmq"),
    undefined,
  ],
])("%s", (_, given, expected) => {
  expect(meaning(given)).toEqual(expected);
});

test("queues that are polled are pollable, and component types are words", () => {
  expect(patternOf("aws_sqs", "queue")).toBe("pollable_channel");
  expect(patternOf("constructor", "__proto__")).toBe("message_channel");
  expect(componentTypeOf("aws_sqs", "queue")).toBe("sqs:queue");
  expect(componentTypeOf("a_b.c-", "queue")).toBe("a-b-c:queue");
  expect(componentTypeOf("_1_", "queue")).toBe("messaging:queue");
});

test.each([
  [3, 3],
  ["3", 3],
  [0, 0],
  [-1, 1],
  [1.5, 1],
  [1e12, 1],
  ["many", 1],
  [true, 1],
])("a batch of %j counts as %i", (said, count) => {
  expect(countOf(span(PRODUCER, { "messaging.batch.message_count": said }))).toBe(count);
});

test("whatever attributes hold, reading them does no harm", () => {
  const value = fc.oneof(
    fc.string(),
    fc.string({ unit: "binary" }),
    fc.integer(),
    fc.boolean(),
    fc.constant([1]),
    fc.double(),
  );
  const operation = fc.constantFrom("send", "process", "receive", "publish", "add", "constructor", "__proto__");
  const names = [...ATTRIBUTES];
  fc.assert(
    fc.property(
      fc.constantFrom(AMQPLIB, AWS, "@opentelemetry/instrumentation-kafkajs", "bullmq", "any"),
      fc.constantFrom(PRODUCER, CONSUMER, CLIENT),
      fc.dictionary(fc.constantFrom(...names), value),
      operation,
      fc.string(),
      (scope, kind, attributes, said, name) => {
        const all = {
          ...attributes,
          "messaging.operation.type": said,
          "messaging.system": attributes["messaging.system"] ?? "rabbitmq",
        };
        const traffic = meaning(span(kind, all, scope, name));
        expect([undefined, "send", "process", "receive"]).toContain(traffic?.operation);
        if (traffic !== undefined)
          expect(componentTypeOf(traffic.system!, traffic.destination!.kind)).toMatch(
            /^[a-z][a-z0-9]*(?:[-:.][a-z0-9]+)*$/,
          );
      },
    ),
    { numRuns: 2_000 },
  );
});
