import type { ExportTraceServiceRequest } from "../../gen/opentelemetry/proto/collector/trace/v1/trace_service_pb.ts";
import type { Detach, GraphAdapter, GraphHost } from "../../integration-graph/adapter.ts";
import { Allowance } from "./allowance.ts";
import { type OtlpOptions, type OtlpSettings, otlpSettings } from "./options.ts";
import { Places } from "./places.ts";
import { Services } from "./services.ts";
import { sourceOf } from "./source.ts";
import { beginning, type ReceivedSpan, receivedSpan } from "./span.ts";

/** The most spans of one request: more than SDKs and collectors put into one, and less than a second of work. */
const MAX_SPANS = 10_000;

const MAX_SCOPE_NAME = 256;

/** So many attributes or events are read in the time of a span. */
const PARTS = 16;
/** Bytes that are read in the time of a span, at worst. */
const SPAN_BYTES = 64;

/** What was not taken of a request, and must not be sent again. */
export interface Rejection {
  readonly rejectedSpans: number;
  /** Written for the sender; empty where all was taken. */
  readonly errorMessage: string;
}

/** Feeds a graph with the spans of other services, which send them by OTLP. */
export interface OtlpReceiver extends GraphAdapter {
  readonly settings: OtlpSettings;
  /** Room for the requests that are read, for both protocols together. */
  readonly places: Places;
  /** Whether spans can be taken now; where not, the sender is to come back in a second. */
  readonly isOpen: boolean;
  /** Takes the spans of a request. Never throws for what is in it. */
  take(request: ExportTraceServiceRequest): Rejection;
  /** A request of this many bytes could not be read: that has cost time as well. */
  failed(bytes: number): void;
}

/**
 * A receiver of OTLP traces. Each service has endpoints of its own in the graph, named by its `service.namespace` and
 * `service.name`, and meets the others at the destinations of the brokers that they share. Instances of a service are counted.
 *
 * Spans are told of when they have ended, in batches: whose a message is may be known only with a later request, for which it
 * waits half a minute. All is bounded: what is remembered, what waits, how many spans are taken.
 */
export function otlpReceiver(options: OtlpOptions = {}): OtlpReceiver {
  const settings = otlpSettings(options);
  const allowance = new Allowance(settings.maxSpansPerSecond);
  let services: Services | undefined;

  return {
    name: "otlp",
    settings,
    places: new Places(),
    get isOpen() {
      return services !== undefined && allowance.isLeft;
    },
    attach(host: GraphHost): Detach {
      if (services !== undefined) throw new TypeError("this receiver of OTLP is attached already");
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
      allowance.spend(cost);
      return rejectionOf(rejected);
    },
    failed(bytes) {
      allowance.spend(bytes / SPAN_BYTES);
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
