import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { Producer, stringSerializers } from "@platformatic/kafka";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { integrationGraph } from "../../src/integration-graph/builder.ts";
import { platformaticKafka } from "../../src/platformatic-kafka/index.ts";
import { picture } from "../kafkajs/support.ts";
import { type KafkaCluster, kafkaFound, startKafka } from "../support/kafka-server.ts";
import { requirement } from "../support/requirement.ts";

let cluster: KafkaCluster;

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
describe.runIf(requirement("kcat", kafkaFound))("@platformatic/kafka", { timeout: 30_000 }, () => {
  beforeAll(async () => {
    cluster = await startKafka();
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
    const heard = () => {};
    subscribe("tracing:plt:kafka:producer:sends:start", heard);
    detach();
    detach();
    expect(unsubscribe("tracing:plt:kafka:producer:sends:start", heard)).toBe(true);
    await producerOf().send({ messages: [message("a")] });
    expect(picture()).toEqual({ nodes: {}, links: {} });
  });
});
