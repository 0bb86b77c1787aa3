import { MAX_NAME_LENGTH } from "../../../integration-graph/declaration.ts";
import type { EndpointPattern } from "../../../integration-graph/pattern.ts";
import { type Span, SpanKind, textOf } from "./span.ts";

/** A component on whose behalf messages are sent, as its own span tells of it. */
export interface SpanEndpoint {
  readonly name: string;
  readonly pattern: EndpointPattern;
}

/** By the kind of the span: a request that is served, a message of no system that is known, work that begins by itself. */
const PATTERNS: { readonly [kind: number]: EndpointPattern } = {
  [SpanKind.SERVER]: "inbound_gateway",
  [SpanKind.CONSUMER]: "service_activator",
  [SpanKind.CLIENT]: "service_activator",
  [SpanKind.INTERNAL]: "inbound_channel_adapter",
};

/** What a span that owns what is sent under it is called: `POST /orders` for a request, else as the span. */
export function endpointOf({ name, kind, attributes }: Span): SpanEndpoint {
  const method = textOf(attributes["http.request.method"]) ?? textOf(attributes["http.method"]);
  const route = textOf(attributes["http.route"]);
  const shown = method !== undefined && route !== undefined ? `${method} ${route}` : name;
  return { name: fit(shown), pattern: PATTERNS[kind] ?? "inbound_channel_adapter" };
}

/** Whether the name of a request may still change: frameworks tell the route when they have found it, some at the end. */
export function mayBeRenamed({ kind, attributes }: Span): boolean {
  return kind === SpanKind.SERVER && attributes["http.route"] === undefined;
}

/** A name that fits into a graph. */
export function fit(name: string): string {
  return name.slice(0, MAX_NAME_LENGTH).toWellFormed() || "unknown";
}
