import { Code, ConnectError } from "@connectrpc/connect";
import { expect, test } from "vitest";
import { IntegrationGraphService, Link_Type } from "../../../src/gen/actuator/v3/integration_graph_pb.ts";
import { graphFromProto, LINK_TYPE_TO_PROTO } from "../../../src/http/rpc/integration-graph-proto.ts";
import { integrationGraph } from "../../../src/integration-graph/builder.ts";
import { LINK_TYPES } from "../../../src/integration-graph/link-type.ts";
import { grpcClient, serveRpc } from "../../support/rpc-harness.ts";

function shop() {
  const builder = integrationGraph({ app: "shop" });
  const orders = builder.channel("orders", { properties: { capacity: 10, tags: ["a", null], deep: { on: true } } });
  const parked = builder.pollableChannel("parked");
  const filter = builder.filter("paid", { input: orders, output: "ship", discard: parked, error: "failures" });
  const router = builder.router("way", { input: "ship", routes: ["post", "pickup"] });
  builder.chain("steps", { input: "post", handlers: [{ name: "stamp", type: "transformer" }] });
  const accept = filter.handle((order: { paid: boolean }) => order.paid);
  return { builder, accept, orders, parked, filter, router };
}

async function serveGraph(graph: ReturnType<typeof integrationGraph>) {
  const { url } = await serveRpc({ integrationGraph: graph.graph });
  return grpcClient(IntegrationGraphService, url);
}

test("the graph comes whole: descriptor, nodes with their optional fields, links with their numbers", async () => {
  const { builder, accept, orders, parked } = shop();
  orders.sender(() => {})();
  parked.receiver(() => "message")();
  accept({ paid: false });
  const client = await serveGraph(builder);
  const snapshot = builder.graph.snapshot();
  const graph = await client.getIntegrationGraph({});

  expect(graph.contentDescriptor).toMatchObject({ ...snapshot.contentDescriptor, name: "shop" });
  expect(graph.revision).toBe(BigInt(snapshot.revision));
  expect(graph.nodes.map(({ nodeId, name }) => [nodeId, name])).toEqual(
    snapshot.nodes.map(({ nodeId, name }) => [nodeId, name]),
  );
  const node = (name: string) => graph.nodes.find((candidate) => candidate.name === name)!;
  expect(node("orders")).toMatchObject({
    componentType: snapshot.nodes.find(({ name }) => name === "orders")!.componentType,
    integrationPatternType: "message_channel",
    integrationPatternCategory: "messaging_channel",
    properties: { capacity: 10, tags: ["a", null], deep: { on: true } },
    observed: true,
    sendTimers: { successes: { count: 1n }, failures: { count: 0n } },
  });
  expect(node("orders").input).toBeUndefined();
  expect(node("paid")).toMatchObject({ input: "orders", output: "ship", errors: "failures", discards: "parked" });
  expect(node("way").routes).toEqual(["post", "pickup"]);
  expect(node("steps").handlers).toMatchObject([{ name: "stamp", type: "transformer" }]);
  expect(node("parked").receiveCounters).toMatchObject({ successes: 1n, failures: 0n });
  expect(node("ship").receiveCounters).toBeUndefined();

  const { links } = graph;
  expect(links).toMatchObject(
    snapshot.links.map(({ from, to, type, count, declared }) => ({
      ...{ from, to, declared },
      type: LINK_TYPE_TO_PROTO[type],
      count: BigInt(count),
    })),
  );
  const numbers = ({ rate }: { rate: number }) => rate > 0;
  expect(graphFromProto(graph)).toEqual({
    ...snapshot,
    nodes: snapshot.nodes.map((node) => ({ ...node, rate: numbers(node) ? expect.any(Number) : 0 })),
  });
  expect(snapshot.nodes.filter(numbers).map(({ name }) => name)).toEqual(["orders", "parked", "paid"]);
  expect(new Set(links.map(({ type }) => type))).toEqual(
    new Set([Link_Type.INPUT, Link_Type.OUTPUT, Link_Type.ERROR, Link_Type.DISCARD, Link_Type.ROUTE]),
  );
});

test("every type of link has a number of its own, never UNSPECIFIED", () => {
  const numbers = LINK_TYPES.map((type) => LINK_TYPE_TO_PROTO[type]);
  expect(new Set([...numbers, Link_Type.UNSPECIFIED]).size).toBe(LINK_TYPES.length + 1);
});

test("a rebuild answers the revision after it and keeps the ids", async () => {
  const { builder, router } = shop();
  const client = await serveGraph(builder);
  const before = await client.getIntegrationGraph({});
  router.remove();
  const { revision } = await client.rebuildIntegrationGraph({});
  const after = await client.getIntegrationGraph({});
  expect(revision).toBe(after.revision);
  expect(revision).toBeGreaterThan(before.revision);
  const id = (graph: typeof before) => graph.nodes.find(({ name }) => name === "paid")?.nodeId;
  expect(id(after)).toBe(id(before));
  expect(after.nodes.some(({ name }) => name === "way")).toBe(false);
});

test("a graph over the response limit is RESOURCE_EXHAUSTED", async () => {
  const builder = integrationGraph({ app: "large" });
  for (let index = 0; index < 100; index++) builder.channel(`c${index}`, { properties: { text: "x".repeat(500) } });
  const { url } = await serveRpc({ integrationGraph: builder.graph }, { writeMaxBytes: 4000 });
  const call = grpcClient(IntegrationGraphService, url).getIntegrationGraph({});
  expect((await call.catch(ConnectError.from)) as ConnectError).toMatchObject({ code: Code.ResourceExhausted });
});
