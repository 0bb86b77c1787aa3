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
