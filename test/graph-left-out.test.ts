import EventEmitter from "node:events";
import { createClient } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";
import { expect, onTestFinished, test } from "vitest";
import { eventEmitterSource } from "../src/adapters/graph/in-process/index.ts";
import { IntegrationGraphService } from "../src/gen/actuator/v3/integration_graph_pb.ts";
import {
  createActuator,
  integrationGraph,
  mergeGraphs,
  toAsyncApi,
  toDot,
  toMermaid,
  toSvg,
  toText,
} from "../src/index.ts";
import { cli } from "./cli/cli-process.ts";

// What was left out of the graph, or shares a node, is said wherever a caller looks at the graph.

/** An application that emits 100 orders by their ids, under a graph for two nodes besides. */
async function serve() {
  const flow = integrationGraph({ app: "shop", limits: { maxNodes: 3 } });
  const bus = new EventEmitter();
  flow.attach(eventEmitterSource(bus, { name: "bus" }));
  const actuator = createActuator({ integrationGraph: flow, metrics: true, audit: false });
  onTestFinished(() => actuator.close({ deadlineMs: 0 }));
  const { url } = await actuator.listen({ port: 0 });
  const orders = (from: number, to: number) => {
    for (let id = from; id < to; id++) bus.emit(`order.created.${id}`);
  };
  return { flow, url, orders };
}

const reports = (text: string) => /10\d names share nodes/.test(text) && /left out \d+ times/.test(text);

test("in REST, RPC, metrics, the command line and every export", async () => {
  const { flow, url, orders } = await serve();
  orders(100_000, 100_100);
  orders(1, 4);
  const { nodes, contentDescriptor } = flow.graph.snapshot();
  expect(nodes.map(({ name }) => name)).toContain("bus.order.created.*");
  expect(contentDescriptor).toMatchObject({ collapsed: 100, dropped: expect.any(Number) });
  const { dropped } = contentDescriptor;

  const rest = (await (await fetch(`${url}/actuator/integrationgraph`)).json()) as { contentDescriptor: object };
  expect(Object.entries(rest.contentDescriptor).slice(3)).toEqual([
    ["dropped", dropped],
    ["collapsed", 100],
  ]);

  const rpc = createClient(IntegrationGraphService, createConnectTransport({ baseUrl: url, httpVersion: "1.1" }));
  const answer = await rpc.getIntegrationGraph({});
  expect(answer.contentDescriptor).toMatchObject({ dropped: BigInt(dropped!), collapsed: 100n });

  const metrics = await (await fetch(`${url}/actuator/prometheus`)).text();
  expect(metrics).toContain("actuator_graph_collapsed 100\n");
  expect(metrics).toMatch(/^actuator_graph_dropped\{element="node"\} [1-9]/m);

  const { stdout } = await cli(["graph", "--url", url]);
  expect(stdout).toSatisfy(reports);
  const picture = await cli(["graph", "--format", "dot", "--url", url]);
  expect(picture.stderr).toSatisfy(reports);

  const graph = flow.graph.snapshot();
  for (const exported of [toText, toDot, toMermaid, toAsyncApi]) expect(exported(graph)).toSatisfy(reports);
  expect(await toSvg(graph)).toSatisfy(reports);
  const both = mergeGraphs(["a", "b"].map((instance) => ({ instance, graph: { ...graph, instanceId: instance } })));
  expect(both.contentDescriptor).toMatchObject({ dropped: 2 * dropped!, collapsed: 200 });
});

test("in a watch, as soon as it changes", async () => {
  const { url, orders } = await serve();
  const rpc = createClient(IntegrationGraphService, createConnectTransport({ baseUrl: url, httpVersion: "1.1" }));
  const ended = new AbortController();
  onTestFinished(() => ended.abort());
  let first = true;
  for await (const { event } of rpc.watchIntegrationGraph({}, { signal: ended.signal })) {
    const collapsed =
      event.case === "snapshot" || event.case === "change" ? event.value.contentDescriptor?.collapsed : 0n;
    if (first) expect(collapsed).toBe(0n);
    first = false;
    if (collapsed === 100n) break;
    orders(100_000, 100_100);
  }
});

test("and nothing is said of a graph that is whole", async () => {
  const { flow, url } = await serve();
  flow.channel("orders");
  const rest = (await (await fetch(`${url}/actuator/integrationgraph`)).json()) as { contentDescriptor: object };
  expect(Object.keys(rest.contentDescriptor)).toEqual(["providerVersion", "providerFormatVersion", "provider"]);
  expect(toText(flow.graph.snapshot())).not.toContain("(");
});

test("what is declared takes the place of what was only seen, which is said", async () => {
  const { flow, orders } = await serve();
  orders(1, 4);
  for (const name of ["a", "b", "c"]) flow.channel(name);
  const { nodes, contentDescriptor } = flow.graph.snapshot();
  expect(nodes.map(({ name }) => name)).toEqual(["a", "b", "c"]);
  expect(contentDescriptor.dropped).toBeGreaterThan(0);
  flow.channel("d");
  expect(flow.graph.find("d")).toBe(undefined);
});
