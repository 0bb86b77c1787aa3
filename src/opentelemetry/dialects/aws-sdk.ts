import { type Span, SpanKind, textOf } from "../span.ts";
import type { Dialect, Operation, Reading, Traffic } from "../traffic.ts";

const OPERATIONS: ReadonlyMap<unknown, Operation> = new Map([
  ["SendMessage", "send"],
  ["SendMessageBatch", "send"],
  ["Publish", "send"],
  ["PublishBatch", "send"],
  ["ReceiveMessage", "receive"],
]);

/**
 * `@opentelemetry/instrumentation-aws-sdk`: queues of SQS and topics of SNS. No span tells when a message is processed. The broker
 * is the region, or the whole name of a topic (ARN), which holds the account as well.
 */
export const awsSdkDialect: Dialect = {
  scopes: ["@opentelemetry/instrumentation-aws-sdk"],

  read({ kind, attributes }: Span): Reading | undefined {
    const named = textOf(attributes["messaging.destination.name"]) ?? textOf(attributes["messaging.destination"]);
    if (named === undefined || (kind !== SpanKind.PRODUCER && kind !== SpanKind.CONSUMER)) return undefined;
    const method = textOf(attributes["rpc.method"])?.replace(/^.*\//, "");
    const operation = OPERATIONS.get(method) ?? (kind === SpanKind.PRODUCER ? "send" : "receive");
    const said = textOf(attributes["messaging.system"]) ?? "aws_sqs";
    const address = textOf(attributes["cloud.region"]) ?? textOf(attributes["aws.region"]);
    return { operation, system: said, destination: named, address };
  },

  understand({ operation, system: said, destination, address }: Reading): Traffic {
    const topic = /sns$/i.test(said);
    // arn:aws:sns:eu-central-1:123456789012:orders
    const [, region, account, name] = /^arn:[^:]*:(?:sns|sqs):([^:]*):([^:]*):(.+)$/.exec(destination) ?? [];
    return {
      operation,
      system: topic ? "aws_sns" : "aws_sqs",
      destination: { kind: topic ? "topic" : "queue", name: name ?? destination },
      address: region === undefined ? address : [region, account].filter(Boolean).join("/"),
    };
  },
};
