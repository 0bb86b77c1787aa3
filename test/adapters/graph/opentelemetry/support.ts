import { context, propagation, trace } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import { W3CTraceContextPropagator } from "@opentelemetry/core";
import type { Instrumentation } from "@opentelemetry/instrumentation";
import { BasicTracerProvider, type TracerConfig } from "@opentelemetry/sdk-trace-base";
import { graphPictures } from "../../../support/graph-picture.ts";

export { until } from "../../../support/until.ts";

/** By keys, which are what spans decide on. */
export const { picture } = graphPictures({ label: ({ key }) => key.replace(/^(channel|endpoint):/, "") });

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
