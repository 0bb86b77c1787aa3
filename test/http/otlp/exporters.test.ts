import { SpanKind } from "@opentelemetry/api";
import { OTLPTraceExporter as GrpcExporter } from "@opentelemetry/exporter-trace-otlp-grpc";
import { OTLPTraceExporter as JsonExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { OTLPTraceExporter as ProtoExporter } from "@opentelemetry/exporter-trace-otlp-proto";
import { CompressionAlgorithm } from "@opentelemetry/otlp-exporter-base";
import type { SpanExporter } from "@opentelemetry/sdk-trace-base";
import { expect, test } from "vitest";
import { message, service, startReceiver } from "./support.ts";

const exporters: readonly (readonly [string, (url: string) => SpanExporter])[] = [
  ["gRPC", (url) => new GrpcExporter({ url })],
  ["gRPC, compressed", (url) => new GrpcExporter({ url, compression: CompressionAlgorithm.GZIP })],
  ["HTTP and protobuf", (url) => new ProtoExporter({ url: `${url}/v1/traces` })],
  [
    "HTTP and protobuf, compressed",
    (url) => new ProtoExporter({ url: `${url}/v1/traces`, compression: CompressionAlgorithm.GZIP }),
  ],
  ["HTTP and JSON", (url) => new JsonExporter({ url: `${url}/v1/traces` })],
];

test.each(exporters)("services that export over %s appear in the graph", async (_, exporterTo) => {
  const { url, picture, graph, errors } = await startReceiver();
  const shop = service(exporterTo(url), { "service.namespace": "acme", "service.name": "shop" });
  const billing = [1, 2].map((instance) =>
    service(exporterTo(url), { "service.name": "billing", "service.instance.id": `b${instance}` }),
  );
  const request = shop.start("POST /orders", undefined, {
    kind: SpanKind.SERVER,
    attributes: { "http.request.method": "POST", "http.route": "/orders" },
  });
  const between = shop.start("save", request, {});
  const sent = [1, 2, 3].map(() => shop.start("send orders", between, message("send", "orders")));
  for (const span of sent) span.end();
  between.end();
  request.end();
  // A parent of another service is not on whose behalf anything is sent.
  for (const [index, span] of sent.entries()) {
    const { start } = billing[index % 2]!;
    const handled = start(
      "process orders",
      span,
      message("process", "orders", { "messaging.consumer.group.name": "billing" }),
    );
    start("send payments", handled, message("send", "payments")).end();
    if (index === 2) handled.recordException(new Error("secret"));
    handled.end();
  }
  await Promise.all([shop, ...billing].map(({ flush }) => flush()));
  expect(picture()).toEqual({
    nodes: {
      "kafka:main:topic:orders": "3 ok, 0 failed",
      "acme/shop:inbound_gateway:POST /orders": "",
      "billing:service_activator:billing@orders": "2 ok, 1 failed",
      "kafka:main:topic:payments": "3 ok, 0 failed",
    },
    links: {
      "acme/shop:inbound_gateway:POST /orders -output-> kafka:main:topic:orders": 3,
      "kafka:main:topic:orders -input-> billing:service_activator:billing@orders": 3,
      "billing:service_activator:billing@orders -output-> kafka:main:topic:payments": 3,
    },
  });
  const { nodes } = graph.snapshot();
  expect(nodes.find(({ name }) => name === "billing@orders")).toMatchObject({
    componentType: "kafka:consumer",
    properties: { application: "billing", group: "billing", instances: 2 },
  });
  expect(JSON.stringify(nodes)).not.toContain("secret");
  expect(errors).toEqual([]);
  await Promise.all([shop, ...billing].map(({ shutdown }) => shutdown()));
});
