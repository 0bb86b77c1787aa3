import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { graphOf, type MessagingApplication, runMessaging } from "../../support/auto-messaging.ts";
import { type MosquittoServer, mosquittoFound, startMosquitto } from "../../support/mosquitto-server.ts";
import { requirement } from "../../support/requirement.ts";

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

  test("a client that has ended is seen again when it connects again", async () => {
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
});
