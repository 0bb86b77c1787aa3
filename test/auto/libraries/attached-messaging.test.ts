// @module-tag slow
import { existsSync } from "node:fs";
import { expect, onTestFinished, test } from "vitest";
import { LINES } from "../../../src/processes/description.ts";
import { attachTo, runPlain } from "../../support/attach-command.ts";
import { applicationFolder } from "../../support/auto-application.ts";
import { kafkaFound, startKafka } from "../../support/kafka-server.ts";
import { mosquittoFound, startMosquitto } from "../../support/mosquitto-server.ts";
import { rabbitmqFound, startRabbitmq } from "../../support/rabbitmq-server.ts";
import { requirement } from "../../support/requirement.ts";
import { until } from "../../support/until.ts";

/** Sends without end. Says when all that it sent was handled, and ends. */
const appOf = (opening: string, send: string, close: string) => `
  let sent = 0, handled = 0;
  ${opening}
  const timer = setInterval(() => { sent++; ${send} }, 10);
  console.log("ready");
  process.once("SIGUSR2", async () => {
    clearInterval(timer);
    while (handled < sent) await new Promise((resolve) => setTimeout(resolve, 5));
    await ${close};
    console.log("all handled");
  });
`;

const AMQPLIB = appOf(
  `import amqp from "amqplib";
  const connection = await amqp.connect(process.env.URL);
  const channel = await connection.createChannel();
  await channel.assertQueue("jobs");
  await channel.consume("jobs", function work(message) { handled++; channel.ack(message); });`,
  `channel.sendToQueue("jobs", Buffer.from("1"));`,
  "connection.close()",
);

const MQTT = appOf(
  `import mqtt from "mqtt";
  const client = await mqtt.connectAsync(process.env.URL);
  await client.subscribeAsync("jobs");
  client.on("message", function work() { handled++; });`,
  `client.publish("jobs", "1");`,
  "client.endAsync()",
);

const PLATFORMATIC = appOf(
  `import { Producer } from "@platformatic/kafka";
  const producer = new Producer({ clientId: "shop", bootstrapBrokers: [process.env.URL] });
  await producer.metadata({ topics: ["jobs"], autocreateTopics: true });`,
  `producer.send({ messages: [{ topic: "jobs", value: Buffer.from("1") }] }).then(() => handled++);`,
  "producer.close()",
);

const CASES = [
  ["rabbitmq-server", rabbitmqFound, startRabbitmq, AMQPLIB, ["jobs", "jobs.work"]],
  ["mosquitto", mosquittoFound, startMosquitto, MQTT, ["jobs", "work"]],
  ["kcat", kafkaFound, startKafka, PLATFORMATIC, ["jobs"]],
] as const;

for (const [tool, found, start, text, names] of CASES) {
  test.runIf(requirement(tool, found))(
    `${tool}: a process that is attached to shows what it sends and receives`,
    async () => {
      const server = await start();
      onTestFinished(() => server.stop());
      const folder = applicationFolder({ "shop.mjs": text });
      const env = { URL: "url" in server ? server.url : `127.0.0.1:${server.port}` };
      const shop = runPlain(folder, "shop.mjs", { env });
      const counted = async () => {
        const { nodes }: { nodes: Counted[] } = await shop.get("/integrationgraph");
        return nodes.flatMap(({ name, sendTimers }) => (sendTimers?.successes.count ? name : [])).sort();
      };
      await shop.said("ready");
      for (let round = 0; round < 3; round++) {
        expect(await attachTo(folder, shop.child.pid!)).toMatchObject({ code: 0 });
        await until(async () => (await counted()).length === names.length);
        expect(await counted()).toEqual(names);
        expect(await shop.line(LINES.detachRestoring)).toEqual({});
        await until(() => !existsSync(shop.socket));
      }
      shop.child.kill("SIGUSR2");
      expect(await shop.exit()).toBe(0);
      expect(shop.output().stdout).toBe("ready\nall handled\n");
    },
  );
}

interface Counted {
  readonly name: string;
  readonly sendTimers?: { readonly successes: { readonly count: number } };
}
