import { randomBytes } from "node:crypto";

/** A span in OTLP's JSON; numbers of 64 bits are texts there, enumerations numbers, ids hexadecimal. */
export interface JsonSpan {
  readonly traceId?: unknown;
  readonly spanId?: unknown;
  readonly parentSpanId?: unknown;
  readonly [field: string]: unknown;
}

export const KIND = { INTERNAL: 1, SERVER: 2, CLIENT: 3, PRODUCER: 4, CONSUMER: 5 } as const;

const hex = (bytes: number) => randomBytes(bytes).toString("hex");
/** The trace that spans are of unless they say otherwise. */
const traceId = hex(16);

/** A span with ids and times; these fields in the place of its own. */
export function span(fields: JsonSpan = {}): JsonSpan & { readonly spanId: string } {
  return {
    traceId,
    spanId: hex(8),
    name: "work",
    kind: KIND.INTERNAL,
    startTimeUnixNano: "1700000000000000000",
    endTimeUnixNano: "1700000000005000000",
    ...fields,
  } as JsonSpan & { readonly spanId: string };
}

/** Attributes as OTLP writes them. */
export function attributes(values: { readonly [key: string]: string | number | boolean }) {
  return Object.entries(values).map(([key, value]) => {
    if (typeof value === "string") return { key, value: { stringValue: value } };
    return { key, value: typeof value === "boolean" ? { boolValue: value } : { intValue: `${value}` } };
  });
}

/** A span of a message of Kafka. */
export function kafka(operation: "send" | "process" | "receive", topic: string, fields: JsonSpan = {}, more = {}) {
  const kind = { send: KIND.PRODUCER, process: KIND.CONSUMER, receive: KIND.CLIENT }[operation];
  const said = {
    "messaging.system": "kafka",
    "messaging.operation.type": operation,
    "messaging.destination.name": topic,
    "messaging.kafka.cluster.id": "main",
    ...more,
  };
  return span({ kind, name: `${operation} ${topic}`, attributes: attributes(said), ...fields });
}

/** A request with the spans of one service. */
export function request(
  spans: readonly unknown[],
  resource: { readonly [key: string]: string } = { "service.name": "shop" },
) {
  return {
    resourceSpans: [{ resource: { attributes: attributes(resource) }, scopeSpans: [{ scope: { name: "t" }, spans }] }],
  };
}
