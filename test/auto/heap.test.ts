// @module-tag slow
import { expect, test } from "vitest";
import { LINES } from "../../src/processes/description.ts";
import { runApplication } from "../support/auto-application.ts";
import { bundled } from "../support/bundled-application.ts";
import { rabbitmqFound, startRabbitmq } from "../support/rabbitmq-server.ts";
import { redisFound, startRedis } from "../support/redis-server.ts";
import { requirement } from "../support/requirement.ts";

const ON_REDIS = `
import { Queue, Worker } from "bullmq";
import { RedisStore } from "connect-redis";
import express from "express";
import session from "express-session";
import Redis from "ioredis";
import { createClient } from "redis";
const { port } = new URL(process.env.BROKER);
const news = new Redis({ port });
await news.on("message", () => {}).subscribe("news");
const client = await createClient({ url: process.env.BROKER }).connect();
const weather = await client.duplicate().connect();
await weather.subscribe("weather", () => {});
const kept = [new Queue("orders", { connection: { port } }), new Worker("orders", async () => {}, { connection: { port } })];
const app = express();
app.use(session({ secret: "x", resave: false, saveUninitialized: true, store: new RedisStore({ client }) }));
app.get("/", (request, response) => {
  request.session.user = { username: "ada" };
  response.end("ok");
});
const server = app.listen(0, "127.0.0.1", async () => {
  await (await fetch("http://127.0.0.1:" + server.address().port)).text();
  console.log("ready", kept.length);
});
`;

test.runIf(requirement("redis-server", redisFound))("what a bundle holds of Redis is found", async () => {
  await using redis = await startRedis();
  const shop = runApplication(await bundled(ON_REDIS, "esm", true), "shop.mjs", { env: { BROKER: redis.url } });
  await shop.said("ready");
  expect(await shop.line(LINES.searchHeap)).toMatchObject({
    found: { bullmq: 2, "express-session": 1, ioredis: 1, redis: 1 },
  });
  expect((await shop.describe()).shows.sessions).toEqual(["connect-redis"]);
  expect((await shop.get("/sessions?username=ada")).sessions).toHaveLength(1);
  const { nodes } = await shop.get("/integrationgraph");
  const names = nodes.map(({ name }: { name: string }) => name).toSorted();
  expect(names).toEqual(["news", "news.subscriber", "orders", "orders.worker", "weather", "weather.subscriber"]);
});

const ON_RABBITMQ = `
import amqp from "amqplib";
const connection = await amqp.connect(process.env.BROKER);
const channel = await connection.createChannel();
await channel.assertQueue("mail");
setInterval(() => channel, 1_000);
console.log("ready");
process.once("SIGUSR2", async () => {
  await channel.consume("mail", (message) => {
    channel.ack(message);
    console.log("delivered");
  });
  channel.sendToQueue("mail", Buffer.from("x"));
});
`;

test.runIf(requirement("rabbitmq-server", rabbitmqFound))("a connection of amqplib in a bundle is found", async () => {
  await using rabbitmq = await startRabbitmq();
  const shop = runApplication(await bundled(ON_RABBITMQ, "esm", true), "shop.mjs", {
    env: { BROKER: rabbitmq.url },
  });
  await shop.said("ready");
  expect(await shop.line(LINES.searchHeap)).toMatchObject({ found: { amqplib: 1 } });
  shop.child.kill("SIGUSR2");
  await shop.said("delivered");
  const { nodes } = await shop.get("/integrationgraph");
  expect(nodes.map(({ name }: { name: string }) => name)).toEqual(expect.arrayContaining(["mail", "mail.consumer"]));
});
