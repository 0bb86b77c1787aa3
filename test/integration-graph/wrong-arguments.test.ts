import { expect, test } from "vitest";
import { amqplibSource } from "../../src/adapters/graph/amqplib/index.ts";
import { bullmqSource } from "../../src/adapters/graph/bullmq/index.ts";
import { eventEmitterSource } from "../../src/adapters/graph/in-process/index.ts";
import { kafkajsSource } from "../../src/adapters/graph/kafka/kafkajs/index.ts";
import { mqttSource } from "../../src/adapters/graph/mqtt/index.ts";
import { natsSource } from "../../src/adapters/graph/nats/index.ts";
import { nestjsSource } from "../../src/adapters/graph/nestjs/index.ts";
import { redisSource } from "../../src/adapters/graph/redis/index.ts";
import { integrationGraph } from "../../src/integration-graph/builder.ts";

class Queue {}

/** As an application without types calls it. */
function graph(options?: unknown) {
  return integrationGraph(options as never);
}

const wrong = undefined as never;

test.each([
  [
    "no options",
    () => graph(),
    'integrationGraph must be an object of options such as { app: "orders" }, not undefined',
  ],
  [
    "no adapter",
    () => graph({ app: "shop" }).attach(wrong),
    "attach expects an adapter, such as amqplibSource(connection); got undefined",
  ],
  [
    "an object of a library",
    () => graph({ app: "shop" }).attach(new Queue() as never),
    "attach expects an adapter, such as amqplibSource(connection); got a Queue",
  ],
  [
    "an adapter that was not called",
    () => graph({ app: "shop" }).attach(amqplibSource as never),
    "the function amqplib",
  ],
  [
    "amqplib",
    () => amqplibSource([wrong]),
    "amqplibSource() expects a channel or connection of amqplib, got undefined",
  ],
  ["bullmq", () => bullmqSource([wrong]), "bullmqSource() expects a queue, worker, flow producer or queue events of"],
  ["an emitter", () => eventEmitterSource(wrong, { name: "bus" }), "eventEmitterSource() expects an emitter of events"],
  ["an emitter's name", () => eventEmitterSource([], wrong), '{ name: "orders" }'],
  [
    "an unknown option",
    () => amqplibSource([], { vhots: "/" } as never),
    'Unknown option "amqplibSource.vhots"; did you mean "vhost"?',
  ],
  ["kafkajs", () => kafkajsSource([wrong]), "kafkajsSource() expects a Kafka object, producer or consumer of kafkajs"],
  [
    "mqtt",
    () => mqttSource([wrong]),
    "mqttSource() expects a client of MQTT.js, such as mqtt.connect(url), got undefined",
  ],
  ["nats", () => natsSource([wrong]), "natsSource() expects a connection of NATS"],
  ["nestjs", () => nestjsSource(wrong), "nestjsSource() expects an application of NestJS"],
  ["redis", () => redisSource([wrong]), "redisSource() expects a client of node-redis or ioredis, got undefined"],
])("the error for %s says what was expected", (_, act, message) => {
  expect(act).toThrow(message);
});
