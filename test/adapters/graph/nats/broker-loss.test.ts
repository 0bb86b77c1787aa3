// @module-tag slow
import { AckPolicy, jetstream, jetstreamManager } from "@nats-io/jetstream";
import { describe, expect, test } from "vitest";
import { natsSource } from "../../../../src/adapters/graph/nats/index.ts";
import { integrationGraph } from "../../../../src/integration-graph/builder.ts";
import { natsFound } from "../../../support/nats-server.ts";
import { requirement } from "../../../support/requirement.ts";
import { connection, nodeOf, ownServer, picture, until } from "./support.ts";

describe.runIf(requirement("nats-server", natsFound))("a server that is killed", () => {
  // Without a name of its own, so that it has another id after the restart.
  test("costs no numbers, and what is open goes on", async () => {
    const server = await ownServer();
    const nc = await connection(server);
    const [js, jsm] = [jetstream(nc), await jetstreamManager(nc)];
    await jsm.streams.add({ name: "ORDERS", subjects: ["orders.*"] });
    await jsm.consumers.add("ORDERS", { durable_name: "bill", ack_policy: AckPolicy.Explicit });
    const flow = integrationGraph({ app: "shop", onSourceError: () => {} });
    flow.attach(natsSource([nc, js], { services: true }));
    await flow.graph.rebuild();
    const consumer = await js.consumers.get("ORDERS", "bill");
    await consumer.consume({ callback: (message) => message.ack(), expires: 2_000 });
    nc.subscribe("news", { callback: function read() {} });
    const loop = (async () => {
      for await (const _ of nc.subscribe("loop"));
    })();
    const send = async () => {
      nc.publish("news");
      nc.publish("loop");
      await js.publish("orders.new", "");
      await nc.flush();
    };
    await send();
    const count = (name: string) => nodeOf(flow.graph.snapshot(), `subscriber ${name}`).sendTimers!.successes.count;
    await until(() => count("bill.consumer") === 1);
    const ids = () => flow.graph.snapshot().nodes.map(({ nodeId }) => nodeId);
    const before = ids();

    const status = nc.status();
    await server.kill();
    for await (const { type } of status) if (type === "disconnect") break;
    await expect(js.publish("orders.new", "", { timeout: 100 })).rejects.toThrow();
    await flow.graph.rebuild();
    const away = picture(flow.graph.snapshot());
    expect(away.nodes["subject orders.new"]).toBe("1 ok, 1 failed");
    expect(away.links["subject orders.* -route-> stream ORDERS"]).toBe(0);

    const again = nc.status();
    await server.restart();
    for await (const { type } of again) if (type === "reconnect") break;
    await send();
    // The request that was sent meanwhile has reached the stream all the same.
    await until(() => count("bill.consumer") >= 2 && count("read") === 2);
    expect(ids()).toEqual(before);
    const twin = await connection(server);
    flow.attach(natsSource(twin));
    twin.publish("news");
    await until(() => count("read") === 3);
    await flow.graph.rebuild();
    expect(ids()).toEqual(before);
    expect(picture(flow.graph.snapshot()).nodes["subject news"]).toBe("3 ok, 0 failed");
    await nc.close();
    await loop;
    await flow.graph.rebuild();
    expect(Object.keys(picture(flow.graph.snapshot()).links)).not.toContain("subject news -input-> subscriber read");
  });
});
