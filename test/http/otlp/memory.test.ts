// @module-tag slow
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { toBinary } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { ExportTraceServiceRequestSchema } from "../../../src/gen/opentelemetry/proto/collector/trace/v1/trace_service_pb.ts";
import { JSON_ENCODING, PROTOBUF } from "../../../src/http/otlp/encoding.ts";
import { otlpReceiver } from "../../../src/http/otlp/receiver.ts";
import { integrationGraph } from "../../../src/integration-graph/builder.ts";
import { attributes, KIND, kafka, request, span } from "./requests.ts";

const MEBIBYTE = 1024 * 1024;

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

function usedMemory(): number {
  collect();
  return process.memoryUsage().heapUsed;
}

const served = { kind: KIND.SERVER, attributes: attributes({ "http.request.method": "GET" }) };

test.each<readonly [string, (text: string) => object]>([
  ["the name of a span", (text) => request([span({ ...served, name: text })])],
  ["an attribute", (text) => request([span({ ...served, attributes: attributes({ "http.route": text }) })])],
  [
    "an exception",
    (text) =>
      request([
        span({ ...served, events: [{ name: "exception", attributes: attributes({ "exception.stacktrace": text }) }] }),
      ]),
  ],
  [
    "a scope",
    (text) => ({ resourceSpans: [{ scopeSpans: [{ scope: { name: text }, spans: [kafka("send", "orders")] }] }] }),
  ],
  ["a destination", (text) => request([kafka("send", text)])],
  [
    "an instance",
    (text) => request([kafka("send", "orders")], { "service.name": "shop", "service.instance.id": text }),
  ],
])("a large request is not remembered for %s", (_, requestOf) => {
  const receiver = otlpReceiver();
  const flow = integrationGraph({ app: "hub" });
  flow.attach(receiver);
  const send = (index: number) => {
    const text = `${index} ${"x".repeat(MEBIBYTE / 2)}`;
    const message = JSON_ENCODING.request(Buffer.from(JSON.stringify(requestOf(text))));
    const body = toBinary(ExportTraceServiceRequestSchema, message);
    expect(receiver.take(PROTOBUF.request(body))).toEqual({ rejectedSpans: 0, errorMessage: "" });
  };
  for (let index = 0; index < 3; index++) send(index);
  const before = usedMemory();
  for (let index = 3; index < 43; index++) send(index);
  expect((usedMemory() - before) / MEBIBYTE).toBeLessThan(8);
  expect(flow.graph.snapshot()).toBeDefined();
});
