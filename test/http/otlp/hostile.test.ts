import { randomBytes } from "node:crypto";
import { connect } from "node:net";
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { createConnectTransport, createGrpcTransport, createGrpcWebTransport } from "@connectrpc/connect-node";
import { expect, test } from "vitest";
import { ServerReflection } from "../../../src/gen/grpc/reflection/v1/reflection_pb.ts";
import { TraceService } from "../../../src/gen/opentelemetry/proto/collector/trace/v1/trace_service_pb.ts";
import { closeOf } from "../../support/server-harness.ts";
import { word } from "../../support/word.ts";
import { type JsonSpan, KIND, kafka, request, span } from "./requests.ts";
import { startReceiver } from "./support.ts";

const transports = [
  ["gRPC", createGrpcTransport],
  ["gRPC-Web", createGrpcWebTransport],
  ["Connect", createConnectTransport],
] as const;

test.each(transports)("%s takes spans, and refuses requests that are too large", async (_, transport) => {
  const { url, picture, errors } = await startReceiver();
  const client = createClient(TraceService, transport({ baseUrl: url, httpVersion: "2" }));
  const spanId = randomBytes(8);
  const fit = { traceId: randomBytes(16), spanId, name: "work", kind: KIND.SERVER };
  const spans = [fit, { ...fit, spanId: randomBytes(7) }, { ...fit, traceId: new Uint8Array(16) }];
  const { partialSuccess } = await client.export({ resourceSpans: [{ scopeSpans: [{ spans }] }] });
  expect(partialSuccess).toMatchObject({ rejectedSpans: 2n });
  const large = { ...fit, name: "x".repeat(1024 * 1024) };
  expect(await client.export({ resourceSpans: [{ scopeSpans: [{ spans: [large] }] }] })).toMatchObject({});
  const name = "x".repeat(5 * 1024 * 1024);
  const failure = await client
    .export({ resourceSpans: [{ scopeSpans: [{ spans: [{ ...fit, name }] }] }] })
    .catch((e) => e);
  expect(ConnectError.from(failure).code).toBe(Code.ResourceExhausted);
  expect(picture().nodes).toEqual({});
  expect(errors).toEqual([]);
});

test("the service is told of by reflection only where it is served", async () => {
  const listed = async (otlp: boolean) => {
    const { url } = await startReceiver(otlp);
    const client = createClient(ServerReflection, createGrpcTransport({ baseUrl: url }));
    const ask = async function* () {
      yield { messageRequest: { case: "listServices", value: "" } } as const;
    };
    for await (const { messageResponse } of client.serverReflectionInfo(ask())) {
      if (messageResponse.case === "listServicesResponse") return messageResponse.value.service.map(({ name }) => name);
    }
    return [];
  };
  expect(await listed(true)).toContain("opentelemetry.proto.collector.trace.v1.TraceService");
  expect(await listed(false)).not.toContain("opentelemetry.proto.collector.trace.v1.TraceService");
});

const deep = (depth: number) => `${"[".repeat(depth)}${"]".repeat(depth)}`;
const nested = (depth: number) =>
  `${'{"kvlistValue":{"values":[{"key":"a","value":'.repeat(depth)}{}${"}]}}".repeat(depth)}`;

test.each<readonly [string, string]>([
  ["deep lists", `{"resourceSpans":${deep(100_000)}}`],
  ["deep values", `{"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":${nested(20_000)}}]}}]}`],
  ["prototypes", '{"resourceSpans":[{"__proto__":{"scopeSpans":[{"spans":[{"traceId":"00"}]}]}}],"constructor":{}}'],
])("%s do no harm", async (_, body) => {
  const { post, errors, url } = await startReceiver();
  expect([200, 400]).toContain((await post(body)).status);
  const groups = Buffer.alloc(1_000_000, 0x0b);
  expect((await post(groups, { "content-type": "application/x-protobuf" })).status).toBe(400);
  expect((await fetch(`${url}/actuator/health`)).status).toBe(200);
  expect(errors).toEqual([]);
});

test("names that no graph may show are not shown", async () => {
  const { post, graph } = await startReceiver();
  const names = ["", "\u0000", "a\nb", "\ud800", "x".repeat(100_000), "amqp://user:hunter2@host/q", "__proto__"];
  const spans = names.flatMap((name) => [
    kafka("send", name),
    kafka("process", name, {}, { "messaging.consumer.group.name": name }),
    kafka("send", "orders", {}, { "messaging.system": name }),
    kafka("send", "orders", { parentSpanId: "0102030405060708" }, { "server.address": name }),
    span({ name, kind: KIND.SERVER }),
  ]);
  for (const name of names) {
    // A lone surrogate is no JSON of protobuf.
    const fit = spans.filter((each) => !JSON.stringify(each).includes("\\ud800"));
    const service = name.isWellFormed() ? name : "ill";
    const answer = await post(JSON.stringify(request(fit, { "service.name": service, "service.namespace": service })));
    expect(answer.status).toBe(200);
  }
  const { nodes } = graph.snapshot();
  expect(nodes.filter((node) => /hunter2|\\u0000|\\n/.test(JSON.stringify(node)))).toEqual([]);
  for (const { name, key } of nodes) expect([name.length <= 256, key.length <= 1_024]).toEqual([true, true]);
});

test("spans in a circle, and parents that never come, end nowhere", async () => {
  const { post, picture } = await startReceiver();
  const [one, other] = ["0102030405060708", "0807060504030201"];
  const circle: JsonSpan[] = [
    span({ spanId: one, parentSpanId: other }),
    span({ spanId: other, parentSpanId: one }),
    kafka("send", "orders", { parentSpanId: one }),
    kafka("send", "orders", { spanId: "1112131415161718", parentSpanId: "1112131415161718" }),
  ];
  expect((await post(JSON.stringify(request(circle)))).status).toBe(200);
  expect(picture().links).toEqual({ "shop:inbound_gateway:shop.producer -output-> kafka:main:topic:orders": 2 });
});

test("a flood is asked to come back later, by either protocol", async () => {
  const { post, url, graph } = await startReceiver({ maxSpansPerSecond: 100 });
  const body = JSON.stringify(
    request(Array.from({ length: 500 }, (_, index) => kafka("send", `topic-${word(index)}`))),
  );
  const statuses = [];
  for (let index = 0; index < 5; index++) {
    const answer = await post(body);
    statuses.push(answer.status);
    if (answer.status !== 200) expect(answer.headers.get("retry-after")).toBe("1");
  }
  expect(statuses).toEqual([200, 429, 429, 429, 429]);
  const failure = await createClient(TraceService, createGrpcTransport({ baseUrl: url }))
    .export({})
    .catch((e) => e);
  expect(ConnectError.from(failure).code).toBe(Code.Unavailable);
  expect(graph.snapshot().nodes).toHaveLength(501);
});

test.each<readonly [string, Uint8Array]>([
  ["of nothing but empty lists", Buffer.alloc(1_000_000, Buffer.from([0x0a, 0x00]))],
  [
    "that are broken at their end",
    Buffer.concat([Buffer.alloc(4_000_000, Buffer.from([0x0a, 0x00])), Buffer.from([0x07])]),
  ],
])("requests %s use up what spans would", async (_, body) => {
  // So few that what is missing is not there again before the next request, however slow the machine is.
  const { post, graph } = await startReceiver({ maxSpansPerSecond: 200 });
  const type = { "content-type": "application/x-protobuf" };
  await post(body, type);
  expect((await post(body, type)).status).toBe(429);
  expect(graph.snapshot().nodes).toEqual([]);
});

test("services, nodes and spans are bounded", async () => {
  const { post, graph } = await startReceiver({ maxServices: 2, maxNodes: 20 });
  const one = (name: string) => post(JSON.stringify(request([kafka("send", "orders")], { "service.name": name })));
  for (const name of ["a", "b"]) expect(await (await one(name)).json()).toEqual({});
  expect(await (await one("c")).json()).toEqual({
    partialSuccess: { rejectedSpans: "1", errorMessage: "too many services (option otlp.maxServices)" },
  });
  const many = Array.from({ length: 10_003 }, () => span());
  expect(await (await post(JSON.stringify(request(many, { "service.name": "a" })))).json()).toEqual({
    partialSuccess: { rejectedSpans: "3", errorMessage: "more than 10000 spans in one request" },
  });
  expect(graph.snapshot().nodes.length).toBeLessThanOrEqual(2_000);
});

test("of bodies that never come only so many are waited for, by either protocol", async () => {
  const { url, post, picture } = await startReceiver();
  const { hostname, port } = new URL(url);
  const rpc = "/opentelemetry.proto.collector.trace.v1.TraceService/Export";
  const slow = Array.from({ length: 32 }, (_, index) => {
    const socket = connect(Number(port), hostname);
    const [path, type] = index % 2 === 0 ? ["/v1/traces", "application/json"] : [rpc, "application/proto"];
    socket.write(`POST ${path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: ${type}\r\ncontent-length: 1000\r\n\r\n{`);
    return socket.on("error", () => {});
  });
  const body = JSON.stringify(request([kafka("send", "orders")]));
  const refused = async (status: number, ask: () => Promise<number>) => {
    while ((await ask()) !== status) await new Promise((resolve) => setTimeout(resolve, 5));
  };
  await refused(429, async () => (await post(body)).status);
  const client = createClient(TraceService, createGrpcTransport({ baseUrl: url }));
  const failure = await client.export({}).catch((error) => error);
  expect(ConnectError.from(failure).code).toBe(Code.Unavailable);
  for (const socket of slow) socket.destroy();
  await refused(200, async () => (await post(body)).status);
  expect(Object.keys(picture().nodes)).toContain("kafka:main:topic:orders");
});

test("requests that are sent ahead of answers and given up take no place from others", async () => {
  const { url, post } = await startReceiver();
  const { hostname, port } = new URL(url);
  const one =
    "POST /v1/traces HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 9\r\n\r\n";
  for (let index = 0; index < 5; index++) {
    const socket = connect(Number(port), hostname);
    const closed = closeOf(socket);
    socket.on("error", () => {});
    socket.write(`${`${one}123456789`.repeat(50)}${one}`, () => socket.destroy());
    await closed;
  }
  const body = JSON.stringify(request([kafka("send", "orders")]));
  while ((await post(body)).status !== 200) await new Promise((resolve) => setTimeout(resolve, 5));
});
