// @module-tag slow
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  besideOpenTelemetry,
  type Form,
  graphOf,
  type MessagingApplication,
  runMessaging,
} from "../../support/auto-messaging.ts";
import { type RabbitmqServer, rabbitmqFound, startRabbitmq } from "../../support/rabbitmq-server.ts";
import { requirement } from "../../support/requirement.ts";

/** Messages of three kinds, and a queue that is consumed. */
const PROMISES = `
  const connection = await amqp.connect(process.env.URL);
  WATCH(connection);
  const channel = await connection.createConfirmChannel();
  await channel.assertExchange("orders", "topic");
  await channel.assertQueue("bills", { deadLetterExchange: "dead" });
  await channel.purgeQueue("bills");
  await channel.bindQueue("bills", "orders", "#");
  const other = await connection.createChannel();
  await other.assertQueue("mails");
  const billed = new Promise((resolve) =>
    channel.consume("bills", async function bill(message) {
      other.sendToQueue("mails", Buffer.from("2"));
      channel.ack(message);
      resolve();
    }));
  channel.publish("orders", "new", Buffer.from("1"));
  await channel.waitForConfirms();
  await billed;
`;

const INSTRUMENTED = `
  if (process.env.INSTRUMENTED && !Object.getPrototypeOf(channel).publish.__wrapped) throw new Error("not instrumented");
`;

const CALLBACKS = `
  const done = (call) => new Promise((resolve, reject) => call((error, result) => error ? reject(error) : resolve(result)));
  const connection = await done((back) => amqp.connect(process.env.URL, back));
  WATCH(connection);
  const channel = await done((back) => connection.createChannel(back));
  await done((back) => channel.assertQueue("mails", {}, back));
  await done((back) => channel.purgeQueue("mails", back));
  await new Promise((resolve) => {
    channel.consume("mails", function mail(message) { channel.ack(message); resolve(); }, {}, () => {});
    channel.sendToQueue("mails", Buffer.from("1"));
  });
`;

const MANAGED = `
  const manager = amqp.connect([process.env.URL]);
  manager.on("connect", ({ connection }) => { WATCH(connection); });
  const channel = manager.createChannel({ json: true, setup: async (channel) => {
    await channel.assertQueue("jobs");
    await channel.purgeQueue("jobs");
  } });
  await channel.waitForConnect();
  const worked = new Promise((resolve) => channel.consume("jobs", function work() { resolve(); }, { noAck: true }));
  await channel.sendToQueue("jobs", {});
  await worked;
`;

describe.runIf(requirement("rabbitmq-server", rabbitmqFound))("amqplib", () => {
  let server: RabbitmqServer;
  beforeAll(async () => {
    server = await startRabbitmq();
  }, 120_000);
  afterAll(() => server.stop());

  const applicationOf = (body: string, library = "amqplib", amqplib = "amqplib"): MessagingApplication => ({
    library,
    close: body === MANAGED ? "manager.close()" : "connection.close()",
    as: "amqp",
    body,
    source: ["amqplibSource", "amqplib/index.ts"],
    env: { URL: server.url },
    packages: amqplib === "amqplib" ? {} : { amqplib },
  });
  const graph = (form: Form, application: MessagingApplication) => graphOf(runMessaging(form, application));

  test.each(["amqplib", "amqplib0"])(
    "%s: an unchanged application shows what one with an adapter shows",
    async (copy) => {
      const application = applicationOf(PROMISES, "amqplib", copy);
      const explicit = await graph("explicit", application);
      expect(explicit).toMatchObject({
        nodes: expect.arrayContaining([
          expect.objectContaining({
            name: "bills.bill",
            sendTimers: expect.objectContaining({ successes: { count: 1 } }),
          }),
        ]),
      });
      expect(await graph("ESM", application)).toEqual(explicit);
      expect(await graph("CommonJS", application)).toEqual(explicit);
    },
  );

  test.each([
    ["the callback interface", "amqplib/callback_api", CALLBACKS, "mails.mail"],
    ["amqp-connection-manager", "amqp-connection-manager", MANAGED, "jobs"],
  ])("%s: the same", async (_, library, body, consumer) => {
    const application = applicationOf(body, library);
    const explicit = await graph("explicit", application);
    expect(explicit).toMatchObject({ nodes: expect.arrayContaining([expect.objectContaining({ name: consumer })]) });
    expect(await graph("ESM", application)).toEqual(explicit);
    expect(await graph("CommonJS", application)).toEqual(explicit);
  });

  test.each(["before", "after"] as const)("the same with OpenTelemetry preloaded %s ours", async (order) => {
    const application = applicationOf(PROMISES + INSTRUMENTED);
    const explicit = await graph("explicit", application);
    const options = besideOpenTelemetry(order, "amqplib");
    expect(await graphOf(runMessaging("ESM", application, options))).toEqual(explicit);
    expect(await graphOf(runMessaging("CommonJS", application, options))).toEqual(explicit);
  });

  test("what the application gives to an adapter of its own is taken over by that", async () => {
    const late = PROMISES.replace("WATCH(connection);", "").replace(
      'channel.publish("orders"',
      "WATCH(connection); CREATE(); $&",
    );
    const { nodes } = await graph("explicit", applicationOf(late));
    const counts = { sendTimers: { successes: { count: 1 }, failures: { count: 0 } } };
    expect(nodes).toMatchObject([
      { name: "orders", ...counts },
      { name: "shop.producer" },
      { name: "mails", ...counts },
    ]);
  });
});
