// @module-tag slow

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { RunOptions } from "../../support/auto-application.ts";
import {
  besideOpenTelemetry,
  type Form,
  graphOf,
  type MessagingApplication,
  runMessaging,
} from "../../support/auto-messaging.ts";
import { type KafkaCluster, kafkaFound, startKafka } from "../../support/kafka-server.ts";
import { requirement } from "../../support/requirement.ts";

/** Only the application itself may ask the cluster for anything. */
const KAFKAJS = `
  library.Kafka.prototype.admin = () => console.log("asked");
  const kafka = new library.Kafka({ brokers: process.env.BROKERS.split(","), logLevel: 0, retry: { initialRetryTime: 20 } });
  WATCH(kafka);
  const producer = kafka.producer();
  await producer.connect();
  await producer.sendBatch({ topicMessages: [{ topic: process.env.GROUP, messages: [{ value: "1" }, { value: "2" }] }] });
  const consumer = kafka.consumer({ groupId: process.env.GROUP, heartbeatInterval: 200, maxWaitTimeInMs: 50 });
  await consumer.subscribe({ topic: process.env.GROUP, fromBeginning: true });
  let handled = 0;
  await new Promise((resolve) => consumer.run({ eachMessage: async () => {
    await producer.send({ topic: "mails", messages: [{ value: "3" }] });
    if (++handled === 2) setTimeout(resolve, 0);
  } }));
  if (process.env.INSTRUMENTED && !Object.getPrototypeOf(kafka).producer.__wrapped) throw new Error("not instrumented");
`;

const PLATFORMATIC = `
  const producer = new library.Producer({ clientId: "shop", bootstrapBrokers: process.env.BROKERS.split(",") });
  await producer.metadata({ topics: ["parcels"], autocreateTopics: true });
  await producer.send({ messages: [{ topic: "parcels", key: Buffer.from("1"), value: Buffer.from("1") }] });
`;

/** What kafkajs writes to the standard error by itself. */
const QUIET = { KAFKAJS_NO_PARTITIONER_WARNING: "1", NODE_NO_WARNINGS: "1" };

describe.runIf(requirement("kcat", kafkaFound))("Kafka", () => {
  let server: KafkaCluster;
  beforeAll(async () => {
    server = await startKafka();
  });
  afterAll(() => server.stop());

  const kafkajs = (): MessagingApplication => ({
    library: "kafkajs",
    as: "library",
    body: KAFKAJS,
    close: "Promise.all([consumer.disconnect(), producer.disconnect()])",
    source: ["kafkajsSource", "kafka/kafkajs/index.ts"],
    env: { BROKERS: server.brokers.join(), ...QUIET },
  });
  const platformatic = (): MessagingApplication => ({
    library: "@platformatic/kafka",
    as: "library",
    body: PLATFORMATIC,
    close: "producer.close()",
    source: ["platformaticKafkaSource", "kafka/platformatic/index.ts"],
    env: { BROKERS: server.brokers.join() },
  });

  let groups = 0;

  /**
   * The test cluster takes no second member into a group, so each has its own, and a topic of the same name; the graph shows both as
   * "group".
   */
  async function kafkajsGraph(form: Form, { env, ...options }: RunOptions = {}) {
    const group = `group${++groups}`;
    const graph = await graphOf(runMessaging(form, kafkajs(), { ...options, env: { ...env, GROUP: group } }));
    const text = graph.nodes
      .filter(({ name }) => name.includes(group))
      .reduce(
        (json, { nodeId, name }) => json.replaceAll(`:${nodeId}`, `:${JSON.stringify(name)}`),
        JSON.stringify(graph),
      );
    return JSON.parse(text.replaceAll(group, "group"));
  }

  test("kafkajs: an unchanged application shows what one with an adapter shows", async () => {
    const explicit = await kafkajsGraph("explicit");
    const handler = { name: "group@group", sendTimers: { successes: { count: 2 }, failures: { count: 0 } } };
    expect(explicit).toMatchObject({ nodes: expect.arrayContaining([expect.objectContaining(handler)]) });
    expect(await kafkajsGraph("ESM")).toEqual(explicit);
    expect(await kafkajsGraph("CommonJS")).toEqual(explicit);
  });

  test.each(["before", "after"] as const)("kafkajs: the same with OpenTelemetry preloaded %s ours", async (order) => {
    const explicit = await kafkajsGraph("explicit");
    const options = besideOpenTelemetry(order, "kafkajs");
    expect(await kafkajsGraph("ESM", options)).toEqual(explicit);
    expect(await kafkajsGraph("CommonJS", options)).toEqual(explicit);
  });

  test("@platformatic/kafka: the same", async () => {
    const explicit = await graphOf(runMessaging("explicit", platformatic()));
    const topic = { name: "parcels", sendTimers: { successes: { count: 1 }, failures: { count: 0 } } };
    expect(explicit).toMatchObject({ nodes: expect.arrayContaining([expect.objectContaining(topic)]) });
    expect(await graphOf(runMessaging("ESM", platformatic()))).toEqual(explicit);
    expect(await graphOf(runMessaging("CommonJS", platformatic()))).toEqual(explicit);
  });
});
