import { ATTRIBUTES } from "../../adapters/graph/opentelemetry/dialects.ts";
import { FAILURE_EVENTS, fit, type Span, textOf } from "../../adapters/graph/opentelemetry/span.ts";
import type { KeyValue } from "../../gen/opentelemetry/proto/common/v1/common_pb.ts";
import type { Resource } from "../../gen/opentelemetry/proto/resource/v1/resource_pb.ts";
import type { Span as SpanMessage } from "../../gen/opentelemetry/proto/trace/v1/trace_pb.ts";
import { checkedName } from "../../integration-graph/declaration.ts";

/** A span of another service, complete. */
export interface ReceivedSpan extends Span {
  /** Unique among all spans. */
  readonly id: string;
  /** That of its parent, whether known to be a local one or not; undefined where it has none, or a remote one. */
  readonly parent: string | undefined;
  /** In milliseconds. */
  readonly duration: number;
}

/** Names and values are not longer in the graph. */
const MAX_TEXT = 1_024;
const LONGEST = 24 * 60 * 60 * 1_000;
const PARENT_IS_REMOTE = 0x200;
const NO_EVENTS: Span["events"] = [];

/** Reads a span, with the attributes that the graph uses. Undefined if its ids are invalid. */
export function receivedSpan(message: SpanMessage, scope: { readonly name: string }): ReceivedSpan | undefined {
  const { traceId, spanId, parentSpanId, name, kind, attributes, events, status, flags } = message;
  if (!isId(traceId, 16) || !isId(spanId, 8)) return undefined;
  const hasParent = parentSpanId.length > 0;
  if (hasParent && !isId(parentSpanId, 8)) return undefined;
  const trace = latin1(traceId);
  const failure = events.find((event) => FAILURE_EVENTS.has(event.name));
  return {
    id: trace + latin1(spanId),
    parent: hasParent && (flags & PARENT_IS_REMOTE) === 0 ? trace + latin1(parentSpanId) : undefined,
    name: beginning(name, MAX_TEXT),
    // Without a kind it is an internal one, says the protocol.
    kind: Math.max(0, kind - 1),
    attributes: attributesOf(attributes),
    status: { code: status?.code ?? 0 },
    events: failure === undefined ? NO_EVENTS : [failure],
    instrumentationScope: scope,
    duration: Math.min(LONGEST, Math.max(0, Number(message.endTimeUnixNano - message.startTimeUnixNano) / 1_000_000)),
  };
}

/** The attributes with these names that are texts, numbers or flags. */
function attributesOf(attributes: readonly KeyValue[], names: ReadonlySet<string> = ATTRIBUTES): Span["attributes"] {
  const known: Record<string, unknown> = Object.create(null);
  for (const { key, value } of attributes) {
    if (!names.has(key)) continue;
    const content = value?.value.value;
    known[key] = typeof content === "string" ? beginning(content, MAX_TEXT) : content;
  }
  return known;
}

/** The first characters of a text, as a copy: a slice would keep the whole text in memory. */
export function beginning(text: string, length: number): string {
  return text.length <= length ? text : Buffer.from(text.slice(0, length), "utf16le").toString("utf16le");
}

function isId(bytes: Uint8Array, length: number): boolean {
  return bytes.length === length && bytes.some((byte) => byte !== 0);
}

function latin1(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("latin1");
}

/** The service instance that made spans. */
export interface SpanSource {
  /** `service.namespace/service.name`, as the keys of its endpoints have it. */
  readonly app: string;
  /** `service.instance.id`, or "" if it is not given. */
  readonly instance: string;
}

const NAMES: ReadonlySet<string> = new Set(["service.name", "service.namespace", "service.instance.id"]);
const MAX_NAME = 200;
const UNKNOWN = "unknown_service";

/** Reads a resource. One without a name is `unknown_service`, as the conventions call it. */
export function sourceOf(resource: Resource | undefined): SpanSource {
  const attributes = attributesOf(resource?.attributes ?? [], NAMES);
  const namespace = textOf(attributes["service.namespace"]);
  const name = textOf(attributes["service.name"]) ?? UNKNOWN;
  return {
    app: named(namespace === undefined ? name : `${namespace}/${name}`),
    instance: (textOf(attributes["service.instance.id"]) ?? "").slice(0, MAX_NAME),
  };
}

/** A name that may be shown, without credentials that a URL may contain. */
function named(name: string): string {
  try {
    return checkedName(fit(name.slice(0, MAX_NAME)));
  } catch {
    return UNKNOWN;
  }
}
