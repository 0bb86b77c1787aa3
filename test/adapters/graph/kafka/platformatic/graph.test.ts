import { channel } from "node:diagnostics_channel";
import { Consumer, Producer, stringDeserializers, stringSerializers } from "@platformatic/kafka";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { platformaticKafkaSource } from "../../../../../src/adapters/graph/kafka/platformatic/index.ts";
import { integrationGraph } from "../../../../../src/integration-graph/builder.ts";
import { kafkaFound, startKafka } from "../../../../support/kafka-server.ts";
import { requirement } from "../../../../support/requirement.ts";
import { kafkaJars, startApacheKafka } from "../kafkajs/apache-kafka.ts";
import { picture, until } from "../kafkajs/support.ts";

let cluster: { readonly brokers: readonly string[]; stop(): Promise<void> };

function producerOf(bootstrapBrokers: string[] = [...cluster.brokers]) {
  const options = { clientId: "test", bootstrapBrokers, retries: 5, retryDelay: 50, autocreateTopics: true };
  const producer = new Producer({ ...options, serializers: stringSerializers });
  onTestFinished(() => producer.close());
  return producer;
}

function setUp() {
  const flow = integrationGraph({ app: "shop" });
  const detach = flow.attach(platformaticKafkaSource());
  onTestFinished(detach);
  return { flow, detach, picture: () => picture(flow.graph.snapshot()) };
}

const message = (topic: string) => ({ topic, key: "secret", value: "secret" });

const servers = [
  { server: "the mock cluster", start: () => startKafka(), found: () => requirement("kcat", kafkaFound) },
  ...(kafkaJars === undefined
    ? []
    : [{ server: "Apache Kafka", start: () => startApacheKafka(kafkaJars!), found: () => true }]),
];
if (kafkaJars === undefined)
  console.warn(
    "left out: Apache Kafka and with it all consumers of @platformatic/kafka, as CONNECT_ACTUATOR_KAFKA_JARS names no folder of its jars",
  );

describe.each(servers.filter(({ found }) => found()))("@platformatic/kafka with $server", ({ start }) => {
  beforeAll(async () => {
    cluster = await start();
  });
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
    const producing = ["producer:sends:start", "producer:sends:asyncStart"];
    const consuming = ["consumer:consumes:asyncStart", "consumer:receives:end"];
    const names = ["base:metadata:asyncEnd", ...producing, ...consuming];
    const heard = () => names.map((name) => channel(`tracing:plt:kafka:${name}`).hasSubscribers);
    expect(heard()).toEqual(names.map(() => true));
    detach();
    detach();
    expect(heard()).toEqual(names.map(() => false));
    await producerOf().send({ messages: [message("a")] });
    expect(picture()).toEqual({ nodes: {}, links: {} });
  });
});

// The mock cluster lets consumers of this library join, and fails when their streams list offsets: these need Apache Kafka.
describe.each(kafkaJars === undefined ? [] : [kafkaJars])(
  "consumers of @platformatic/kafka with Apache Kafka",
  (jars) => {
    beforeAll(async () => {
      cluster = await startApacheKafka(jars);
    });
    afterAll(() => cluster?.stop());

    async function consume(topics: string[]) {
      const options = { clientId: "test", bootstrapBrokers: [...cluster.brokers], autocreateTopics: true };
      const consumer = new Consumer({ ...options, groupId: "billing", deserializers: stringDeserializers });
      onTestFinished(() => consumer.close(true));
      const stream = await consumer.consume({ topics, mode: "earliest", maxWaitTime: 100 });
      return { consumer, stream };
    }

    test("draws a group and its topics before any message, counts what its stream is given, and lets it go", async () => {
      const producer = producerOf();
      await producer.send({ messages: [message("idle")] });
      await producer.send({ messages: [message("orders")] });
      const { flow, detach, picture } = setUp();
      const { consumer, stream } = await consume(["orders", "idle"]);
      expect(picture()).toEqual({
        nodes: {
          "topic orders": "0 ok, 0 failed",
          "topic idle": "0 ok, 0 failed",
          "consumer billing@orders": "0 ok, 0 failed",
          "consumer billing@idle": "0 ok, 0 failed",
        },
        links: {
          "topic orders -input-> consumer billing@orders": 0,
          "topic idle -input-> consumer billing@idle": 0,
        },
      });
      const { id } = await consumer.metadata({ topics: ["orders"] });
      const keys = flow.graph.snapshot().nodes.map(({ key }) => key);
      expect(keys).toContain(`channel:kafka:${id}:topic:orders`);
      let seen = 0;
      stream.on("data", () => seen++);
      await until(() => seen === 2);
      await producer.send({ messages: [message("orders"), message("orders")] });
      await until(() => seen === 4);
      expect(picture()).toEqual({
        nodes: {
          "topic orders": "2 ok, 0 failed",
          "topic idle": "0 ok, 0 failed",
          "gateway shop.producer": "",
          "consumer billing@orders": "3 ok, 0 failed",
          "consumer billing@idle": "1 ok, 0 failed",
        },
        links: {
          "gateway shop.producer -output-> topic orders": 2,
          "topic orders -input-> consumer billing@orders": 3,
          "topic idle -input-> consumer billing@idle": 1,
        },
      });
      expect(JSON.stringify(flow.graph.snapshot())).not.toContain("secret");
      await stream.close();
      await flow.graph.rebuild();
      expect(Object.keys(picture().nodes).filter((name) => name.startsWith("consumer"))).toEqual([]);
      detach();
    });

    test("keeps what another consumer of the group reads, and sees streams that were made before", async () => {
      await producerOf().send({ messages: [message("shared")] });
      const first = await consume(["shared"]);
      const { flow, picture } = setUp();
      first.stream.on("data", () => {});
      await until(() => picture().nodes["consumer billing@shared"] === "1 ok, 0 failed");
      const second = await consume(["shared"]);
      await second.stream.close();
      await flow.graph.rebuild();
      expect(picture()).toEqual({
        nodes: { "topic shared": "0 ok, 0 failed", "consumer billing@shared": "1 ok, 0 failed" },
        links: { "topic shared -input-> consumer billing@shared": 1 },
      });
    });

    test("counts a message as failed where a listener of the stream throws at once", async () => {
      const producer = producerOf();
      await producer.send({ messages: [message("bad")] });
      const { picture } = setUp();
      const { stream } = await consume(["bad"]);
      stream.on("error", () => {});
      stream.on("data", () => {
        throw new Error("bad");
      });
      await until(() => stream.destroyed);
      expect(picture()).toEqual({
        nodes: { "topic bad": "0 ok, 0 failed", "consumer billing@bad": "0 ok, 1 failed" },
        links: { "topic bad -input-> consumer billing@bad": 1 },
      });
    });
  },
);
