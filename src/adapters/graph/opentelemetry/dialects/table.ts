import type { Span } from "../span.ts";
import { COUNT_ATTRIBUTES, type Dialect, type Reading } from "../traffic.ts";
import { amqplibDialect } from "./amqplib.ts";
import { awsSdkDialect } from "./aws-sdk.ts";
import { bullmqDialect } from "./bullmq.ts";
import { GENERIC_ATTRIBUTES, genericDialect } from "./generic.ts";
import { kafkajsDialect } from "./kafkajs.ts";

/** Every dialect; the last takes what no other does. */
const DIALECTS: readonly Dialect[] = [
  amqplibDialect,
  kafkajsDialect,
  bullmqDialect,
  awsSdkDialect,
  {
    ...genericDialect,
    // The application chooses the name of the scope that BullMQ's spans have.
    read: (span: Span): Reading | undefined => genericDialect.read(span) ?? bullmqDialect.read(span),
    understand: (reading) => (reading.system === "bullmq" ? bullmqDialect : genericDialect).understand(reading),
  },
];

const byScope = new Map(DIALECTS.flatMap((dialect) => dialect.scopes.map((scope) => [scope, dialect] as const)));

/** The dialect that an instrumentation scope speaks. */
export function dialectOf(scope: string): Dialect {
  return byScope.get(scope) ?? DIALECTS.at(-1)!;
}

/** The attributes that any dialect reads; no others are worth keeping. */
export const ATTRIBUTES: ReadonlySet<string> = new Set([
  ...GENERIC_ATTRIBUTES,
  ...COUNT_ATTRIBUTES,
  ...["messaging.url", "bullmq.queue.name", "bullmq.queue.operation", "bullmq.worker.name"],
  ...["cloud.region", "aws.region", "error.type"],
  ...["http.request.method", "http.method", "http.route"],
]);
