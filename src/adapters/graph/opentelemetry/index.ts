import type { Sampler, SamplingResult, SpanProcessor } from "@opentelemetry/sdk-trace-base";
import { ActuatorError } from "../../../common/error.ts";
import { checkOptions, count, flag, positiveMs, textsLike } from "../../../common/options.ts";
import type { Detach, GraphAdapter, GraphHost } from "../../../integration-graph/adapter.ts";
import { requireVersion } from "../../kit/library-version.ts";
import { Components } from "./components.ts";
import { Kinds } from "./routes.ts";
import { Tracker } from "./tracker.ts";

/** Options of {@link openTelemetrySource}. */
export interface OpenTelemetryOptions {
  /**
   * The brokers of systems whose spans do not name theirs, by system: `{ bullmq: "127.0.0.1:6379/0" }`. Spans of BullMQ
   * and kafkajs never do; Kafka's are recognised by the id of the cluster, once a span has it.
   */
  readonly brokers?: { readonly [system: string]: string } | undefined;
  /**
   * Whether the sampler drops spans, which the adapter cannot see: every node that spans mention then has the property `sampled`.
   * Default: false, as with `recordAll` or if everything is sampled.
   */
  readonly sampled?: boolean | undefined;
  /** How long a component stays after its last message, in milliseconds; 1 hour by default. */
  readonly maxAgeMs?: number | undefined;
  /** How many components are shown at most; 1,000 by default. */
  readonly maxNodes?: number | undefined;
}

/** The decisions of a sampler, as numbered by the SDK. */
const NOT_RECORD = 0;
const RECORD = 1;

/**
 * Makes a sampler that exports what `sampler` exports and records everything else as well, so that the graph counts every message.
 * It has to be the outermost sampler. A span that is only recorded costs about as much as a sampled one, without its export.
 *
 * @example
 * ```ts
 * const provider = new BasicTracerProvider({
 *   sampler: recordAll(new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(0.01) })),
 *   spanProcessors: [tracing.spanProcessor],
 * });
 * ```
 */
export function recordAll(sampler: Sampler): Sampler {
  return {
    shouldSample(...args): SamplingResult {
      const result = sampler.shouldSample(...args);
      return result.decision === NOT_RECORD ? { ...result, decision: RECORD } : result;
    },
    toString: () => `RecordAll{${sampler.toString()}}`,
  };
}

/** Feeds the graph with the spans of this process. */
export interface OpenTelemetryAdapter extends GraphAdapter {
  /** For `spanProcessors` of a tracer provider. Ignores spans while the adapter is not attached. */
  readonly spanProcessor: SpanProcessor;
}

/**
 * Shows the messages in the spans of an application that is traced by OpenTelemetry.
 *
 * - It reads the spans of the instrumentations of amqplib, kafkajs, the AWS SDK and BullMQ, and of all others that follow the
 *   semantic conventions of messaging.
 * - A message is sent by the handler, the request or the work in whose span it was sent, however many spans lie between.
 * - A message counts once, even if an adapter of its library is attached: the first of the two counts, and this one then adds what
 *   the other cannot know, such as the requests that send.
 * - Spans that a sampler drops are not seen: see `recordAll` and the option `sampled`.
 * - Only what happened is shown: no queue that was never used, no binding without traffic, no dead-lettering. Consumers of
 *   a queue are one node, because spans do not name functions.
 *
 * @example
 * ```ts
 * const tracing = openTelemetrySource();
 * const provider = new BasicTracerProvider({ spanProcessors: [tracing.spanProcessor] });
 * flow.attach(tracing);
 * ```
 */
export function openTelemetrySource(options: OpenTelemetryOptions = {}): OpenTelemetryAdapter {
  requireVersion({ subpath: "opentelemetry", library: "@opentelemetry/sdk-trace-base", versions: "2" });
  checkOptions("openTelemetrySource", options, {
    brokers: textsLike('{ bullmq: "127.0.0.1:6379/0" }'),
    sampled: flag,
    maxAgeMs: positiveMs,
    maxNodes: count,
  });
  const { brokers = {}, sampled = false, maxAgeMs = 3_600_000, maxNodes = 1_000 } = options;
  let tracker: Tracker | undefined;

  const spanProcessor: SpanProcessor = {
    onStart: (span, context) => tracker?.started(span, context),
    onEnd: (span) => tracker?.ended(span as Parameters<Tracker["ended"]>[0]),
    forceFlush: async () => {},
    shutdown: async () => {},
  };
  return {
    name: "opentelemetry",
    spanProcessor,
    attach(host: GraphHost): Detach {
      if (tracker !== undefined) {
        const message =
          "this openTelemetrySource() is attached already; call openTelemetrySource() again for another graph";
        throw new ActuatorError("FAILED_PRECONDITION", "ALREADY_ATTACHED", message);
      }
      const attached = new Tracker({
        host,
        components: new Components(host, "opentelemetry", { maxAgeMs, maxNodes }),
        app: host.app,
        counts: (system) => host.counts(system),
        brokers,
        properties: sampled ? { sampled } : undefined,
        endpointProperties: undefined,
        handlers: new WeakMap(),
        kinds: new Kinds(),
      });
      tracker = attached;
      return () => {
        if (tracker === attached) tracker = undefined;
      };
    },
  };
}
