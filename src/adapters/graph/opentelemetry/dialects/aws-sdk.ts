import { type Span, SpanKind, textOf } from "../span.ts";
import type { Dialect, Operation, Reading, Traffic } from "../traffic.ts";

/** A destination of SNS that is somebody's telephone. */
const PHONE_NUMBER = /^\+?\d+$/;

/** arn:aws:sns:eu-central-1:123456789012:orders */
const ARN = /^arn:[^:]*:(?:sns|sqs):([^:]*):([^:]*):(.+)$/;

/**
 * `@opentelemetry/instrumentation-aws-sdk`: queues of SQS and topics of SNS. Its newer versions have no span for the processing of
 * a message, and say how many were received; its older ones have, and do not. The broker is the region and, of a topic that is
 * named in full (ARN), the account.
 */
export const awsSdkDialect: Dialect = {
  scopes: ["@opentelemetry/instrumentation-aws-sdk"],

  read({ kind, attributes }: Span): Reading | undefined {
    const named = textOf(attributes["messaging.destination.name"]) ?? textOf(attributes["messaging.destination"]);
    const operation = operationOf(kind, attributes);
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

/** A poll that does not say how many messages it got may have got none. */
function operationOf(kind: number, attributes: Span["attributes"]): Operation | undefined {
  if (kind === SpanKind.PRODUCER) return "send";
  if (kind !== SpanKind.CONSUMER) return undefined;
  const said = attributes["messaging.operation.type"] ?? attributes["messaging.operation"];
  if (said === "process") return "process";
  return attributes["messaging.batch.message_count"] === undefined ? undefined : "receive";
}
