import type { CallCode, CallProtocol, HttpCall } from "../calls/call-record.ts";
import type { Attributes, MetricDescription } from "./metric.ts";

/** The name of any operation that is not served, as OpenTelemetry's conventions call it. */
export const OTHER = "_OTHER";

/** What the conventions advise for the durations of calls, in seconds. */
export const DURATION_BOUNDARIES: readonly number[] = [
  0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10,
];

/** How long requests took. @see https://opentelemetry.io/docs/specs/semconv/http/http-metrics/ */
export const HTTP_DURATION: MetricDescription = {
  name: "http.server.request.duration",
  description: "Duration of the requests of the actuator over plain HTTP: REST, OTLP and MCP.",
  unit: "s",
};

/** How long calls took. @see https://opentelemetry.io/docs/specs/semconv/rpc/rpc-metrics/ */
export const RPC_DURATION: MetricDescription = {
  name: "rpc.server.call.duration",
  description: "Duration of the remote procedure calls of the actuator, streams from their begin to their end.",
  unit: "s",
};

/** The convention's names of the systems that have one; the others are plain HTTP. */
const SYSTEMS: Readonly<Record<CallProtocol, string | undefined>> = {
  rest: undefined,
  otlp: undefined,
  mcp: undefined,
  connect: "connectrpc",
  grpc: "grpc",
  "grpc-web": "grpc",
};

/** The methods that there are, say RFC 9110 and RFC 5789. Any other is {@link OTHER}: callers may write what they like. */
const METHODS: ReadonlySet<string> = new Set([
  "GET",
  "HEAD",
  "POST",
  "PUT",
  "DELETE",
  "CONNECT",
  "OPTIONS",
  "TRACE",
  "PATCH",
]);

/** The codes that are the server's fault. What a caller did wrong is no error of the server, say the conventions. */
const FAULTS: ReadonlySet<CallCode> = new Set([
  "UNKNOWN",
  "DEADLINE_EXCEEDED",
  "UNIMPLEMENTED",
  "INTERNAL",
  "UNAVAILABLE",
]);

/** A call in the words of the conventions. */
export interface MeasuredCall {
  readonly metric: MetricDescription;
  readonly attributes: Attributes;
}

/** A call in words of which there are few. */
export interface BoundedCall {
  readonly protocol: CallProtocol;
  /** One of those that there are, or {@link OTHER}. */
  readonly operation: string;
  readonly code: CallCode;
  readonly http?: HttpCall | undefined;
}

/** The method of a request, or {@link OTHER} for an unknown one. */
export function knownMethod(method: string): string {
  return METHODS.has(method) ? method : OTHER;
}

/**
 * Under which metric and attributes the duration of a call is recorded.
 *
 * @param basePath what the routes of REST stand under
 */
export function measuredCall({ protocol, operation, code, http }: BoundedCall, basePath: string): MeasuredCall {
  const system = SYSTEMS[protocol];
  if (system !== undefined) {
    const call = { "rpc.system.name": system, "rpc.method": operation, "rpc.response.status_code": code };
    return { metric: RPC_DURATION, attributes: { ...call, ...errorType(code) } };
  }
  const { method = OTHER, route, scheme, status } = http ?? {};
  const base = protocol === "otlp" ? "" : basePath;
  return {
    metric: HTTP_DURATION,
    attributes: {
      "http.request.method": method,
      ...(route !== undefined && { "http.route": base + route }),
      ...(status !== undefined && { "http.response.status_code": status }),
      ...errorType(code, status),
      ...(scheme !== undefined && { "url.scheme": scheme }),
    },
  };
}

/** Of HTTP it is the status, where one was sent. */
function errorType(code: CallCode, status?: number): Attributes {
  const isFault = status === undefined ? FAULTS.has(code) : status >= 500;
  return isFault ? { "error.type": String(status ?? code) } : {};
}
