/**
 * What reading a span costs, beside the SDK of OpenTelemetry alone: a message is published, processed and published on.
 *
 * Three spans a message, with attributes as the instrumentation of amqplib writes them and contexts that are carried over. Each
 * variant has processes of its own, since two that run the same differ by more than what is measured; a round is the same messages
 * through all of them, one after the other, beginning with another one each time. Figures are CPU time.
 */
import { type Context, propagation, ROOT_CONTEXT, SpanKind, type Tracer, trace } from "@opentelemetry/api";
import { W3CTraceContextPropagator } from "@opentelemetry/core";
import {
  AlwaysOffSampler,
  BasicTracerProvider,
  NoopSpanProcessor,
  type TracerConfig,
} from "@opentelemetry/sdk-trace-base";
import { openTelemetrySource, recordAll } from "../src/adapters/graph/opentelemetry/index.ts";
import { integrationGraph } from "../src/integration-graph/builder.ts";
import { Child } from "./support/child.ts";
import { environment } from "./support/environment.ts";
import { median } from "./support/median.ts";
import { printTable } from "./support/table.ts";

const messages = 20_000;
const warmUpRounds = 6;
const rounds = 15;
const processes = 5;

/** Each beside the SDK, except where another one is named. */
const variants: { readonly [name: string]: { readonly config: () => TracerConfig; readonly beside?: string } } = {
  "the SDK": { config: () => ({}) },
  "the SDK again": { config: () => ({}) },
  "a processor that does nothing": { config: () => ({ spanProcessors: [new NoopSpanProcessor()] }) },
  "the graph": { config: () => ({ spanProcessors: [attached()] }) },
  "the graph, beside one that does nothing": {
    config: () => ({ spanProcessors: [attached()] }),
    beside: "a processor that does nothing",
  },
  "nothing sampled": { config: () => ({ sampler: new AlwaysOffSampler() }) },
  "nothing sampled, all recorded for the graph": {
    config: () => ({ sampler: recordAll(new AlwaysOffSampler()), spanProcessors: [attached()] }),
    beside: "nothing sampled",
  },
};

function attached() {
  const tracing = openTelemetrySource();
  integrationGraph({ app: "bench" }).attach(tracing);
  return tracing.spanProcessor;
}

const connection = {
  "messaging.system": "rabbitmq",
  "messaging.protocol": "AMQP",
  "messaging.protocol_version": "0.9.1",
  "messaging.url": "amqp://guest:***@localhost:5672/shop",
  "server.address": "localhost",
  "server.port": 5672,
};

function send(tracer: Tracer, exchange: string, context: Context): Record<string, string> {
  const attributes = { ...connection, "messaging.destination": exchange, "messaging.rabbitmq.routing_key": "new" };
  const span = tracer.startSpan(`publish ${exchange}`, { kind: SpanKind.PRODUCER, attributes }, context);
  const headers = {};
  propagation.inject(trace.setSpan(context, span), headers);
  span.end();
  return headers;
}

function message(tracer: Tracer): void {
  const headers = send(tracer, "orders", ROOT_CONTEXT);
  const from = propagation.extract(ROOT_CONTEXT, headers);
  const attributes = { ...connection, "messaging.destination": "orders", "messaging.operation": "process" };
  const span = tracer.startSpan("billing process", { kind: SpanKind.CONSUMER, attributes }, from);
  send(tracer, "payments", trace.setSpan(from, span));
  span.end();
}

/** A process that answers each question with the CPU time of its messages, in nanoseconds a message. */
function application(variant: string): void {
  propagation.setGlobalPropagator(new W3CTraceContextPropagator());
  const scope = "@opentelemetry/instrumentation-amqplib";
  const tracer = new BasicTracerProvider(variants[variant]!.config()).getTracer(scope);
  process.on("message", () => {
    const before = process.cpuUsage();
    for (let sent = 0; sent < messages; sent++) message(tracer);
    const { user, system } = process.cpuUsage(before);
    process.send!(((user + system) * 1_000) / messages);
  });
  process.on("disconnect", () => process.exit());
}

async function compare(): Promise<void> {
  console.log(environment("@opentelemetry/sdk-trace-base"));
  const names = Object.keys(variants);
  const each = Array.from({ length: processes }, () => names).flat();
  const children = each.map((name) => new Child(import.meta.filename, { args: [name] }));
  const times = new Map(names.map((name) => [name, new Array<number>(rounds).fill(0)]));
  for (let round = -warmUpRounds; round < rounds; round++) {
    for (let turn = 0; turn < each.length; turn++) {
      const index = (round + warmUpRounds + turn) % each.length;
      const time = await children[index]!.ask<number>({});
      if (round >= 0) times.get(each[index]!)![round]! += time / processes;
    }
  }
  await Promise.all(children.map((child) => child.end()));
  const rows = names.map((name) => {
    const beside = variants[name]!.beside ?? "the SDK";
    const ratios = times.get(name)!.map((time, round) => time / times.get(beside)![round]!);
    return [name, `${median(times.get(name)!).toFixed(0)} ns`, median(ratios).toFixed(3), beside];
  });
  printTable(
    [`${processes} processes each, ${rounds} rounds of ${messages} messages`, "CPU a message", "ratio", "to"],
    rows,
  );
}

const [variant] = process.argv.slice(2);
if (process.send !== undefined && variant !== undefined) application(variant);
else await compare();
