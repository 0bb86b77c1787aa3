import { context, propagation, trace } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import { W3CTraceContextPropagator } from "@opentelemetry/core";
import type { Instrumentation } from "@opentelemetry/instrumentation";
import { BasicTracerProvider, type TracerConfig } from "@opentelemetry/sdk-trace-base";
import type { IntegrationGraph } from "../../src/integration-graph/graph.ts";

/** The whole graph by keys, as `{ nodes: { "queue:…": "3 ok, 1 failed" }, links: { "… -input-> …": 4 } }`. */
export function picture(graph: IntegrationGraph) {
  const { nodes, links } = graph.snapshot();
  const labels = new Map(nodes.map(({ nodeId, key }) => [nodeId, key.replace(/^(channel|endpoint):/, "")]));
  return {
    nodes: Object.fromEntries(
      nodes.map(({ nodeId, sendTimers, receiveCounters }) => {
        const sent = sendTimers && `${sendTimers.successes.count} ok, ${sendTimers.failures.count} failed`;
        const received = receiveCounters && `${receiveCounters.successes} received`;
        return [labels.get(nodeId), [sent, received].filter(Boolean).join(", ")];
      }),
    ),
    links: Object.fromEntries(
      links.map(({ from, type, to, count }) => [`${labels.get(from)} -${type}-> ${labels.get(to)}`, count]),
    ),
  };
}

const instrumentations: Instrumentation[] = [];

/** Makes a provider the process's own, with contexts that live through awaits, also for what is instrumented already. */
export function register(config: TracerConfig): BasicTracerProvider {
  const provider = new BasicTracerProvider(config);
  trace.disable();
  trace.setGlobalTracerProvider(provider);
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  propagation.setGlobalPropagator(new W3CTraceContextPropagator());
  for (const instrumentation of instrumentations) instrumentation.setTracerProvider(provider);
  return provider;
}

/** Instruments libraries that are loaded from now on. */
export function instrument(instrumentation: Instrumentation): void {
  instrumentations.push(instrumentation);
  instrumentation.enable();
}

/** Waits until `condition` holds, as long as the test may take. */
export async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 5));
}
