import type { Context } from "@opentelemetry/api";
import type { Span as SdkSpan } from "@opentelemetry/sdk-trace-base";
import type { GraphHost } from "../../../integration-graph/adapter.ts";
import type { GraphNode } from "../../../integration-graph/node.ts";
import { Messages, Owner } from "./messages.ts";
import type { Scene } from "./routes.ts";
import { hasFailed, SpanKind } from "./span.ts";
import { countOf } from "./traffic.ts";

/** The key of the active span in a context, the same in all versions of the API. */
const ACTIVE_SPAN = Symbol.for("OpenTelemetry Context Key SPAN");

/** The owner of a span, kept on the span itself, which costs less than a map. */
const OWNER = Symbol("owner");
/** The endpoint of another adapter, in whose handler a span began. */
const CURRENT = Symbol("current");

interface Tracked {
  [OWNER]?: Owner;
  [CURRENT]?: GraphNode;
}

type TrackedSpan = SdkSpan & Tracked;

/** Follows the spans of this process while an adapter is attached. */
export class Tracker {
  readonly #host: GraphHost;
  readonly #messages: Messages;

  constructor(scene: Scene) {
    this.#host = scene.host;
    this.#messages = new Messages(scene);
  }

  /**
   * A message that came, and a request, own what is sent under them; so does work that begins by itself. Any other span has the
   * owner of its local parent. A remote parent is another service's, or this one's through a broker.
   */
  started(span: TrackedSpan, context: Context): void {
    const { kind } = span;
    const parent = context.getValue(ACTIVE_SPAN) as (Tracked & Pick<SdkSpan, "spanContext">) | undefined;
    const above = parent?.[OWNER];
    if (kind === SpanKind.CONSUMER || kind === SpanKind.SERVER || (kind === SpanKind.CLIENT && receives(span))) {
      span[OWNER] = new Owner(span);
      if (above !== undefined && kind === SpanKind.CONSUMER) above.processed = true;
    } else if (above !== undefined) {
      span[OWNER] = above;
    } else if (kind === SpanKind.INTERNAL && (parent === undefined || parent.spanContext().isRemote)) {
      span[OWNER] = new Owner(span);
    }
    if (kind === SpanKind.PRODUCER || kind === SpanKind.CLIENT) {
      const { current } = this.#host;
      if (current !== undefined) span[CURRENT] = current;
    }
  }

  ended(span: TrackedSpan): void {
    const { kind } = span;
    const owner = span[OWNER];
    if (kind === SpanKind.INTERNAL || kind === SpanKind.SERVER) {
      if (owner?.span === span) this.#workEnded(span, owner);
      return;
    }
    const route = this.#messages.routeOf(span);
    if (route === undefined) return;
    const count = countOf(span);
    if (count === 0) return;
    const end = performance.now();
    const [seconds, nanoseconds] = span.duration;
    const start = end - (seconds * 1_000 + nanoseconds / 1_000_000);
    const outcome = { start, end, failed: hasFailed(span), count };
    if (route.traffic.operation === "process") this.#messages.processed(route, outcome);
    else if (route.traffic.operation === "receive") {
      if (owner?.processed !== true) this.#messages.received(route, outcome);
    } else {
      const { endpoints } = this.#messages;
      const current = span[CURRENT];
      if (current !== undefined) endpoints.sentBy(current, route, outcome);
      else if (owner !== undefined) owner.sent(route, outcome, endpoints);
      else endpoints.sent(route, outcome, undefined);
    }
  }

  #workEnded(span: TrackedSpan, owner: Owner): void {
    owner.end(this.#messages.endpoints);
    if (span.kind !== SpanKind.INTERNAL || owner.node === undefined) return;
    const end = performance.now();
    this.#host.received(owner.node, { start: end, end, failed: hasFailed(span) });
  }
}

function receives({ attributes }: SdkSpan): boolean {
  return (attributes["messaging.operation.type"] ?? attributes["messaging.operation"]) === "receive";
}
