/**
 * OTLP's JSON as the JSON of protobuf, which differs in one thing that matters here: ids are hexadecimal, not base64. What is
 * shaped otherwise stays as it is, for the reader of the latter to refuse. The value itself is changed.
 *
 * @see https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding
 */
export function protobufJson(request: unknown): unknown {
  for (const resourceSpans of list(field(request, "resourceSpans"))) {
    for (const scopeSpans of list(field(resourceSpans, "scopeSpans"))) {
      for (const span of list(field(scopeSpans, "spans"))) {
        for (const id of IDS) {
          const hex = field(span, id);
          if (typeof hex === "string") (span as Record<string, unknown>)[id] = base64(hex);
        }
      }
    }
  }
  return request;
}

const IDS = ["traceId", "spanId", "parentSpanId"] as const;
const HEX = /^(?:[0-9a-f]{2})*$/i;

/** What is no hexadecimal becomes an id of one byte, for which its span is rejected. */
function base64(hex: string): string {
  return hex.length <= 32 && HEX.test(hex) ? Buffer.from(hex, "hex").toString("base64") : "AA==";
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function field(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null && Object.hasOwn(value, name)
    ? Reflect.get(value, name)
    : undefined;
}
