import { expect, onTestFinished, test } from "vitest";
import { amqplibSource } from "../../../src/adapters/graph/amqplib/index.ts";
import { TokenBucket } from "../../../src/http/otlp/limits.ts";
import { PendingSpans, RecentSpans } from "../../../src/http/otlp/pending-spans.ts";
import type { GraphHost } from "../../../src/integration-graph/adapter.ts";
import { until } from "../../adapters/graph/opentelemetry/support.ts";
import { attributes, KIND, kafka, request, span } from "./requests.ts";
import { startReceiver } from "./support.ts";

/** A receiver that takes spans of "shop", each call a request of its own. */
async function setUp() {
  const receiver = await startReceiver();
  const take = async (spans: readonly unknown[], resource?: { readonly [key: string]: string }) => {
    expect((await receiver.post(JSON.stringify(request(spans, resource)))).status).toBe(200);
  };
  return { ...receiver, take };
}

const SENT = "shop:service_activator:orders.consumer -output-> kafka:main:topic:payments";

test("children are told of before their parents, and in earlier requests", async () => {
  const { take, picture } = await setUp();
  const handled = kafka("process", "orders");
  const between = span({ parentSpanId: handled.spanId });
  const deeper = span({ parentSpanId: between.spanId });
  await take([kafka("send", "payments", { parentSpanId: deeper.spanId })]);
  await take([deeper]);
  expect(picture()).toEqual({ nodes: { "kafka:main:topic:payments": "0 ok, 0 failed" }, links: {} });
  await take([handled]);
  expect(picture().links[SENT]).toBeUndefined();
  await take([between]);
  expect(picture()).toEqual({
    nodes: {
      "kafka:main:topic:payments": "1 ok, 0 failed",
      "kafka:main:topic:orders": "0 ok, 0 failed",
      "shop:service_activator:orders.consumer": "1 ok, 0 failed",
    },
    links: { "kafka:main:topic:orders -input-> shop:service_activator:orders.consumer": 1, [SENT]: 1 },
  });
});

test("a parent that is remote owns nothing, whether the span says so or the parent's own service", async () => {
  const { take, picture } = await setUp();
  const parent = kafka("process", "orders");
  await take([parent]);
  await take([kafka("send", "payments", { parentSpanId: parent.spanId })], { "service.name": "billing" });
  await take([kafka("send", "payments", { parentSpanId: parent.spanId, flags: 0x300 })]);
  expect(picture().links).toEqual({
    "kafka:main:topic:orders -input-> shop:service_activator:orders.consumer": 1,
    "billing:inbound_gateway:billing.producer -output-> kafka:main:topic:payments": 1,
    "shop:inbound_gateway:shop.producer -output-> kafka:main:topic:payments": 1,
  });
});

test("requests and work that begins by itself send, named as when they ended", async () => {
  const { take, picture } = await setUp();
  const served = span({
    kind: KIND.SERVER,
    name: "POST /orders/1",
    attributes: attributes({ "http.request.method": "POST", "http.route": "/orders/{id}" }),
  });
  const rpc = span({ kind: KIND.SERVER, name: "shop.Orders/Place" });
  await take([rpc, kafka("send", "orders", { parentSpanId: rpc.spanId })]);
  const job = span({ name: "nightly" });
  await take([kafka("send", "orders", { parentSpanId: served.spanId }), served]);
  await take([
    kafka("send", "orders", { parentSpanId: job.spanId }),
    kafka("send", "orders", { parentSpanId: job.spanId, status: { code: 2 } }),
    job,
  ]);
  expect(picture()).toEqual({
    nodes: {
      "kafka:main:topic:orders": "3 ok, 1 failed",
      "shop:inbound_gateway:shop.Orders/Place": "",
      "shop:inbound_gateway:POST /orders/{id}": "",
      "shop:inbound_channel_adapter:nightly": "1 received",
    },
    links: {
      "shop:inbound_gateway:shop.Orders/Place -output-> kafka:main:topic:orders": 1,
      "shop:inbound_gateway:POST /orders/{id} -output-> kafka:main:topic:orders": 1,
      "shop:inbound_channel_adapter:nightly -output-> kafka:main:topic:orders": 2,
    },
  });
});

test("messages that were received together count once, where they are told of one by one", async () => {
  const { take, picture } = await setUp();
  const count = { "messaging.batch.message_count": 2 };
  const received = kafka("receive", "orders", {}, count);
  const each = [1, 2].map(() => kafka("process", "orders", { parentSpanId: received.spanId }));
  await take([received, ...each]);
  await take([kafka("receive", "other", {}, count)]);
  expect(picture().nodes).toMatchObject({
    "shop:service_activator:orders.consumer": "2 ok, 0 failed",
    "shop:service_activator:other.consumer": "2 ok, 0 failed",
  });
});

test("resources without a name are one unknown service", async () => {
  const { take, picture } = await setUp();
  await take([kafka("process", "orders")], {});
  expect(Object.keys(picture().nodes)).toContain("unknown_service:service_activator:orders.consumer");
});

test("what the application counts itself is not counted again when it exports to itself", async () => {
  const { take, flow, picture } = await setUp();
  let host: GraphHost | undefined;
  const adapter = amqplibSource();
  flow.attach({ ...adapter, attach: (given) => adapter.attach((host = given)) });
  expect(host!.counts("kafka")).toBe(true);
  await take([kafka("send", "orders"), kafka("process", "orders")], { "service.name": "hub" });
  await take([kafka("send", "orders")], { "service.name": "shop" });
  expect(picture().nodes).toEqual({
    "kafka:main:topic:orders": "1 ok, 0 failed",
    "shop:inbound_gateway:shop.producer": "",
  });
});

test("durations are the spans' own, and hostile times are none", async () => {
  const { take, graph } = await setUp();
  await take([kafka("process", "orders"), kafka("process", "orders", { endTimeUnixNano: "1600000000000000000" })]);
  const { sendTimers } = graph.snapshot().nodes.find(({ name }) => name === "orders.consumer")!;
  expect(sendTimers!.successes).toEqual({ count: 2, mean: expect.closeTo(2.5, 3), max: expect.closeTo(5, 3) });
  await take([kafka("process", "orders", { startTimeUnixNano: "0", endTimeUnixNano: "18446744073709551615" })]);
  const { max } = graph.snapshot().nodes.find(({ name }) => name === "orders.consumer")!.sendTimers!.successes;
  expect(max).toBe(24 * 60 * 60 * 1_000);
});

test("after the actuator is closed nothing of other services is left", async () => {
  const { take, actuator, picture } = await setUp();
  await take([kafka("process", "orders")]);
  await actuator.close();
  expect(picture().nodes).toEqual({});
});

test("what waits for a span that never comes goes on without it, in time or for want of room", async () => {
  const gone: string[] = [];
  const room = new PendingSpans<string>({ maxItems: 2, maxWaitMs: 30 }, (item) => gone.push(item));
  onTestFinished(() => room.close());
  room.add("a", "one");
  room.add("b", "two");
  room.add("b", "three");
  expect(gone).toEqual(["three"]);
  expect(room.take("a")).toEqual(["one"]);
  expect(room.take("a")).toEqual([]);
  await until(() => gone.length === 2);
  expect(gone).toEqual(["three", "two"]);
  room.add("c", "four");
  await until(() => gone.length === 3);
});

test("spans are remembered for a time, and only so many", () => {
  const source = {};
  let now = 0;
  const recent = new RecentSpans<string>({ maxSpans: 4, maxAgeMs: 100 }, () => now);
  const known = (...ids: string[]) => ids.filter((id) => recent.get(id) !== undefined);
  const add = (...ids: string[]) => {
    for (const id of ids) recent.add(id, { owner: id, parent: undefined, source });
  };
  add("a", "b", "c", "d");
  expect(known("a", "b", "c", "d")).toEqual(["a", "b", "c", "d"]);
  expect([recent.ownerOf("a", source), recent.ownerOf("a", {}), recent.ownerOf("x", source)]).toEqual(["a", null, "x"]);
  add("e");
  expect(known("a", "b", "c", "d", "e")).toEqual(["c", "d", "e"]);
  now = 50;
  add("f");
  expect(known("c", "d", "e", "f")).toEqual(["e", "f"]);
  now = 100;
  add("g");
  expect(known("e", "f", "g")).toEqual(["f", "g"]);
});

test("a token bucket fills up with time, to no more than two seconds' worth", () => {
  let now = 0;
  const bucket = new TokenBucket(10, () => now);
  bucket.spend(25);
  expect(bucket.hasTokens).toBe(false);
  now = 600;
  expect(bucket.hasTokens).toBe(true);
  now = 1_000_000;
  expect(bucket.hasTokens).toBe(true);
  bucket.spend(20);
  expect(bucket.hasTokens).toBe(false);
});
