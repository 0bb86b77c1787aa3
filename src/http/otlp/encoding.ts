import {
  create,
  fromBinary,
  fromJson,
  type JsonValue,
  type MessageInitShape,
  toBinary,
  toJsonString,
} from "@bufbuild/protobuf";
import { StatusSchema } from "../../gen/google/rpc/status_pb.ts";
import {
  type ExportTraceServiceRequest,
  ExportTraceServiceRequestSchema,
  ExportTraceServiceResponseSchema,
} from "../../gen/opentelemetry/proto/collector/trace/v1/trace_service_pb.ts";

/**
 * OTLP's JSON as the JSON of protobuf, which differs in one thing that matters here: ids are hexadecimal, not base64. What is
 * shaped otherwise stays as it is, for the reader of the latter to refuse. The value itself is changed.
 *
 * @see https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding
 */
function protobufJson(request: unknown): unknown {
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

type Response = MessageInitShape<typeof ExportTraceServiceResponseSchema>;
type Status = MessageInitShape<typeof StatusSchema>;

/** How requests and answers are written. An answer is written as its request was. */
export interface Encoding {
  readonly contentType: string;
  /** Throws for what is not a request. */
  request(body: Uint8Array): ExportTraceServiceRequest;
  response(response: Response): Uint8Array;
  status(status: Status): Uint8Array;
}

const IGNORE_UNKNOWN = { ignoreUnknownFields: true };

/** OTLP as bytes of protobuf. */
export const PROTOBUF: Encoding = {
  contentType: "application/x-protobuf",
  request: (body) => fromBinary(ExportTraceServiceRequestSchema, body, { readUnknownFields: false }),
  response: (response) =>
    toBinary(ExportTraceServiceResponseSchema, create(ExportTraceServiceResponseSchema, response)),
  status: (status) => toBinary(StatusSchema, create(StatusSchema, status)),
};

/** OTLP as JSON, with its own ways to write ids and numbers. */
export const JSON_ENCODING: Encoding = {
  contentType: "application/json",
  request(body) {
    const value = protobufJson(JSON.parse(UTF8.decode(body)));
    return fromJson(ExportTraceServiceRequestSchema, value as JsonValue, IGNORE_UNKNOWN);
  },
  response: (response) =>
    Buffer.from(toJsonString(ExportTraceServiceResponseSchema, create(ExportTraceServiceResponseSchema, response))),
  status: (status) => Buffer.from(toJsonString(StatusSchema, create(StatusSchema, status))),
};

const UTF8 = new TextDecoder("utf-8", { fatal: true });

/** The encoding that a content type names. */
export function encodingOf(contentType: string | undefined): Encoding | undefined {
  const [type] = (contentType ?? "").toLowerCase().split(/\s*;/, 1);
  return [PROTOBUF, JSON_ENCODING].find((encoding) => encoding.contentType === type);
}
