import type { Span } from "@opentelemetry/api";
import { context, trace } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-base";
import { BullMQOtel } from "bullmq-otel";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type RedisServer, redisFound, startRedis } from "../../../support/redis-server.ts";
import { requirement } from "../../../support/requirement.ts";
import { application, until } from "./support.ts";

let server: RedisServer;

describe.runIf(requirement("redis-server", redisFound))("bullmq beside its own telemetry", () => {
  const exporter = new InMemorySpanExporter();
  const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });

  beforeAll(async () => {
    context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
    trace.setGlobalTracerProvider(provider);
    server = await startRedis();
  });
  afterAll(async () => {
    context.disable();
    trace.disable();
    await server?.stop();
  });

  test("both see the same jobs, and traces go on through the processor", async () => {
    const telemetry = new BullMQOtel({ tracerName: "test" });
    const { queue, worker, picture } = application(server);
    const orders = queue("orders", { telemetry });
    const emails = queue("emails", { telemetry });
    let active: Span | undefined;
    worker(
      "orders",
      async function charge() {
        active = trace.getActiveSpan();
        await emails.add("receipt", {});
      },
      { telemetry },
    );
    await orders.add("order", {});
    await until(() => picture().nodes["worker orders.charge"] === "1 ok, 0 failed");
    await until(() => exporter.getFinishedSpans().some(({ name }) => name.startsWith("process")));
    expect(picture().links).toEqual({
      "gateway shop.producer -output-> queue orders": 1,
      "queue orders -input-> worker orders.charge": 1,
      "worker orders.charge -output-> queue emails": 1,
    });
    const spans = exporter.getFinishedSpans();
    const process = spans.find(({ name }) => name === "process orders")!;
    const receipt = spans.find(({ name }) => name === "add emails.receipt")!;
    expect(active?.spanContext().spanId).toBe(process.spanContext().spanId);
    expect(receipt.parentSpanContext?.spanId).toBe(process.spanContext().spanId);
  });
});
