import { context, type Span, SpanKind, type SpanOptions, SpanStatusCode, trace } from "@opentelemetry/api";
import { BasicTracerProvider } from "@opentelemetry/sdk-trace-base";
import { expect, onTestFinished, test } from "vitest";
import { type OpenTelemetryOptions, openTelemetrySource } from "../../../../src/adapters/graph/opentelemetry/index.ts";
import { integrationGraph } from "../../../../src/integration-graph/builder.ts";
import { word } from "../../../support/word.ts";
import { picture } from "./support.ts";

function setUp(options: OpenTelemetryOptions = {}) {
  const tracing = openTelemetrySource(options);
  const provider = new BasicTracerProvider({ spanProcessors: [tracing.spanProcessor] });
  const flow = integrationGraph({ app: "shop" });
  const detach = flow.attach(tracing);
  onTestFinished(detach);
  const { graph } = flow;
  /** A span under another one, still open. */
  function start(name: string, { parent, scope = "test", ...span }: SpanOptions & { parent?: Span; scope?: string }) {
    const at = parent === undefined ? context.active() : trace.setSpan(context.active(), parent);
    return provider.getTracer(scope).startSpan(name, span, at);
  }
  return { tracing, flow, graph, detach, start, picture: () => picture(graph) };
}

const send = (destination: string, more = {}) => ({
  kind: SpanKind.PRODUCER,
  attributes: {
    "messaging.system": "kafka",
    "messaging.operation.type": "send",
    "messaging.destination.name": destination,
    ...more,
  },
});
const process = (destination: string, more = {}) => ({
  kind: SpanKind.CONSUMER,
  attributes: {
    "messaging.system": "kafka",
    "messaging.operation.type": "process",
    "messaging.destination.name": destination,
    ...more,
  },
});

test("a message is sent by the handler in whose span it was sent, through any spans between", () => {
  const { start, picture } = setUp();
  const handled = start("process orders", process("orders"));
  const between = start("compute", { parent: handled });
  const deeper = start("deeper", { parent: between });
  start("send payments", { parent: deeper, ...send("payments") }).end();
  deeper.end();
  between.end();
  // The parent of what comes over a broker is another service's.
  const next = start("process payments", { ...process("payments"), parent: handled });
  start("send mails", { parent: next, ...send("mails") }).end();
  next.end();
  handled.end();
  expect(picture()).toEqual({
    nodes: {
      "kafka:unknown:topic:orders": "0 ok, 0 failed",
      "kafka:unknown:topic:payments": "1 ok, 0 failed",
      "kafka:unknown:topic:mails": "1 ok, 0 failed",
      "shop:service_activator:orders.consumer": "1 ok, 0 failed",
      "shop:service_activator:payments.consumer": "1 ok, 0 failed",
    },
    links: {
      "kafka:unknown:topic:orders -input-> shop:service_activator:orders.consumer": 1,
      "shop:service_activator:orders.consumer -output-> kafka:unknown:topic:payments": 1,
      "kafka:unknown:topic:payments -input-> shop:service_activator:payments.consumer": 1,
      "shop:service_activator:payments.consumer -output-> kafka:unknown:topic:mails": 1,
    },
  });
});

test("in a handler that something else put into the graph, it is that one that sends", () => {
  const { flow, start, picture } = setUp();
  const request = start("POST /orders", { kind: SpanKind.SERVER });
  const billing = flow.serviceActivator("billing");
  const open = billing.handle(() => start("send", { parent: request, ...send("orders") }))();
  // The broker's answer comes in another context.
  open.end();
  request.end();
  expect(picture().links).toEqual({ "shop:service_activator:billing -output-> kafka:unknown:topic:orders": 1 });
});

test("requests, work that begins by itself and nobody send", () => {
  const { start, picture } = setUp();
  const request = start("POST", { kind: SpanKind.SERVER, attributes: { "http.request.method": "POST" } });
  start("send", { parent: request, ...send("orders") }).end();
  // Frameworks know the route at last.
  request.setAttribute("http.route", "/orders/:id");
  request.updateName("POST /orders/:id");
  request.end();
  start("send", { parent: request, ...send("orders") }).end();
  const rpc = start("shop.Orders/Place", { kind: SpanKind.SERVER });
  start("send", { parent: rpc, ...send("orders") }).end();
  rpc.end();
  const job = start("nightly", {});
  start("send", { parent: job, ...send("orders") }).end();
  job.end();
  start("send", send("orders")).end();
  start("nothing to do with messages", {}).end();
  start("GET", { kind: SpanKind.CLIENT }).end();
  expect(picture()).toEqual({
    nodes: {
      "kafka:unknown:topic:orders": "5 ok, 0 failed",
      "shop:inbound_gateway:POST /orders/:id": "",
      "shop:inbound_gateway:shop.Orders/Place": "",
      "shop:inbound_channel_adapter:nightly": "1 received",
      "shop:inbound_gateway:shop.producer": "",
    },
    links: {
      "shop:inbound_gateway:POST /orders/:id -output-> kafka:unknown:topic:orders": 2,
      "shop:inbound_gateway:shop.Orders/Place -output-> kafka:unknown:topic:orders": 1,
      "shop:inbound_channel_adapter:nightly -output-> kafka:unknown:topic:orders": 1,
      "shop:inbound_gateway:shop.producer -output-> kafka:unknown:topic:orders": 1,
    },
  });
});

test.each<readonly [string, (span: Span) => void]>([
  ["a status of error", (span) => span.setStatus({ code: SpanStatusCode.ERROR })],
  ["an error type", (span) => span.setAttribute("error.type", "timeout")],
  ["an exception", (span) => span.recordException(new Error("secret"))],
  ["a failed job", (span) => span.addEvent("job failed")],
])("%s is a failure", (_, fail) => {
  const { start, graph, picture } = setUp();
  const span = start("process", process("orders"));
  fail(span);
  span.end();
  expect(picture().nodes["shop:service_activator:orders.consumer"]).toBe("0 ok, 1 failed");
  expect(JSON.stringify(graph.snapshot())).not.toContain("secret");
});

test("messages that came together count each, once", () => {
  const { start, picture } = setUp();
  start("send", send("orders", { "messaging.batch.message_count": 3 })).end();
  start("send", send("empty", { "messaging.batch.message_count": 0 })).end();
  start("create", send("orders", { "messaging.operation.type": "create" })).end();
  start("settle", process("orders", { "messaging.operation.type": "settle" })).end();
  const receive = { "messaging.operation.type": "receive", "messaging.batch.message_count": 2 };
  // As kafkajs tells of a batch: the span that received it ends first.
  const batch = start("poll", { ...process("orders", receive), kind: SpanKind.CLIENT });
  const each = [1, 2].map(() => start("process", { parent: batch, ...process("orders") }));
  start("send", { parent: batch, ...send("payments") }).end();
  batch.end();
  for (const span of each) span.end();
  start("poll", { ...process("other", receive), kind: SpanKind.CLIENT }).end();
  // Told of one by one elsewhere, so that these are the same messages again.
  start("poll", { ...process("orders", receive), kind: SpanKind.CLIENT }).end();
  expect(picture()).toEqual({
    nodes: {
      "kafka:unknown:topic:orders": "3 ok, 0 failed",
      "kafka:unknown:topic:empty": "0 ok, 0 failed",
      "kafka:unknown:topic:payments": "1 ok, 0 failed",
      "kafka:unknown:topic:other": "0 ok, 0 failed",
      "shop:inbound_gateway:shop.producer": "",
      "shop:service_activator:orders.consumer": "2 ok, 0 failed",
      "shop:service_activator:other.consumer": "2 ok, 0 failed",
    },
    links: {
      "shop:inbound_gateway:shop.producer -output-> kafka:unknown:topic:orders": 3,
      "kafka:unknown:topic:orders -input-> shop:service_activator:orders.consumer": 2,
      "shop:service_activator:orders.consumer -output-> kafka:unknown:topic:payments": 1,
      "kafka:unknown:topic:other -input-> shop:service_activator:other.consumer": 2,
    },
  });
});

test("consumer groups are told apart, and temporary, anonymous and templated destinations put together", () => {
  const { start, picture } = setUp();
  for (const group of ["billing", "audit"])
    start("process", process("orders", { "messaging.consumer.group.name": group })).end();
  for (const id of ["1", "2"]) {
    start("send", send(`user.${id}`, { "messaging.destination.template": "user.{id}" })).end();
    start("send", send(`tmp-${id}`, { "messaging.destination.temporary": true })).end();
    start("send", send(`any-${id}`, { "messaging.destination.anonymous": true })).end();
    start("send", send(`reply-${crypto.randomUUID()}`)).end();
  }
  expect(picture().nodes).toEqual({
    "kafka:unknown:topic:orders": "0 ok, 0 failed",
    "shop:service_activator:billing@orders": "1 ok, 0 failed",
    "shop:service_activator:audit@orders": "1 ok, 0 failed",
    "kafka:unknown:topic:user.{id}": "2 ok, 0 failed",
    "kafka:unknown:topic:(temporary)": "2 ok, 0 failed",
    "kafka:unknown:topic:(anonymous)": "2 ok, 0 failed",
    "kafka:unknown:topic:reply-*": "2 ok, 0 failed",
    "shop:inbound_gateway:shop.producer": "",
  });
});

test("what a Kafka cluster calls itself is learnt late, and its topics stay one", () => {
  const { start, picture } = setUp();
  start("send", send("orders")).end();
  start("send", send("orders", { "messaging.kafka.cluster.id": "C1" })).end();
  start("send", send("orders", { "messaging.kafka.cluster.id": "C2" })).end();
  start("send", send("orders")).end();
  start("send", send("payments")).end();
  expect(picture().nodes).toEqual({
    "kafka:C1:topic:orders": "3 ok, 0 failed",
    "kafka:C1:topic:payments": "1 ok, 0 failed",
    "kafka:C2:topic:orders": "1 ok, 0 failed",
    "shop:inbound_gateway:shop.producer": "",
  });
});

test("nothing is seen before the adapter is attached and after it is detached, and it can be attached again", () => {
  const tracing = openTelemetrySource();
  const provider = new BasicTracerProvider({ spanProcessors: [tracing.spanProcessor] });
  const tracer = provider.getTracer("test");
  const flow = integrationGraph({ app: "shop" });
  const begun = tracer.startSpan("process", process("orders"));
  tracer.startSpan("send", send("orders")).end();
  const detach = flow.attach(tracing);
  begun.end();
  expect(() => flow.attach(tracing)).toThrow("this openTelemetrySource() is attached already");
  expect(picture(flow.graph).nodes).toEqual({
    "kafka:unknown:topic:orders": "0 ok, 0 failed",
    "shop:service_activator:orders.consumer": "1 ok, 0 failed",
  });
  detach();
  tracer.startSpan("send", send("orders")).end();
  expect(picture(flow.graph).nodes).toEqual({});
  const again = flow.attach(tracing);
  tracer.startSpan("send", send("orders")).end();
  expect(picture(flow.graph).nodes).toEqual({
    "kafka:unknown:topic:orders": "1 ok, 0 failed",
    "shop:inbound_gateway:shop.producer": "",
  });
  again();
});

test("components are described, and those that were idle for long leave with a rebuild", async () => {
  const { start, graph, picture } = setUp({ maxAgeMs: 20, sampled: true });
  start("process", process("orders", { "messaging.consumer.group.name": "billing" })).end();
  const described = graph.snapshot().nodes.map(({ componentType, properties }) => [componentType, properties]);
  expect(described).toEqual([
    ["kafka:topic", { sampled: true }],
    ["kafka:consumer", { sampled: true, group: "billing" }],
  ]);
  await new Promise((resolve) => setTimeout(resolve, 40));
  await graph.rebuild();
  expect(picture()).toEqual({ nodes: {}, links: {} });
  start("process", process("orders", { "messaging.consumer.group.name": "billing" })).end();
  expect(picture().nodes["shop:service_activator:billing@orders"]).toBe("1 ok, 0 failed");
});

test("names made up without end neither fill the graph nor slow it down for ever", () => {
  const { start, graph } = setUp({ maxNodes: 50 });
  for (let index = 0; index < 3_000; index++) {
    const request = start(`GET /users/${word(index)}`, { kind: SpanKind.SERVER });
    start("send", { parent: request, ...send(`topic-${word(index)}`) }).end();
    request.end();
  }
  const { nodes } = graph.snapshot();
  expect(nodes.length).toBeLessThanOrEqual(2_000);
  expect(nodes.filter(({ integrationPatternType }) => integrationPatternType === "inbound_gateway").length).toBe(201);
  // 2,800 requests without an endpoint of their own; the graph is full of what they sent.
  expect(graph.collapsed).toBe(2_800);
  expect(graph.dropped.nodes).toBeGreaterThan(0);
});

test("where nothing tells that messages are processed, that they were received is all that counts", () => {
  const { start, picture } = setUp();
  const attributes = { "messaging.system": "aws_sqs", "messaging.destination.name": "jobs", "aws.region": "eu-1" };
  const scope = "@opentelemetry/instrumentation-aws-sdk";
  start("SendMessage", {
    kind: SpanKind.PRODUCER,
    attributes: { ...attributes, "rpc.method": "SendMessage" },
    scope,
  }).end();
  const polled = { ...attributes, "rpc.method": "ReceiveMessage", "messaging.batch.message_count": 4 };
  start("jobs receive", { kind: SpanKind.CONSUMER, attributes: polled, scope }).end();
  expect(picture()).toEqual({
    nodes: {
      "aws_sqs:eu-1:queue:jobs": "1 ok, 0 failed, 4 received",
      "shop:inbound_gateway:shop.producer": "",
      "shop:service_activator:jobs.consumer": "0 ok, 0 failed",
    },
    links: {
      "shop:inbound_gateway:shop.producer -output-> aws_sqs:eu-1:queue:jobs": 1,
      "aws_sqs:eu-1:queue:jobs -input-> shop:service_activator:jobs.consumer": 4,
    },
  });
});

test("who counts may change, and no message counts twice", () => {
  const { flow, start, picture } = setUp();
  const cluster = { "messaging.kafka.cluster.id": "main" };
  const pass = () => {
    const request = start("shop.Orders/Place", { kind: SpanKind.SERVER });
    start("send", { parent: request, ...send("orders", cluster) }).end();
    request.end();
    start("process", process("orders", cluster)).end();
  };
  const other = flow.attach({
    name: "kafkajs",
    attach(host) {
      expect(host.counts("kafka")).toBe(true);
      return () => {};
    },
  });
  pass();
  const sends = "shop:inbound_gateway:shop.Orders/Place -output-> kafka:main:topic:orders";
  const nodes = { "kafka:main:topic:orders": "0 ok, 0 failed", "shop:inbound_gateway:shop.Orders/Place": "" };
  expect(picture()).toEqual({ nodes, links: { [sends]: 0 } });
  other();
  pass();
  expect(picture()).toEqual({
    nodes: {
      ...nodes,
      "kafka:main:topic:orders": "1 ok, 0 failed",
      "shop:service_activator:orders.consumer": "1 ok, 0 failed",
    },
    links: { [sends]: 1, "kafka:main:topic:orders -input-> shop:service_activator:orders.consumer": 1 },
  });
});
