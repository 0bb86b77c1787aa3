import { describe, expect, it } from "vitest";
import { asyncApiSource } from "../../../../src/adapters/graph/asyncapi/index.ts";
import { integrationGraph } from "../../../../src/integration-graph/builder.ts";
import { toAsyncApi } from "../../../../src/integration-graph/export/asyncapi.ts";
import { channelKey } from "../../../../src/integration-graph/node-id.ts";

function declared(document: unknown) {
  const flow = integrationGraph({ app: "shop" });
  flow.attach(asyncApiSource(document));
  return flow.graph.snapshot();
}

describe("the skeleton of a document", () => {
  it("has hosts that are hosts, and the brokers' own names beside them", () => {
    const flow = integrationGraph({ app: "acme/shop" });
    flow.messageChannel("inside");
    const brokers = [
      ["rabbitmq", "rabbit@node1", "queue", "//a"],
      ["rabbitmq", "main", "queue", "//b"],
      ["bullmq", "127.0.0.1:6379/0", "queue", "bull:c"],
      ["kafka", "b1:9092,b2:9092", "topic", "d"],
      ["mqtt", "[fe80::1]:1883", "topic", "e"],
      ["redis", "unix:/run/redis.sock", "channel", "f"],
      ["nats", "nats.example:4222", "subject", "g"],
    ] as const;
    flow.attach({
      name: "test",
      attach(host) {
        host.nameBroker("rabbitmq", "amqp://user:secret@10.0.0.7:5672", "main");
        for (const [system, broker, kind, name] of brokers) {
          const key = channelKey(system, broker, kind, name);
          host.declare({ name: name.slice(-1), pattern: "message_channel", key });
        }
        return () => {};
      },
    });
    const graph = flow.graph.snapshot();
    const document = JSON.parse(toAsyncApi(graph));
    const servers = Object.values<Record<string, string>>(document.servers);
    expect(servers.map(({ host, "x-broker": name }) => [host, name])).toEqual([
      ["localhost", "acme/shop"],
      ["node1", "rabbit@node1"],
      ["10.0.0.7:5672", "main"],
      ["127.0.0.1:6379", "127.0.0.1:6379/0"],
      ["b1:9092", "b1:9092,b2:9092"],
      ["[fe80::1]:1883", undefined],
      ["localhost", "unix:/run/redis.sock"],
      ["nats.example:4222", undefined],
    ]);
    const keys = ({ nodes }: typeof graph) => nodes.map(({ key }) => key).sort();
    expect(keys(declared(document))).toEqual(keys(graph));
  });

  it("keeps channels inside of an application away from its brokers, and queues of BullMQ what they are", () => {
    const flow = integrationGraph({ app: "shop" });
    flow.messageChannel("orders");
    const bull = channelKey("bullmq", "127.0.0.1:6379/0", "queue", "bull:mails");
    flow.attach({
      name: "test",
      attach(host) {
        host.declare({ name: "mails", pattern: "message_channel", key: bull });
        const temp = channelKey("node", "shop", "emitter-event", "bus.temp");
        host.declare({ name: "bus.temp", pattern: "publish_subscribe_channel", key: temp });
        return () => {};
      },
    });
    const again = declared(JSON.parse(toAsyncApi(flow.graph.snapshot())));
    expect(again.nodes.map(({ key }) => key).sort()).toEqual(["channel:bus.temp", "channel:orders", bull].sort());
  });
});
