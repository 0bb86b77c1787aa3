import { channel } from "node:diagnostics_channel";
import { Producer, stringSerializers } from "@platformatic/kafka";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { integrationGraph } from "../../src/integration-graph/builder.ts";
import { platformaticKafka } from "../../src/platformatic-kafka/index.ts";
import { kafkaJars, startApacheKafka } from "../kafkajs/apache-kafka.ts";
import { picture } from "../kafkajs/support.ts";
import { kafkaFound, startKafka } from "../support/kafka-server.ts";
import { requirement } from "../support/requirement.ts";

let cluster: { readonly brokers: readonly string[]; stop(): Promise<void> };

function producerOf(bootstrapBrokers: string[] = [...cluster.brokers]) {
  const options = { clientId: "test", bootstrapBrokers, retries: 5, retryDelay: 50, autocreateTopics: true };
  const producer = new Producer({ ...options, serializers: stringSerializers });
  onTestFinished(() => producer.close());
  return producer;
}

function setUp() {
  const flow = integrationGraph({ app: "shop" });
  const detach = flow.attach(platformaticKafka());
  onTestFinished(detach);
  return { flow, detach, picture: () => picture(flow.graph.snapshot()) };
}

const message = (topic: string) => ({ topic, key: "secret", value: "secret" });

// The mock cluster is too old for consumers of this library.
const servers = [
  { server: "the mock cluster", start: () => startKafka(), found: () => requirement("kcat", kafkaFound) },
  ...(kafkaJars === undefined
    ? []
    : [{ server: "Apache Kafka", start: () => startApacheKafka(kafkaJars!), found: () => true }]),
];
if (kafkaJars === undefined)
  console.warn("left out: Apache Kafka, as CONNECT_ACTUATOR_KAFKA_JARS names no folder of its jars");

describe.each(servers.filter(({ found }) => found()))(
  "@platformatic/kafka with $server",
  { timeout: 30_000 },
  ({ start }) => {
    beforeAll(async () => {
      cluster = await start();
    }, 60_000);
    afterAll(() => cluster?.stop());

    test("draws what producers send, on behalf of the handler that sends", async () => {
      const producer = producerOf();
      const { flow, picture } = setUp();
      expect(picture()).toEqual({ nodes: {}, links: {} });
      await producer.send({ messages: [message("a"), message("a"), message("b")] });
      const bill = flow.serviceActivator("bill", {});
      await bill.handle(async () => producer.send({ messages: [message("b")] }))();
      const snapshot = flow.graph.snapshot();
      expect(picture()).toEqual({
        nodes: {
          "topic a": "2 ok, 0 failed",
          "topic b": "2 ok, 0 failed",
          "gateway shop.producer": "",
          "service-activator bill": "1 ok, 0 failed",
        },
        links: {
          "gateway shop.producer -output-> topic a": 2,
          "gateway shop.producer -output-> topic b": 1,
          "service-activator bill -output-> topic b": 1,
        },
      });
      expect(JSON.stringify(snapshot)).not.toContain("secret");
      const { id } = await producer.metadata({ topics: ["a"] });
      expect(snapshot.nodes.map(({ key }) => key)).toContain(`channel:kafka:${id}:topic:a`);
    });

    test("counts what could not be sent as failed", async () => {
      const { picture } = setUp();
      const gone = await startKafka();
      await gone.stop();
      await expect(producerOf([...gone.brokers]).send({ messages: [message("a")] })).rejects.toThrow();
      expect(picture().nodes).toMatchObject({ "topic a": "0 ok, 1 failed" });
    });

    test("is silent when it is detached", async () => {
      const { detach, picture } = setUp();
      const names = ["base:metadata:asyncEnd", "producer:sends:start", "producer:sends:asyncStart"];
      const heard = () => names.map((name) => channel(`tracing:plt:kafka:${name}`).hasSubscribers);
      expect(heard()).toEqual([true, true, true]);
      detach();
      detach();
      expect(heard()).toEqual([false, false, false]);
      await producerOf().send({ messages: [message("a")] });
      expect(picture()).toEqual({ nodes: {}, links: {} });
    });
  },
);
