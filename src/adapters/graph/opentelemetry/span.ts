import { MAX_NAME_LENGTH } from "../../../integration-graph/declaration.ts";
import type { EndpointPattern } from "../../../integration-graph/pattern.ts";

/** The parts of a span that the graph reads. The SDK's `ReadableSpan` is one. */
export interface Span {
  readonly name: string;
  /** As {@link SpanKind}. */
  readonly kind: number;
  readonly attributes: { readonly [name: string]: unknown };
  readonly status: { readonly code: number };
  readonly events: readonly { readonly name: string }[];
  readonly instrumentationScope: { readonly name: string };
}

/** The kinds as the API numbers them; those of OTLP are greater by one. */
export const SpanKind = { INTERNAL: 0, SERVER: 1, CLIENT: 2, PRODUCER: 3, CONSUMER: 4 } as const;

/** The status code of a failure, in the API and in OTLP. */
const ERROR = 2;

/** Events of a failure: BullMQ does not set the status of a failed job, but records an exception. */
export const FAILURE_EVENTS: ReadonlySet<string> = new Set(["exception", "job failed"]);

/** Whether the span's operation failed. */
export function hasFailed({ status, attributes, events }: Span): boolean {
  if (status.code === ERROR || attributes["error.type"] !== undefined) return true;
  for (let index = 0; index < events.length; index++) if (FAILURE_EVENTS.has(events[index]!.name)) return true;
  return false;
}

/** An attribute that is a non-empty string. */
export function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** A component on whose behalf messages are sent, as its own span names it. */
interface SpanEndpoint {
  readonly name: string;
  readonly pattern: EndpointPattern;
}

/** The pattern by the kind of the span: a request that is served, a message of an unknown system, work that begins by itself. */
const PATTERNS: { readonly [kind: number]: EndpointPattern } = {
  [SpanKind.SERVER]: "inbound_gateway",
  [SpanKind.CONSUMER]: "service_activator",
  [SpanKind.CLIENT]: "service_activator",
  [SpanKind.INTERNAL]: "inbound_channel_adapter",
};

/** The name of an endpoint for a span that sends: `POST /orders` for a request, or else the span's name. */
export function endpointOf({ name, kind, attributes }: Span): SpanEndpoint {
  const method = textOf(attributes["http.request.method"]) ?? textOf(attributes["http.method"]);
  const route = textOf(attributes["http.route"]);
  const shown = method !== undefined && route !== undefined ? `${method} ${route}` : name;
  return { name: fit(shown), pattern: PATTERNS[kind] ?? "inbound_channel_adapter" };
}

/** Whether the name of a request may still change: frameworks set the route when they have found it, some at the end. */
export function mayBeRenamed({ kind, attributes }: Span): boolean {
  return kind === SpanKind.SERVER && attributes["http.route"] === undefined;
}

/** A name that fits into a graph. */
export function fit(name: string): string {
  return name.slice(0, MAX_NAME_LENGTH).toWellFormed() || "unknown";
}
