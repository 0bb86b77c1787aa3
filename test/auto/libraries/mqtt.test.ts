import mqtt from "mqtt";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { LIBRARIES } from "../../../src/auto/libraries/index.ts";
import { integrationGraph } from "../../../src/integration-graph/builder.ts";
import { graphOf, type MessagingApplication, runMessaging } from "../../support/auto-messaging.ts";
import { findingsOf } from "../../support/findings.ts";
import { type MosquittoServer, mosquittoFound, startMosquitto } from "../../support/mosquitto-server.ts";
import { requirement } from "../../support/requirement.ts";
import { until } from "../../support/until.ts";

const BODY = `
  const client = mqtt.connect(process.env.URL, { will: { topic: "gone", payload: "" }, reconnectPeriod: 20 });
  WATCH(client);
  await client.subscribeAsync(["orders/+", "mails"]);
  let mailed;
  const seen = new Promise((resolve) => client.on("message", function onOrder(topic) {
    if (topic === "mails") return resolve(mailed);
    mailed = client.publishAsync("mails", "1", { qos: 1 });
  }));
  await client.publishAsync("orders/new", "1", { qos: 1 });
  await seen;
`;

describe.runIf(requirement("mosquitto", mosquittoFound))("mqtt", () => {
  let server: MosquittoServer;
  beforeAll(async () => {
    server = await startMosquitto();
  });
  afterAll(() => server.stop());

  const applicationOf = (body: string): MessagingApplication => ({
    library: "mqtt",
    as: "mqtt",
    body,
    close: "client.endAsync()",
    source: ["mqttSource", "mqtt/index.ts"],
    env: { URL: server.url },
  });

  test("an unchanged application shows what one with an adapter shows", async () => {
    const application = applicationOf(BODY);
    const explicit = await graphOf(runMessaging("explicit", application));
    const taken = { name: "onOrder", sendTimers: { successes: { count: 2 }, failures: { count: 0 } } };
    expect(explicit).toMatchObject({ nodes: expect.arrayContaining([expect.objectContaining(taken)]) });
    expect(await graphOf(runMessaging("ESM", application))).toEqual(explicit);
    expect(await graphOf(runMessaging("CommonJS", application))).toEqual(explicit);
  });

  test("a client that has ended is seen again when it connects again", { tags: ["slow"] }, async () => {
    const again = `
      await client.endAsync();
      await new Promise((resolve) => client.reconnect().once("connect", resolve));
      WATCH(client);
      await client.publishAsync("again", "1", { qos: 1 });
    `;
    const application = applicationOf(BODY + again);
    const explicit = await graphOf(runMessaging("explicit", application));
    expect(await graphOf(runMessaging("ESM", application))).toEqual(explicit);
  });

  test("clients that existed before are seen when they send, receive or have nothing to do", async () => {
    const clients = await Promise.all([1, 2, 3].map(() => mqtt.connectAsync(server.url, { keepalive: 1 })));
    onTestFinished(async () => void (await Promise.all(clients.map((each) => each.endAsync()))));
    const [sender, receiver, idle] = clients as [mqtt.MqttClient, mqtt.MqttClient, mqtt.MqttClient];
    await receiver.subscribeAsync("met");
    await idle.subscribeAsync("idle");
    const received = new Promise((resolve) => receiver.on("message", resolve));
    receiver.on("message", function onMet() {});
    const flow = integrationGraph({ app: "shop" });
    const findings = findingsOf(flow);
    const exports = { default: mqtt.MqttClient };
    const undo = [LIBRARIES.mqtt.watch(exports, findings, ""), LIBRARIES.mqtt.meet!(exports, findings, "")];
    await sender.publishAsync("met", "1");
    await received;
    await sender.publishAsync("met", "2");
    const names = () => flow.graph.snapshot().nodes.map(({ name }) => name);
    await until(() => ["met", "idle", "onMet"].every((name) => names().includes(name)));
    const { sendTimers } = flow.graph.snapshot().nodes.find(({ name }) => name === "met")!;
    expect(sendTimers!.successes.count).toBe(2);
    for (const each of undo.toReversed()) each();
    findings.end();
    for (const client of clients) expect(Object.hasOwn(client, "publish")).toBe(false);
  });
});
