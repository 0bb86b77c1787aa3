import { context, type Span, SpanKind, type SpanOptions, trace } from "@opentelemetry/api";
import { resourceFromAttributes } from "@opentelemetry/resources";
import { BasicTracerProvider, SimpleSpanProcessor, type SpanExporter } from "@opentelemetry/sdk-trace-base";
import { onTestFinished } from "vitest";
import { type Actuator, createActuator } from "../../../src/actuator.ts";
import type { OtlpOptions } from "../../../src/http/otlp/options.ts";
import { integrationGraph } from "../../../src/integration-graph/builder.ts";
import { picture } from "../../adapters/graph/opentelemetry/support.ts";

/** An actuator on a port of its own that takes spans. */
export async function startReceiver(otlp: boolean | OtlpOptions = true) {
  const flow = integrationGraph({ app: "hub" });
  const errors: unknown[] = [];
  const actuator: Actuator = createActuator({ integrationGraph: flow, otlp, onError: (error) => errors.push(error) });
  const { port } = await actuator.listen({ port: 0 });
  onTestFinished(() => actuator.close({ deadlineMs: 100 }));
  const url = `http://127.0.0.1:${port}`;
  return {
    flow,
    graph: flow.graph,
    actuator,
    url,
    errors,
    picture: () => picture(flow.graph),
    post: (body: string | Uint8Array, headers: Record<string, string> = { "content-type": "application/json" }) =>
      fetch(`${url}/v1/traces`, { method: "POST", body: body as string, headers }),
  };
}

/** A service that traces with the SDK, and sends its spans when `flush` is called. */
export function service(exporter: SpanExporter, resource: Record<string, string>) {
  const processor = new SimpleSpanProcessor(exporter);
  const provider = new BasicTracerProvider({
    resource: resourceFromAttributes(resource),
    spanProcessors: [processor],
  });
  const tracer = provider.getTracer("test");
  const start = (name: string, parent: Span | undefined, options: SpanOptions) =>
    tracer.startSpan(name, options, parent ? trace.setSpan(context.active(), parent) : context.active());
  return { start, flush: () => provider.forceFlush(), shutdown: () => provider.shutdown() };
}

/** The attributes of a message of Kafka. */
export function message(operation: "send" | "process" | "receive", topic: string, more = {}): SpanOptions {
  const kind = { send: SpanKind.PRODUCER, process: SpanKind.CONSUMER, receive: SpanKind.CLIENT }[operation];
  const attributes = {
    "messaging.system": "kafka",
    "messaging.operation.type": operation,
    "messaging.destination.name": topic,
    "messaging.kafka.cluster.id": "main",
    ...more,
  };
  return { kind, attributes };
}
