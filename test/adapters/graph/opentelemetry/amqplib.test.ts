// @module-tag slow
import { createRequire } from "node:module";
import { SpanKind, trace } from "@opentelemetry/api";
import { AmqplibInstrumentation } from "@opentelemetry/instrumentation-amqplib";
import {
  InMemorySpanExporter,
  ParentBasedSampler,
  type Sampler,
  SimpleSpanProcessor,
  TraceIdRatioBasedSampler,
} from "@opentelemetry/sdk-trace-base";
import type * as Amqp from "amqplib";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { amqplibSource } from "../../../../src/adapters/graph/amqplib/index.ts";
import {
  type OpenTelemetryOptions,
  openTelemetrySource,
  recordAll,
} from "../../../../src/adapters/graph/opentelemetry/index.ts";
import { integrationGraph } from "../../../../src/integration-graph/builder.ts";
import { type RabbitmqServer, rabbitmqFound, startRabbitmq } from "../../../support/rabbitmq-server.ts";
import { requirement } from "../../../support/requirement.ts";
import { instrument, picture, register, until } from "./support.ts";

const vhosts = Array.from({ length: 10 }, (_, index) => `v${index}`);
let free = vhosts.length;
let broker: RabbitmqServer;
let library: typeof Amqp;

interface SetUp extends OpenTelemetryOptions {
  readonly sampler?: Sampler;
  readonly adapter?: boolean;
}

async function setUp({ sampler, adapter, ...options }: SetUp = {}) {
  const tracing = openTelemetrySource(options);
  const exporter = new InMemorySpanExporter();
  const spanProcessors = [tracing.spanProcessor, new SimpleSpanProcessor(exporter)];
  register({ spanProcessors, ...(sampler && { sampler }) });
  const vhost = vhosts[--free]!;
  const connection = await library.connect(broker.vhostUrl(vhost).replace("127.0.0.1", "localhost"));
  onTestFinished(() => connection.close());
  const flow = integrationGraph({ app: "shop" });
  const detach = flow.attach(tracing);
  if (adapter) flow.attach(amqplibSource(connection, { vhost }));
  const channel = await connection.createChannel();
  const key = (kind: string, name: string, at = `127.0.0.1:${broker.port}`) =>
    `rabbitmq:${at.replaceAll(":", "%3A")}:${kind}:${vhost}/${name}`;
  return {
    vhost,
    connection,
    flow,
    graph: flow.graph,
    detach,
    channel,
    exporter,
    key,
    picture: () => picture(flow.graph),
  };
}

const body = Buffer.from("secret");
const tracer = () => trace.getTracer("test");

/** A request in whose handler `work` runs. */
const serve = <R>(name: string, kind: SpanKind, work: () => R) =>
  tracer().startActiveSpan(name, { kind, root: true }, (span) => {
    const result = work();
    span.end();
    return result;
  });

describe.runIf(requirement("rabbitmq-server", rabbitmqFound))("spans of amqplib", () => {
  beforeAll(async () => {
    // The instrumentation sees what is loaded by `require` after it.
    instrument(new AmqplibInstrumentation());
    library = createRequire(import.meta.url)("amqplib");
    broker = await startRabbitmq({ vhosts, clusterName: "main" });
  });
  afterAll(() => broker?.stop());

  test("draw a whole application", async () => {
    const { channel, connection, key, picture, graph } = await setUp();
    await channel.assertExchange("orders", "topic");
    await channel.assertExchange("dlx", "fanout");
    for (const [queue, exchange] of [
      ["billing", "orders"],
      ["audit", "orders"],
      ["dead", "dlx"],
    ] as const) {
      await channel.assertQueue(queue, queue === "billing" ? { deadLetterExchange: "dlx" } : {});
      await channel.bindQueue(queue, exchange, "#");
    }
    await channel.assertQueue("quote");
    const { queue: replies } = await channel.assertQueue("", { exclusive: true });
    const confirming = await connection.createConfirmChannel();
    await confirming.assertExchange("payments", "direct");
    let ended = 0;
    await channel.consume("billing", async (message) => {
      await new Promise((resolve) => setTimeout(resolve, 2));
      if (message!.content.toString() === "bad") return channel.nack(message!, false, false);
      await tracer().startActiveSpan("charge", async (span) => {
        channel.sendToQueue("quote", body, { replyTo: replies });
        await new Promise<void>((resolve) => confirming.publish("payments", "paid", body, {}, () => resolve()));
        span.end();
      });
      channel.ack(message!);
    });
    await channel.consume("quote", (message) => {
      channel.sendToQueue(message!.properties.replyTo, body);
      channel.ack(message!);
    });
    const count = (message: Amqp.ConsumeMessage | null) => {
      channel.ack(message!);
      ended++;
    };
    await channel.consume("audit", count);
    await channel.consume("dead", count);
    await channel.consume(replies, () => ended++, { noAck: true });

    serve("POST /orders", SpanKind.SERVER, () => channel.publish("orders", "new", body));
    serve("nightly", SpanKind.INTERNAL, () => channel.publish("orders", "new", body));
    channel.publish("orders", "new", Buffer.from("bad"));
    await until(() => ended === 3 + 1 + 2);

    expect(picture()).toEqual({
      nodes: {
        [key("exchange", "orders")]: "3 ok, 0 failed",
        [key("exchange", "dlx")]: "0 ok, 0 failed",
        [key("exchange", "payments")]: "2 ok, 0 failed",
        [key("queue", "billing")]: "0 ok, 0 failed",
        [key("queue", "audit")]: "0 ok, 0 failed",
        [key("queue", "dead")]: "0 ok, 0 failed",
        [key("queue", "quote")]: "2 ok, 0 failed",
        [key("queue", "amq.gen-*")]: "2 ok, 0 failed",
        "shop:inbound_gateway:POST /orders": "",
        "shop:inbound_channel_adapter:nightly": "1 received",
        "shop:inbound_gateway:shop.producer": "",
        "shop:service_activator:billing.consumer": "2 ok, 1 failed",
        "shop:service_activator:audit.consumer": "3 ok, 0 failed",
        "shop:service_activator:dead.consumer": "1 ok, 0 failed",
        "shop:service_activator:quote.consumer": "2 ok, 0 failed",
        "shop:service_activator:amq.gen-*.consumer": "2 ok, 0 failed",
      },
      links: {
        [`shop:inbound_gateway:POST /orders -output-> ${key("exchange", "orders")}`]: 1,
        [`shop:inbound_channel_adapter:nightly -output-> ${key("exchange", "orders")}`]: 1,
        [`shop:inbound_gateway:shop.producer -output-> ${key("exchange", "orders")}`]: 1,
        [`${key("exchange", "orders")} -route-> ${key("queue", "billing")}`]: 3,
        [`${key("exchange", "orders")} -route-> ${key("queue", "audit")}`]: 3,
        [`${key("exchange", "dlx")} -route-> ${key("queue", "dead")}`]: 1,
        [`${key("queue", "billing")} -input-> shop:service_activator:billing.consumer`]: 3,
        [`${key("queue", "audit")} -input-> shop:service_activator:audit.consumer`]: 3,
        [`${key("queue", "dead")} -input-> shop:service_activator:dead.consumer`]: 1,
        [`shop:service_activator:billing.consumer -output-> ${key("queue", "quote")}`]: 2,
        [`shop:service_activator:billing.consumer -output-> ${key("exchange", "payments")}`]: 2,
        [`${key("queue", "quote")} -input-> shop:service_activator:quote.consumer`]: 2,
        [`shop:service_activator:quote.consumer -output-> ${key("queue", "amq.gen-*")}`]: 2,
        [`${key("queue", "amq.gen-*")} -input-> shop:service_activator:amq.gen-*.consumer`]: 2,
      },
    });
    expect(JSON.stringify(graph.snapshot())).not.toMatch(/secret|guest/);
  });

  test("count nothing that the library's adapter counts, and show the request that sent", async () => {
    const { channel, key, picture, detach } = await setUp({ adapter: true });
    const at = (kind: string, name: string) => key(kind, name, "main");
    await channel.assertExchange("orders", "fanout");
    await channel.assertQueue("billing");
    await channel.bindQueue("billing", "orders", "");
    let ended = 0;
    await channel.consume("billing", async function bill(message) {
      await new Promise((resolve) => setTimeout(resolve, 1));
      channel.publish("payments", "", body);
      channel.ack(message!);
      ended++;
    });
    await channel.assertExchange("payments", "fanout");
    for (let index = 0; index < 5; index++) {
      serve("POST /orders", SpanKind.SERVER, () => channel.publish("orders", "", body));
    }
    await until(() => ended === 5);
    const both = {
      nodes: {
        [at("exchange", "orders")]: "5 ok, 0 failed",
        [at("queue", "billing")]: "0 ok, 0 failed",
        [at("exchange", "payments")]: "5 ok, 0 failed",
        "shop:service_activator:billing.bill": "5 ok, 0 failed",
        "shop:inbound_gateway:shop.producer": "",
        "shop:inbound_gateway:POST /orders": "",
      },
      links: {
        [`${at("exchange", "orders")} -route-> ${at("queue", "billing")}`]: 5,
        [`${at("queue", "billing")} -input-> shop:service_activator:billing.bill`]: 5,
        [`shop:service_activator:billing.bill -output-> ${at("exchange", "payments")}`]: 5,
        [`shop:inbound_gateway:shop.producer -output-> ${at("exchange", "orders")}`]: 5,
        [`shop:inbound_gateway:POST /orders -output-> ${at("exchange", "orders")}`]: 0,
      },
    };
    expect(picture()).toEqual(both);
    detach();
    const { "shop:inbound_gateway:POST /orders": _, ...nodes } = both.nodes;
    expect(picture().nodes).toEqual(nodes);
  });

  const onePercent = () => new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(0.01) });
  test.each<readonly [string, SetUp, (sent: number, exported: number) => void]>([
    [
      "with 1 % sampled only those are counted, which the nodes say",
      { sampler: onePercent(), sampled: true },
      (sent, exported) => {
        expect(sent).toBeLessThan(100);
        expect(exported).toBe(sent);
      },
    ],
    [
      "with recordAll all are counted, and 1 % exported",
      { sampler: recordAll(onePercent()) },
      (sent, exported) => {
        expect(sent).toBe(1_000);
        expect(exported).toBeLessThan(100);
      },
    ],
  ])("%s", async (_, options, check) => {
    const { channel, graph, exporter } = await setUp(options);
    await channel.assertExchange("orders", "fanout");
    await channel.assertQueue("billing");
    await channel.bindQueue("billing", "orders", "");
    let ended = 0;
    await channel.consume("billing", (message) => {
      channel.ack(message!);
      ended++;
    });
    for (let index = 0; index < 1_000; index++) channel.publish("orders", "", body);
    await until(() => ended === 1_000);
    const { nodes } = graph.snapshot();
    const count = (type: string) =>
      nodes.find(({ componentType }) => componentType === type)?.sendTimers?.successes.count ?? 0;
    const published = exporter.getFinishedSpans().filter(({ kind }) => kind === SpanKind.PRODUCER).length;
    check(count("amqp:exchange"), published);
    expect(count("amqp:consumer")).toBe(count("amqp:exchange"));
    const sampled = nodes.map(({ properties }) => properties.sampled);
    expect(new Set(sampled)).toEqual(
      new Set(options.sampled && nodes.length > 0 ? [true] : nodes.map(() => undefined)),
    );
  });
});
