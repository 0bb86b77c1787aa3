import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { LIBRARIES } from "../../../src/auto/libraries/index.ts";
import type { Library } from "../../../src/auto/library.ts";
import { WATCHED_FILES } from "../../../src/auto/packages.ts";
import { integrationGraph } from "../../../src/integration-graph/builder.ts";
import { collected } from "../../support/collected.ts";
import { findingsOf } from "../../support/findings.ts";

const require = createRequire(import.meta.url);
const packages = join(dirname(fileURLToPath(import.meta.url)), "../../../node_modules");

/** All properties of the classes that a file exports, and of the classes above them. */
function prototypesOf(exports: object): readonly object[] {
  const exported = [exports, ...Object.values(exports)].filter((each) => typeof each === "function" && each.prototype);
  const chains = exported.flatMap(({ prototype }) => {
    const chain: object[] = [];
    for (let at = prototype; at !== null && at !== Object.prototype; at = Object.getPrototypeOf(at)) chain.push(at);
    return chain;
  });
  return [...new Set(chains)];
}

/** Everything of methods but their code. */
function shapeOf(descriptors: PropertyDescriptorMap) {
  return Object.entries(descriptors).map(([key, { value, ...flags }]) => [key, value?.name, value?.length, flags]);
}

test.each(Object.entries(WATCHED_FILES).filter(([file]) => /^(amqplib|kafkajs|mqtt)\//.test(file)))(
  "%s: what is replaced is given back exactly",
  (file, { library }) => {
    const exports = require(join(packages, file)) as object;
    const prototypes = prototypesOf(exports);
    const before = prototypes.map((each) => Object.getOwnPropertyDescriptors(each));
    const findings = findingsOf(integrationGraph({ app: "shop" }));
    const { watch, meet }: Library = LIBRARIES[library];
    for (let round = 0; round < 3; round++) {
      const undo = [watch(exports, findings, file), ...(meet === undefined ? [] : [meet(exports, findings, file)])];
      const during = prototypes.map((each) => Object.getOwnPropertyDescriptors(each));
      expect(during).not.toEqual(before);
      expect(during.map(shapeOf)).toEqual(before.map(shapeOf));
      for (const each of undo.toReversed()) each();
      const after = prototypes.map((each) => Object.getOwnPropertyDescriptors(each));
      expect(after).toEqual(before);
      expect(after.flatMap((each) => Reflect.ownKeys(each))).toEqual(before.flatMap((each) => Reflect.ownKeys(each)));
    }
  },
);

test("a Kafka object is seen when it is made, with all properties of its own", () => {
  const { Kafka } = require("kafkajs");
  const options = { brokers: ["localhost:1"], logLevel: 0 };
  const plain = Reflect.ownKeys(new Kafka(options));
  const flow = integrationGraph({ app: "shop" });
  const findings = findingsOf(flow);
  onTestFinished(LIBRARIES.kafkajs.watch(Kafka, findings, ""));
  const kafka = new Kafka(options);
  expect(Reflect.ownKeys(kafka).filter((key) => !["producer", "consumer", "admin"].includes(String(key)))).toEqual(
    plain,
  );
  expect(Object.hasOwn(kafka, "producer")).toBe(true);
  findings.end();
  expect(Reflect.ownKeys(kafka)).toEqual(plain);
});

test("Kafka objects, their clients, and clients of MQTT that have ended are collected", async () => {
  const { Kafka } = require("kafkajs");
  const mqtt = require("mqtt");
  const findings = findingsOf(integrationGraph({ app: "shop" }));
  const undo = [
    LIBRARIES.kafkajs.watch(Kafka, findings, ""),
    LIBRARIES.mqtt.watch({ default: mqtt.MqttClient }, findings, ""),
  ];
  onTestFinished(() => {
    for (const each of undo) each();
    findings.end();
  });
  function kafkaObjects(): WeakRef<object>[] {
    const kafka = new Kafka({ brokers: ["localhost:1"], logLevel: 0 });
    return [kafka, kafka.producer(), kafka.consumer({ groupId: "group" })].map((each) => new WeakRef(each));
  }
  async function ended(): Promise<WeakRef<object>[]> {
    const client = mqtt.connect("mqtt://127.0.0.1:1", { reconnectPeriod: 0 });
    client.on("error", () => {});
    expect(Object.hasOwn(client, "publish")).toBe(true);
    await client.endAsync(true);
    return [new WeakRef(client)];
  }
  await collected([...kafkaObjects(), ...(await ended())]);
});
