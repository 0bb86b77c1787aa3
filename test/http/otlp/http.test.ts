import { connect } from "node:http2";
import { gzipSync } from "node:zlib";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { createActuator } from "../../../src/actuator.ts";
import { StatusSchema } from "../../../src/gen/google/rpc/status_pb.ts";
import {
  ExportTraceServiceRequestSchema,
  ExportTraceServiceResponseSchema,
} from "../../../src/gen/opentelemetry/proto/collector/trace/v1/trace_service_pb.ts";
import { integrationGraph } from "../../../src/integration-graph/builder.ts";
import { kafka, request, span } from "./requests.ts";
import { startReceiver } from "./support.ts";

const json = { "content-type": "application/json" };
const protobuf = { "content-type": "application/x-protobuf" };
const text = JSON.stringify(request([kafka("send", "orders")]));
const binary = toBinary(ExportTraceServiceRequestSchema, create(ExportTraceServiceRequestSchema));

test("JSON is answered in JSON", async () => {
  const { post, picture } = await startReceiver();
  const answer = await post(text, { "content-type": "application/json; charset=utf-8" });
  expect([answer.status, answer.headers.get("content-type"), await answer.json()]).toEqual([
    200,
    "application/json",
    {},
  ]);
  expect(picture().links).toEqual({ "shop:inbound_gateway:shop.producer -output-> kafka:main:topic:orders": 1 });
});

test("protobuf is answered in protobuf", async () => {
  const { post } = await startReceiver();
  const answer = await post(binary, protobuf);
  expect([answer.status, answer.headers.get("content-type")]).toEqual([200, "application/x-protobuf"]);
  expect(fromBinary(ExportTraceServiceResponseSchema, await answer.bytes()).partialSuccess).toBeUndefined();
});

test("a compressed body is decompressed", async () => {
  const { post, picture } = await startReceiver();
  const answer = await post(gzipSync(text), { ...json, "content-encoding": "gzip" });
  expect(answer.status).toBe(200);
  expect(Object.keys(picture().nodes)).toHaveLength(2);
});

test("HTTP/2 is answered as well", async () => {
  const { url } = await startReceiver();
  const session = connect(url);
  const stream = session.request({ ":method": "POST", ":path": "/v1/traces", ...json });
  stream.end(text);
  const status = await new Promise((resolve) => stream.once("response", (headers) => resolve(headers[":status"])));
  expect(status).toBe(200);
  session.close();
});

test("spans that are unfit are said to be rejected, and others are taken", async () => {
  const { post, picture } = await startReceiver();
  const bad = [
    span({ traceId: "" }),
    span({ traceId: "00000000000000000000000000000000" }),
    span({ spanId: "zz" }),
    span({ spanId: "0102030405060708zz" }),
    span({ spanId: "0102" }),
    span({ parentSpanId: "01" }),
    span({ traceId: "ab".repeat(1_000) }),
  ];
  const answer = await post(JSON.stringify(request([...bad, kafka("send", "orders")])));
  expect(answer.status).toBe(200);
  expect(await answer.json()).toEqual({
    partialSuccess: { rejectedSpans: "7", errorMessage: "ids that are not 16 and 8 bytes, or zero" },
  });
  expect(picture().nodes["kafka:main:topic:orders"]).toBe("1 ok, 0 failed");
});

test.each<readonly [string, string | Uint8Array, Record<string, string>, number, number]>([
  ["no JSON", "{", json, 400, 3],
  ["no UTF-8", new Uint8Array([0x7b, 0xff, 0x7d]), json, 400, 3],
  ["JSON of another shape", '{"resourceSpans":{"a":1}}', json, 400, 3],
  ["JSON with a kind that is none", JSON.stringify(request([span({ kind: {} })])), json, 400, 3],
  ["truncated protobuf", Buffer.from([0x0a, 0x7f, 0x01]), protobuf, 400, 3],
  ["protobuf that declares 100 MB", Buffer.from([0x0a, 0x80, 0xc2, 0xd7, 0x2f, 0x01]), protobuf, 400, 3],
  ["another type", "a=1", { "content-type": "application/x-www-form-urlencoded" }, 415, 3],
  ["another compression", text, { ...json, "content-encoding": "br" }, 415, 3],
  ["no gzip", text, { ...json, "content-encoding": "gzip" }, 400, 3],
  ["a gzip that is cut short", gzipSync(text).subarray(0, 40), { ...json, "content-encoding": "gzip" }, 400, 3],
  ["a body that is too large", Buffer.alloc(4 * 1024 * 1024 + 1), protobuf, 413, 8],
  ["a gzip bomb", gzipSync(Buffer.alloc(64 * 1024 * 1024)), { ...protobuf, "content-encoding": "gzip" }, 413, 8],
])("%s is refused with a status in the encoding of the request", async (_, body, headers, status, code) => {
  const { post, errors, picture } = await startReceiver();
  const answer = await post(body, headers);
  const bytes = await answer.bytes();
  expect(answer.status).toBe(status);
  const isBinary = headers["content-type"] === protobuf["content-type"];
  expect(answer.headers.get("content-type")).toBe(isBinary ? "application/x-protobuf" : "application/json");
  const said = isBinary ? fromBinary(StatusSchema, bytes) : JSON.parse(Buffer.from(bytes).toString());
  expect(said).toMatchObject({ code, message: expect.stringMatching(/^\S.*\.$|\)\.$/) });
  expect(errors).toEqual([]);
  expect(picture().nodes).toEqual({});
});

test("other methods and paths are not the receiver's", async () => {
  const { url } = await startReceiver();
  const get = await fetch(`${url}/v1/traces`);
  expect([get.status, get.headers.get("allow")]).toEqual([405, "POST"]);
  for (const path of ["/v1/metrics", "/v1/traces/", "/actuator/v1/traces"]) {
    expect((await fetch(url + path, { method: "POST", body: text, headers: json })).status).toBe(404);
  }
});

test("nothing is taken unless it is asked for", async () => {
  const { url, picture } = await startReceiver(false);
  expect((await fetch(`${url}/v1/traces`, { method: "POST", body: text, headers: json })).status).toBe(404);
  const rpc = "/opentelemetry.proto.collector.trace.v1.TraceService/Export";
  expect((await fetch(url + rpc, { method: "POST", body: "{}", headers: json })).status).toBe(404);
  expect(picture().nodes).toEqual({});
});

test("there must be a graph to draw into, and the options must be some", () => {
  expect(() => createActuator({ otlp: true })).toThrow("createActuator.otlp needs an integrationGraph to draw into");
  const integration = integrationGraph({ app: "shop" });
  expect(() => createActuator({ integrationGraph: integration, otlp: { maxSpans: 1 } as object })).toThrow("maxSpans");
  expect(() => createActuator({ integrationGraph: integration, otlp: "yes" as unknown as boolean })).toThrow(
    "true, false or an object of options",
  );
});
