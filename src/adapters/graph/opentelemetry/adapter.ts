import type { SpanProcessor } from "@opentelemetry/sdk-trace-base";
import { checkOptions, count, flag, positiveMs, textsLike } from "../../../common/options.ts";
import type { Detach, GraphAdapter, GraphHost } from "../../../integration-graph/adapter.ts";
import { requireVersion } from "../../kit/library-version.ts";
import { Components } from "./components.ts";
import type { OpenTelemetryOptions } from "./options.ts";
import { Tracker } from "./tracker.ts";

/** Feeds the graph with the spans of this process. */
export interface OpenTelemetryAdapter extends GraphAdapter {
  /** For `spanProcessors` of a tracer provider. Ignores spans as long as the adapter is not attached. */
  readonly spanProcessor: SpanProcessor;
}

/**
 * The messages that an application's spans tell of, for those who trace already:
 *
 * ```ts
 * const tracing = openTelemetrySource();
 * const provider = new BasicTracerProvider({ spanProcessors: [tracing.spanProcessor, …] });
 * flow.attach(tracing);
 * ```
 *
 * - It reads the spans of the instrumentations of amqplib, kafkajs, the AWS SDK and BullMQ, and of whatever follows the semantic
 *   conventions of messaging.
 * - A message is sent by the handler, the request or the work in whose span it was sent, however many spans lie between.
 * - A message counts once, also where an adapter of its library is attached: who counts first does, and this one then shows what
 *   the other cannot know, such as the requests that send.
 * - Of what a sampler drops nothing is seen: see `recordAll` and the option `sampled`.
 *
 * The graph shows no more than happened: no queue that was never used, no binding without traffic, no dead-lettering. Consumers of
 * a queue are one node, as spans do not name functions.
 *
 * Throws a TypeError where it is attached already.
 */
export function openTelemetrySource(options: OpenTelemetryOptions = {}): OpenTelemetryAdapter {
  checkOptions<OpenTelemetryOptions>("openTelemetrySource", options, {
    brokers: textsLike('{ bullmq: "127.0.0.1:6379/0" }'),
    sampled: flag,
    maxAgeMs: positiveMs,
    maxNodes: count,
  });
  requireVersion({ subpath: "opentelemetry", library: "@opentelemetry/sdk-trace-base", versions: "2" });
  const { brokers = {}, sampled = false, maxAgeMs: maxAge = 3_600_000, maxNodes = 1_000 } = options;
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
      if (tracker !== undefined) throw new TypeError("this adapter of OpenTelemetry is attached already");
      const attached = new Tracker({
        host,
        components: new Components(host, "opentelemetry", { maxAgeMs: maxAge, maxNodes }),
        app: host.app,
        counts: (system) => host.counts(system),
        brokers,
        properties: sampled ? { sampled } : undefined,
        endpointProperties: undefined,
        handlers: new WeakMap(),
      });
      tracker = attached;
      return () => {
        if (tracker === attached) tracker = undefined;
      };
    },
  };
}
