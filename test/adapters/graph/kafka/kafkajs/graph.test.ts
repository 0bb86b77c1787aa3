// @module-tag slow
import { type Consumer, type EachBatchPayload, Kafka, logLevel, Partitioners, type Producer } from "kafkajs";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { kafkajsSource } from "../../../../../src/adapters/graph/kafka/kafkajs/index.ts";
import { ActuatorError } from "../../../../../src/common/error.ts";
import { integrationGraph } from "../../../../../src/integration-graph/builder.ts";
import { mergeGraphs } from "../../../../../src/integration-graph/merge.ts";
import { kafkaFound, startKafka } from "../../../../support/kafka-server.ts";
import { requirement } from "../../../../support/requirement.ts";
import { kafkaJars, startApacheKafka } from "./apache-kafka.ts";
import { picture, until } from "./support.ts";

let cluster: { readonly brokers: readonly string[]; stop(): Promise<void> };
let used = 0;

function kafkaOf(): Kafka {
  return new Kafka({
    clientId: "test",
    brokers: [...cluster.brokers],
    logLevel: logLevel.NOTHING,
    retry: { initialRetryTime: 50, retries: 8 },
  });
}

/** An application with a graph, and names of topics and groups of its own. */
function setUp(app = "shop", prefix = `t${++used}.`) {
  const kafka = kafkaOf();
  const flow = integrationGraph({ app });
  const detach = flow.attach(kafkajsSource(kafka));
  return { kafka, flow, detach, prefix, picture: () => pictureOf(flow.graph.snapshot(), prefix) };
}

/** The picture, without what makes names unique among the tests. */
function pictureOf(snapshot: Parameters<typeof picture>[0], prefix: string): ReturnType<typeof picture> {
  return JSON.parse(JSON.stringify(picture(snapshot)).replaceAll(prefix, ""));
}

async function producerOf(kafka: Kafka, options = {}): Promise<Producer> {
  const producer = kafka.producer({ createPartitioner: Partitioners.DefaultPartitioner, ...options });
  onTestFinished(() => producer.disconnect());
  await producer.connect();
  return producer;
}

/** Apache Kafka makes a topic when it is asked for one that is not there, and does not have it at once. */
async function subscribed(consumer: Consumer, topics: (string | RegExp)[], fromBeginning: boolean): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await consumer.subscribe({ topics, fromBeginning });
    } catch (error) {
      if (attempt === 300 || !/does not host|leadership election/.test(String(error))) throw error;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}

async function consumerOf(
  kafka: Kafka,
  groupId: string,
  topics: (string | RegExp)[],
  fromBeginning = true,
): Promise<Consumer> {
  const consumer = kafka.consumer({
    groupId,
    heartbeatInterval: 200,
    maxWaitTimeInMs: 50,
    retry: { initialRetryTime: 20, retries: 8 },
  });
  onTestFinished(() => consumer.disconnect());
  await consumer.connect();
  await subscribed(consumer, topics, fromBeginning);
  return consumer;
}

const messages = (...values: string[]) => values.map((value) => ({ value, key: "secret", partition: 0 }));

const servers = [
  { server: "the mock cluster", start: () => startKafka(), found: () => requirement("kcat", kafkaFound) },
  ...(kafkaJars === undefined
    ? []
    : [{ server: "Apache Kafka", start: () => startApacheKafka(kafkaJars!), found: () => true }]),
];
if (kafkaJars === undefined)
  console.warn("left out: Apache Kafka, as CONNECT_ACTUATOR_KAFKA_JARS names no folder of its jars");

describe.each(servers.filter(({ found }) => found()))("kafkajs with $server", { timeout: 60_000 }, ({ start }) => {
  beforeAll(async () => {
    cluster = await start();
  });
  afterAll(() => cluster?.stop());

  test("draws two groups on a topic, a handler that sends on and one that fails, before any message and after", async () => {
    const { kafka, flow, prefix, picture } = setUp();
    const billing = await consumerOf(kafka, `${prefix}billing`, [`${prefix}orders`]);
    const audit = await consumerOf(kafka, `${prefix}audit`, [`${prefix}orders`]);
    const before = {
      nodes: {
        "topic orders": "0 ok, 0 failed",
        "consumer billing@orders": "0 ok, 0 failed",
        "consumer audit@orders": "0 ok, 0 failed",
      },
      links: {
        "topic orders -input-> consumer billing@orders": 0,
        "topic orders -input-> consumer audit@orders": 0,
      },
    };
    expect(picture()).toEqual(before);

    const producer = await producerOf(kafka);
    let [billed, failed] = [0, 0];
    await billing.run({
      eachMessage: async ({ message }) => {
        await Promise.resolve();
        if (message.value?.toString() === "bad" && failed++ === 0) throw new Error("secret");
        await producer.send({ topic: `${prefix}payments`, messages: messages("paid") });
        billed++;
      },
    });
    let audited = 0;
    await audit.run({
      // kafkajs awaits what the function gives back: one that throws at once is another case.
      eachMessage: (() => {
        if (++audited === 1) throw new Error("thrown");
      }) as never,
    });
    await producer.send({ topic: `${prefix}orders`, messages: messages("good", "bad") });
    await until(() => billed === 2 && audited === 3);
    const totals = () => picture().links["topic orders -input-> consumer audit@orders"];
    await until(() => totals() === 3 && picture().links["topic orders -input-> consumer billing@orders"] === 3);

    const after = {
      nodes: {
        "topic orders": "2 ok, 0 failed",
        "topic payments": "2 ok, 0 failed",
        "consumer billing@orders": "2 ok, 1 failed",
        "consumer audit@orders": "2 ok, 1 failed",
        "gateway shop.producer": "",
      },
      links: {
        "topic orders -input-> consumer billing@orders": 3,
        "topic orders -input-> consumer audit@orders": 3,
        "consumer billing@orders -output-> topic payments": 2,
        "gateway shop.producer -output-> topic orders": 2,
      },
    };
    expect(picture()).toEqual(after);
    expect(JSON.stringify(flow.graph.snapshot())).not.toContain("secret");

    // A pause keeps what is drawn; what the application disconnects goes at a rebuild.
    audit.pause([{ topic: `${prefix}orders` }]);
    await flow.graph.rebuild();
    expect(picture()).toEqual(after);
    await audit.disconnect();
    await flow.graph.rebuild();
    expect(Object.keys(picture().nodes)).not.toContain("consumer audit@orders");
    expect(Object.keys(picture().nodes)).toContain("consumer billing@orders");
  });

  test("counts the messages of batches, sent and handled", async () => {
    const { kafka, prefix, picture } = setUp();
    const producer = await producerOf(kafka);
    await producer.sendBatch({
      topicMessages: [
        { topic: `${prefix}a`, messages: messages("1", "2", "3") },
        { topic: `${prefix}b`, messages: messages("4") },
      ],
    });
    const consumer = await consumerOf(kafka, `${prefix}g`, [`${prefix}a`]);
    let calls = 0;
    await consumer.run({
      async eachBatch({ batch }: EachBatchPayload) {
        expect(batch.messages).toHaveLength(3);
        if (++calls === 1) throw new Error("all of them again");
      },
    });
    await until(() => picture().links["topic a -input-> consumer g@a"] === 6);
    expect(picture()).toEqual({
      nodes: {
        "topic a": "3 ok, 0 failed",
        "topic b": "1 ok, 0 failed",
        "consumer g@a": "3 ok, 3 failed",
        "gateway shop.producer": "",
      },
      links: {
        "topic a -input-> consumer g@a": 6,
        "gateway shop.producer -output-> topic a": 3,
        "gateway shop.producer -output-> topic b": 1,
      },
    });
  });

  test("learns what a regular expression stands for, before any message", async () => {
    const { kafka, prefix, picture } = setUp();
    const other = await producerOf(kafkaOf());
    for (const name of ["eu", "us"]) await other.send({ topic: `${prefix}${name}`, messages: messages("1") });
    const consumer = await consumerOf(kafka, `${prefix}g`, [new RegExp(`^${prefix.replace(".", "\\.")}`)], false);
    await consumer.run({ eachMessage: async () => {} });
    await until(() => Object.keys(picture().links).length === 2);
    expect(Object.keys(picture().links).sort()).toEqual([
      "topic eu -input-> consumer g@eu",
      "topic us -input-> consumer g@us",
    ]);
    expect(Object.values(picture().links)).toEqual([0, 0]);
  });

  test("takes a consumer that is given alone: its group is known when it has joined", async () => {
    const prefix = `t${++used}.`;
    const flow = integrationGraph({ app: "shop" });
    const kafka = kafkaOf();
    const consumer = kafka.consumer({ groupId: `${prefix}g`, maxWaitTimeInMs: 50 });
    onTestFinished(() => consumer.disconnect());
    flow.attach(kafkajsSource(consumer, { clusterId: "mine" }));
    await consumer.connect();
    await subscribed(consumer, [`${prefix}a`], true);
    expect(picture(flow.graph.snapshot()).nodes).toEqual({});
    await consumer.run({ eachMessage: async () => {} });
    await until(() => flow.graph.snapshot().nodes.length === 2);
    expect(pictureOf(flow.graph.snapshot(), prefix).links).toEqual({ "topic a -input-> consumer g@a": 0 });
    expect(keys(flow)).toContain(`channel:kafka:mine:topic:${prefix}a`);
  });

  test("counts what a producer could not send as failed", async () => {
    const { kafka, prefix, picture } = setUp();
    const producer = kafka.producer({ createPartitioner: Partitioners.DefaultPartitioner });
    await expect(producer.send({ topic: `${prefix}a`, messages: messages("1", "2") })).rejects.toThrow("disconnected");
    expect(picture().nodes).toMatchObject({ "topic a": "0 ok, 2 failed" });
  });

  test("sees what a transaction sends", async () => {
    const { kafka, prefix, picture } = setUp();
    const producer = await producerOf(kafka, {
      transactionalId: `${prefix}tx`,
      maxInFlightRequests: 1,
    });
    const transaction = await producer.transaction();
    await transaction.send({ topic: `${prefix}a`, messages: messages("1", "2") });
    await transaction.commit();
    expect(picture().nodes).toMatchObject({ "topic a": "2 ok, 0 failed" });
  });

  test("makes one chain of two applications, by the cluster's id", async () => {
    const prefix = `t${++used}.`;
    const [shop, billing] = [setUp("shop", prefix), setUp("billing", prefix)];
    const admin = kafkaOf().admin();
    await admin.connect();
    const { clusterId } = await admin.describeCluster();
    await admin.disconnect();
    const producer = await producerOf(shop.kafka);
    const consumer = await consumerOf(billing.kafka, `${prefix}billing`, [`${prefix}orders`]);
    let seen = 0;
    await consumer.run({ eachMessage: async () => void seen++ });
    await producer.send({ topic: `${prefix}orders`, messages: messages("1") });
    const key = `channel:kafka:${clusterId}:topic:${prefix}orders`;
    await until(() => seen === 1 && keys(shop.flow).includes(key) && keys(billing.flow).includes(key));
    await until(() => billing.picture().links["topic orders -input-> consumer billing@orders"] === 1);
    const merged = mergeGraphs([
      { instance: "1", graph: shop.flow.graph.snapshot() },
      { instance: "2", graph: billing.flow.graph.snapshot() },
    ]);
    expect(pictureOf(merged, prefix)).toEqual({
      nodes: {
        "gateway shop.producer": "",
        "topic orders": "1 ok, 0 failed",
        "consumer billing@orders": "1 ok, 0 failed",
      },
      links: {
        "gateway shop.producer -output-> topic orders": 1,
        "topic orders -input-> consumer billing@orders": 1,
      },
    });
  });

  test("leaves the library as it was", async () => {
    const { kafka, detach, prefix, picture, flow } = setUp();
    const plain = kafkaOf();
    const producer = await producerOf(kafka);
    const consumer = await consumerOf(kafka, `${prefix}g`, [`${prefix}a`]);
    expect(Object.keys({ ...producer })).toEqual(Object.keys(plain.producer()));
    const methods = [producer.send, consumer.run];
    let seen = 0;
    await consumer.run({ eachMessage: async () => void seen++ });
    expect(() => flow.attach(kafkajsSource(producer))).toThrow(ActuatorError);
    detach();
    detach();
    expect(Object.getOwnPropertyNames(kafka)).toEqual(Object.getOwnPropertyNames(plain));
    expect(Object.getOwnPropertyDescriptors(producer)).toMatchObject(
      Object.fromEntries(Object.keys(plain.producer()).map((name) => [name, { enumerable: true, writable: true }])),
    );
    expect(Object.keys(consumer)).toEqual(Object.keys(plain.consumer({ groupId: "g" })));
    expect([producer.send, consumer.run]).not.toEqual(methods);
    await producer.send({ topic: `${prefix}a`, messages: messages("1") });
    await until(() => seen === 1);
    expect(picture()).toEqual({ nodes: {}, links: {} });
  });

  test("refuses what is not of kafkajs", () => {
    expect(() => kafkajsSource({} as never)).toThrow(ActuatorError);
  });
});

function keys({ graph }: ReturnType<typeof integrationGraph>): readonly unknown[] {
  return graph.snapshot().nodes.map(({ key }) => key);
}
