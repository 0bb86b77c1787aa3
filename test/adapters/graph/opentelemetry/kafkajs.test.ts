// @module-tag slow
import { createRequire } from "node:module";
import { trace } from "@opentelemetry/api";
import { KafkaJsInstrumentation } from "@opentelemetry/instrumentation-kafkajs";
import type * as KafkaJs from "kafkajs";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { openTelemetrySource } from "../../../../src/adapters/graph/opentelemetry/index.ts";
import { integrationGraph } from "../../../../src/integration-graph/builder.ts";
import { type KafkaCluster, kafkaFound, startKafka } from "../../../support/kafka-server.ts";
import { requirement } from "../../../support/requirement.ts";
import { instrument, picture, register, until } from "./support.ts";

let cluster: KafkaCluster;
let library: typeof KafkaJs;

async function setUp() {
  const tracing = openTelemetrySource();
  register({ spanProcessors: [tracing.spanProcessor] });
  const flow = integrationGraph({ app: "shop" });
  flow.attach(tracing);
  const kafka = new library.Kafka({
    clientId: "shop",
    brokers: [...cluster.brokers],
    logLevel: library.logLevel.NOTHING,
    retry: { initialRetryTime: 20 },
  });
  const producer = kafka.producer({ createPartitioner: library.Partitioners.DefaultPartitioner });
  onTestFinished(() => producer.disconnect());
  /** Consumes a topic from its beginning. */
  async function consume(groupId: string, topic: string, run: KafkaJs.ConsumerRunConfig) {
    const consumer = kafka.consumer({ groupId });
    onTestFinished(() => consumer.disconnect());
    await consumer.connect();
    await consumer.subscribe({ topic, fromBeginning: true });
    await consumer.run(run);
  }
  return { kafka, producer, consume, graph: flow.graph, picture: () => picture(flow.graph) };
}

const messages = (count: number) => Array.from({ length: count }, (_, index) => ({ key: "secret", value: `${index}` }));
/** What the application may tell of the consumer's group, as kafkajs's instrumentation does not. */
const tell = (group: string) => trace.getActiveSpan()!.setAttribute("messaging.consumer.group.name", group);

describe.runIf(requirement("kcat", kafkaFound))("spans of kafkajs", () => {
  beforeAll(async () => {
    instrument(new KafkaJsInstrumentation());
    library = createRequire(import.meta.url)("kafkajs");
    cluster = await startKafka();
  });
  afterAll(() => cluster?.stop());

  test("draw a whole application", async () => {
    const { producer, consume, picture, graph } = await setUp();
    // Before it is connected, nobody knows what the cluster calls itself.
    await producer.send({ topic: "orders", messages: messages(1) }).catch(() => {});
    await producer.connect();
    await producer.send({ topic: "orders", messages: messages(4) });
    let handled = 0;
    let tries = 0;
    const consuming = [
      consume("billing", "orders", {
        eachMessage: async () => {
          tell("billing");
          await producer.send({ topic: "payments", messages: messages(1) });
          handled++;
        },
      }),
      consume("audit", "orders", {
        eachMessage: async ({ message }) => {
          tell("audit");
          if (message.value!.toString() === "2" && tries++ === 0) throw new Error("secret");
          handled++;
        },
      }),
      consume("ledger", "payments", {
        eachBatch: async ({ batch }) => {
          await producer.send({ topic: "ledger", messages: messages(batch.messages.length) });
          handled += batch.messages.length;
        },
      }),
    ];
    await Promise.all(consuming);
    await until(() => handled === 12);
    const consumers = ["billing@orders", "audit@orders", "payments.consumer"];
    await until(() => {
      const { nodes } = graph.snapshot();
      return consumers.every((name) => nodes.find((node) => node.name === name)?.sendTimers?.successes.count === 4);
    });
    const [cluster] = Object.keys(picture().nodes)
      .find((key) => key.endsWith(":topic:orders"))!
      .split(":topic:");
    const key = (topic: string) => `${cluster}:topic:${topic}`;
    expect(cluster).toMatch(/^kafka:(?!unknown)/);
    expect(picture()).toEqual({
      nodes: {
        [key("orders")]: "4 ok, 1 failed",
        [key("payments")]: "4 ok, 0 failed",
        [key("ledger")]: "4 ok, 0 failed",
        "shop:inbound_gateway:shop.producer": "",
        "shop:service_activator:billing@orders": "4 ok, 0 failed",
        "shop:service_activator:audit@orders": "4 ok, 1 failed",
        "shop:service_activator:payments.consumer": "4 ok, 0 failed",
      },
      links: {
        [`shop:inbound_gateway:shop.producer -output-> ${key("orders")}`]: 5,
        [`${key("orders")} -input-> shop:service_activator:billing@orders`]: 4,
        [`${key("orders")} -input-> shop:service_activator:audit@orders`]: 5,
        [`shop:service_activator:billing@orders -output-> ${key("payments")}`]: 4,
        [`${key("payments")} -input-> shop:service_activator:payments.consumer`]: 4,
        [`shop:service_activator:payments.consumer -output-> ${key("ledger")}`]: 4,
      },
    });
    expect(JSON.stringify(graph.snapshot())).not.toContain("secret");
  });
});
