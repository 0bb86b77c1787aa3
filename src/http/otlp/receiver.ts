import { ActuatorError } from "../../common/error.ts";
import type { ExportTraceServiceRequest } from "../../gen/opentelemetry/proto/collector/trace/v1/trace_service_pb.ts";
import type { Detach, GraphAdapter, GraphHost } from "../../integration-graph/adapter.ts";
import { ConcurrencyLimit, TokenBucket } from "./limits.ts";
import { type OtlpOptions, type OtlpSettings, otlpSettings } from "./options.ts";
import { Services } from "./services.ts";
import { beginning, type ReceivedSpan, receivedSpan, sourceOf } from "./span.ts";

/** The most spans of one request: more than SDKs and collectors put into one, and less than a second of work. */
const MAX_SPANS = 10_000;

const MAX_SCOPE_NAME = 256;

/** How many attributes or events cost as much as a span. */
const PARTS = 16;
/** How many bytes cost as much as a span, at worst. */
const SPAN_BYTES = 64;

/** What was rejected of a request, and must not be sent again. */
export interface Rejection {
  readonly rejectedSpans: number;
  /** Written for the sender; empty if all was accepted. */
  readonly errorMessage: string;
}

/** Feeds a graph with the spans that other services send by OTLP. */
export interface OtlpReceiver extends GraphAdapter {
  readonly settings: OtlpSettings;
  /** Limits the requests that are read at the same time, by both protocols together. */
  readonly reading: ConcurrencyLimit;
  /** Whether spans are accepted now. If not, the sender is asked to retry in a second. */
  readonly isOpen: boolean;
  /** Accepts the spans of a request. Never throws for what is in it. */
  take(request: ExportTraceServiceRequest): Rejection;
  /** A request of this many bytes could not be read, which has cost time as well. */
  failed(bytes: number): void;
}

/**
 * A receiver of OTLP traces. Each service has endpoints of its own in the graph, named by its `service.namespace` and
 * `service.name`, and meets the others at the destinations of the brokers that they share. Instances of a service are counted.
 *
 * Spans arrive after they have ended, in batches: the sender of a message may be known only with a later request, for which the
 * message waits half a minute. Everything is bounded: what is remembered, what waits, how many spans are accepted.
 */
export function otlpReceiver(options: OtlpOptions = {}): OtlpReceiver {
  const settings = otlpSettings(options);
  const bucket = new TokenBucket(settings.maxSpansPerSecond);
  let services: Services | undefined;

  return {
    name: "otlp",
    settings,
    reading: new ConcurrencyLimit(),
    get isOpen() {
      return services !== undefined && bucket.hasTokens;
    },
    attach(host: GraphHost): Detach {
      if (services !== undefined)
        throw new ActuatorError("FAILED_PRECONDITION", "ALREADY_ATTACHED", "this OTLP receiver is already attached");
      const attached = new Services(host, settings);
      services = attached;
      return () => {
        attached.close();
        if (services === attached) services = undefined;
      };
    },
    take({ resourceSpans }): Rejection {
      if (services === undefined) return NOTHING_REJECTED;
      const rejected = { ids: 0, services: 0, excess: 0 };
      let taken = 0;
      let cost = resourceSpans.length;
      for (const { resource, scopeSpans } of resourceSpans) {
        cost += scopeSpans.length + (resource?.attributes.length ?? 0) / PARTS;
        if (scopeSpans.length === 0) continue;
        const service = services.of(sourceOf(resource));
        const spans: ReceivedSpan[] = [];
        for (const { scope, spans: messages } of scopeSpans) {
          const name = { name: beginning(scope?.name ?? "", MAX_SCOPE_NAME) };
          for (const message of messages) {
            cost += 1 + (message.attributes.length + message.events.length) / PARTS;
            if (taken >= MAX_SPANS) {
              rejected.excess++;
              continue;
            }
            taken++;
            const span = receivedSpan(message, name);
            if (span === undefined) rejected.ids++;
            else spans.push(span);
          }
        }
        if (service === undefined) rejected.services += spans.length;
        else services.take(service, spans);
      }
      bucket.spend(cost);
      return rejectionOf(rejected);
    },
    failed(bytes) {
      bucket.spend(bytes / SPAN_BYTES);
    },
  };
}

const NOTHING_REJECTED: Rejection = { rejectedSpans: 0, errorMessage: "" };

const REASONS = {
  ids: "ids that are not 16 and 8 bytes, or zero",
  services: "too many services (option otlp.maxServices)",
  excess: `more than ${MAX_SPANS} spans in one request`,
} as const;

function rejectionOf(rejected: { readonly [Reason in keyof typeof REASONS]: number }): Rejection {
  const reasons = (Object.keys(REASONS) as (keyof typeof REASONS)[]).filter((reason) => rejected[reason] > 0);
  if (reasons.length === 0) return NOTHING_REJECTED;
  return {
    rejectedSpans: reasons.reduce((sum, reason) => sum + rejected[reason], 0),
    errorMessage: reasons.map((reason) => REASONS[reason]).join("; "),
  };
}
