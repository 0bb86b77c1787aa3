import { describe, expect, test } from "vitest";
import { declareRecordedGraph } from "../../integration-graph/recorded-graph.ts";
import type { RestRequest } from "../../support/rest-client.ts";
import { problemIn, serveRest } from "../../support/rest-server.ts";
import { JSON_TYPE } from "./overruled.ts";

const PATH = "/actuator/integrationgraph";
const NODE_KEYS = [
  "nodeId",
  "componentType",
  "integrationPatternType",
  "integrationPatternCategory",
  "properties",
  "sendTimers",
  "receiveCounters",
  "name",
  "observed",
  "input",
  "output",
  "errors",
  "discards",
  "routes",
  "handlers",
];

describe("GET", () => {
  test("shows every node and link of the graph, with exactly the contract's keys in their order", async () => {
    const { get, graph } = await serveRest();
    declareRecordedGraph(graph);
    const shown = JSON.parse((await get(PATH)).text);
    const snapshot = graph.graph.snapshot();

    expect(Object.keys(shown)).toEqual(["contentDescriptor", "nodes", "links"]);
    expect(JSON.stringify(shown.contentDescriptor)).toBe(
      `{"providerVersion":"${snapshot.contentDescriptor.providerVersion}","providerFormatVersion":1.2,"provider":"connect-actuator"}`,
    );
    const contract = ([key]: [string, unknown]) => NODE_KEYS.includes(key);
    const nodes = snapshot.nodes.map((node) => Object.fromEntries(Object.entries(node).filter(contract)));
    expect(shown.nodes).toEqual(JSON.parse(JSON.stringify(nodes)));
    expect(shown.nodes).toHaveLength(68);
    const seen = new Set<string>();
    for (const node of shown.nodes) {
      const keys = Object.keys(node);
      expect(keys).toEqual(NODE_KEYS.filter((key) => keys.includes(key)));
      for (const key of keys) seen.add(key);
    }
    expect([...seen].sort()).toEqual(NODE_KEYS.toSorted());
    expect(shown.links).toEqual(snapshot.links.map(({ from, to, type }) => ({ from, to, type })));
    expect(shown.links).toHaveLength(70);
    for (const link of shown.links) expect(Object.keys(link)).toEqual(["from", "to", "type"]);
  });

  test("shows nothing of what only RPC shows, of whatever was measured, or is out of reach", async () => {
    const { get, graph } = await serveRest();
    let reachable = true;
    await graph.graph.addSource({
      name: "broker",
      read() {
        if (!reachable) throw new Error("out of reach");
        return {
          nodes: [{ name: "orders", pattern: "message_channel", key: "channel:nats:n:subject:orders" }],
          links: [],
        };
      },
    });
    graph.graph.attach({
      name: "library",
      attach(host) {
        const key = "channel:nats:n:subject:orders";
        const orders = host.observe({ name: "orders", pattern: "message_channel", key });
        host.sent(orders, { start: 0, end: performance.now() });
        return () => {};
      },
    });
    reachable = false;
    await graph.graph.rebuild();
    expect(graph.graph.snapshot().nodes[0]).toMatchObject({ stale: true, lastSeenTime: expect.any(Number) });
    const shown = JSON.parse((await get(PATH)).text);
    for (const node of shown.nodes) expect(NODE_KEYS).toEqual(expect.arrayContaining(Object.keys(node)));
    expect(shown.links.map(Object.keys)).toEqual([["from", "to", "type"]]);
  });

  test("writes the numbers as the original does", async () => {
    const { get, graph } = await serveRest();
    graph.pollableChannel("slow");
    expect((await get(PATH)).text).toContain(
      '"properties":{},"sendTimers":{"successes":{"count":0,"mean":0,"max":0},"failures":{"count":0,"mean":0,"max":0}},' +
        '"receiveCounters":{"successes":0,"failures":0},"name":"slow"',
    );
  });

  test("shows the numbers as they are now", async () => {
    const { get, graph } = await serveRest();
    const send = graph.channel("orders").sender(() => undefined);
    for (const count of [1, 2]) {
      send();
      const [orders] = JSON.parse((await get(PATH)).text).nodes;
      expect(orders).toMatchObject({ observed: true, sendTimers: { successes: { count } } });
    }
  });
});

describe("POST", () => {
  test("re-reads every source, drops what is gone and keeps the counters", async () => {
    const { get, send, graph } = await serveRest();
    const names = async () => JSON.parse((await get(PATH)).text).nodes.map(({ name }: { name: string }) => name);
    graph.channel("orders").sender(() => undefined)();
    let found = ["first"];
    await graph.graph.addSource({
      name: "test",
      read: () => ({ nodes: found.map((name) => ({ name, pattern: "message_channel" as const })), links: [] }),
    });
    expect(await names()).toEqual(["orders", "first"]);
    found = ["second"];
    expect(await names()).toEqual(["orders", "first"]);
    expect(await send({ method: "POST", path: PATH })).toMatchObject({ status: 204, text: "" });
    expect(await names()).toEqual(["orders", "second"]);
    expect(JSON.parse((await get(PATH)).text).nodes[0].sendTimers.successes.count).toBe(1);
  });

  test.each<readonly [title: string, request: Omit<RestRequest, "path" | "method">, status: number]>([
    ["neither type nor body", {}, 204],
    ["an empty body", { body: "" }, 204],
    ["a JSON type without a body", { headers: { "Content-Type": JSON_TYPE } }, 204],
    ["another type without a body", { headers: { "Content-Type": "text/plain" } }, 204],
    ["a JSON body", { headers: { "Content-Type": JSON_TYPE }, body: '{"x":[1]}' }, 204],
    ["a JSON body that is no object", { headers: { "Content-Type": JSON_TYPE }, body: "1" }, 204],
    ["any JSON type", { headers: { "Content-Type": "application/x+json;charset=utf-8" }, body: "{}" }, 204],
    ["a malformed body", { headers: { "Content-Type": JSON_TYPE }, body: "{" }, 400],
    ["a body of another type", { headers: { "Content-Type": "text/plain" }, body: "x" }, 415],
    ["a JSON body of another type", { headers: { "Content-Type": "text/plain" }, body: "{}" }, 415],
    ["a body of no type", { body: "{}" }, 415],
    ["a large body of another type", { headers: { "Content-Type": "text/plain" }, body: "x".repeat(2e6) }, 415],
    ["too large a body", { headers: { "Content-Type": JSON_TYPE }, body: `"${"x".repeat(65_536)}"` }, 413],
    ["a content coding", { headers: { "Content-Type": JSON_TYPE, "Content-Encoding": "br" }, body: "{}" }, 415],
  ])("%s is %#: %j", async (_, request, status) => {
    const { send, graph } = await serveRest();
    let reads = 0;
    const read = () => {
      reads++;
      return { nodes: [], links: [] };
    };
    await graph.graph.addSource({ name: "test", read });
    const answer = await send({ ...request, method: "POST", path: PATH });
    expect(answer.status).toBe(status);
    expect(reads).toBe(status === 204 ? 2 : 1);
    if (status !== 204) expect(problemIn(answer).status).toBe(status);
    if (status === 415) expect(answer.headers.accept).toBe("application/json, application/*+json");
  });
});
