// @module-tag slow

import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { connect } from "amqplib";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { LIBRARIES } from "../../../src/auto/libraries/index.ts";
import { integrationGraph } from "../../../src/integration-graph/builder.ts";
import {
  besideOpenTelemetry,
  type Form,
  graphOf,
  type MessagingApplication,
  runMessaging,
} from "../../support/auto-messaging.ts";
import { collected } from "../../support/collected.ts";
import { findingsOf } from "../../support/findings.ts";
import { type RabbitmqServer, rabbitmqFound, startRabbitmq } from "../../support/rabbitmq-server.ts";
import { requirement } from "../../support/requirement.ts";
import { until } from "../../support/until.ts";

const require = createRequire(import.meta.url);
const modules = join(dirname(fileURLToPath(import.meta.url)), "../../../node_modules");

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
    server = await startRabbitmq({ vhosts: ["jobs/one"] });
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

  test("the virtual host of a connection is known", async () => {
    const application: MessagingApplication = {
      ...applicationOf(PROMISES),
      source: ["amqplibSource", "amqplib/index.ts", '[], { vhost: "jobs/one" }'],
      env: { URL: server.vhostUrl("jobs/one") },
    };
    expect(await graph("ESM", application)).toEqual(await graph("explicit", application));
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

  test.each(["amqplib", "amqplib0"])(
    "%s: channels that existed before are seen when their connection is used",
    async (copy) => {
      const folder = join(modules, copy);
      const library = require(join(folder, "channel_api.js"));
      const connection = await library.connect(server.url);
      onTestFinished(() => connection.close());
      const [used, other] = [await connection.createChannel(), await connection.createConfirmChannel()];
      await used.assertQueue("before");
      await used.assertExchange("news", "fanout", { autoDelete: true });
      await used.bindQueue("before", "news", "");
      const handled: string[] = [];
      await used.consume("before", function read(message: { readonly content: Buffer }) {
        used.ack(message);
        handled.push(String(message.content));
      });
      const flow = integrationGraph({ app: "shop" });
      const findings = findingsOf(flow);
      const undo = ["channel_model", "connection"].flatMap((file) => {
        const exports = require(join(folder, "lib", file)) as object;
        return [LIBRARIES.amqplib.watch(exports, findings, ""), LIBRARIES.amqplib.meet!(exports, findings, "")];
      });
      // The first call shows the connection and is not counted.
      for (const queue of ["before", "before"]) used.sendToQueue(queue, Buffer.from("1"));
      other.sendToQueue("other", Buffer.from("1"));
      const late = await connection.createChannel();
      late.sendToQueue("late", Buffer.from("1"));
      used.publish("news", "", Buffer.from("2"));
      await other.waitForConfirms();
      await until(() => handled.length === 3);
      const sent = flow.graph.snapshot().nodes.map(({ name, sendTimers }) => [name, sendTimers?.successes.count]);
      const published = { before: 1, other: 1, late: 1, news: 1, "shop.producer": undefined };
      expect(Object.fromEntries(sent)).toEqual({ ...published, "before.read": 2, "news.read": 1 });
      for (const each of undo.toReversed()) each();
      findings.end();
      expect([...used.consumers.values()].map(String)).toEqual([expect.stringContaining("handled.push")]);
      for (const each of [connection, used, other, late]) {
        for (const method of ["publish", "createChannel"]) expect(Object.hasOwn(each, method)).toBe(false);
      }
    },
  );

  test("connections that were closed are collected", async () => {
    const { ChannelModel } = require(join(modules, "amqplib/lib/channel_model.js"));
    const findings = findingsOf(integrationGraph({ app: "shop" }));
    const undo = LIBRARIES.amqplib.watch({ ChannelModel }, findings, "");
    onTestFinished(() => {
      undo();
      findings.end();
    });
    async function used(): Promise<WeakRef<object>[]> {
      const connection = await connect(server.url);
      const channel = await connection.createChannel();
      await channel.assertQueue("closed");
      await channel.consume("closed", () => {});
      expect(Object.hasOwn(channel, "publish")).toBe(true);
      await connection.close();
      return [new WeakRef(connection), new WeakRef(channel)];
    }
    await collected([...(await used()), ...(await used())]);
  });
});
