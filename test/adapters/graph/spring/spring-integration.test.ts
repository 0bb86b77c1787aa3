import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { springIntegrationSource } from "../../../../src/adapters/graph/spring/index.ts";
import { ActuatorError } from "../../../../src/common/error.ts";
import { integrationGraph } from "../../../../src/integration-graph/builder.ts";
import type { GraphSnapshot } from "../../../../src/integration-graph/snapshot.ts";

/** What Spring Integration 7.1 answered, with 68 components of every kind. */
const RECORDED = JSON.parse(
  readFileSync(new URL("../../../integration-graph/fixtures/spring-graph-recorded.json", import.meta.url), "utf8"),
);

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

let server: Server;
let address: string;
let answer: Answer;

beforeEach(async () => {
  answer = json(RECORDED);
  server = createServer((request, response) => answer(request, response)).listen(0, "127.0.0.1");
  await once(server, "listening");
  address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/actuator/integrationgraph`;
});

afterEach(async () => {
  server.closeAllConnections();
  server.close();
  await once(server, "close");
});

function json(body: unknown): Answer {
  return (_, response) =>
    response.setHeader("content-type", "application/vnd.spring-boot.actuator.v3+json").end(JSON.stringify(body));
}

function graphWith(options?: Parameters<typeof springIntegrationSource>[1]) {
  const flow = integrationGraph({ app: "shop", onSourceError: () => {} });
  const detach = flow.attach(springIntegrationSource(address, { intervalMs: 0, app: "orders", ...options }));
  return { flow, detach, graph: flow.graph };
}

/** Nodes by name and links by names, as both graphs can say them. */
function structure({ nodes, links }: Pick<GraphSnapshot, "nodes" | "links">) {
  const names = new Map(nodes.map(({ nodeId, name }) => [nodeId, name]));
  return {
    nodes: nodes
      .map(({ name, componentType, integrationPatternType, properties, sendTimers, receiveCounters, handlers }) => {
        return { name, componentType, integrationPatternType, properties, sendTimers, receiveCounters, handlers };
      })
      .sort((a, b) => (a.name < b.name ? -1 : 1)),
    links: links.map(({ from, to, type }) => `${names.get(from)} -${type}-> ${names.get(to)}`).sort(),
  };
}

describe("the graph of an application on the JVM", () => {
  it("is taken in whole: every node, every link, every number", async () => {
    const { graph } = graphWith();
    await graph.rebuild();
    const [here, there] = [structure(graph.snapshot()), structure(RECORDED)];
    expect(here.links).toEqual(there.links);
    expect(here.nodes.map(({ name }) => name)).toEqual(there.nodes.map(({ name }) => name));
    for (const [index, node] of there.nodes.entries()) {
      const mine = here.nodes[index]!;
      expect(mine).toMatchObject({
        componentType: node.componentType,
        integrationPatternType: node.integrationPatternType,
        properties: node.properties,
      });
      for (const outcome of ["successes", "failures"] as const) {
        const { count = 0, mean = 0 } = node.sendTimers?.[outcome] ?? {};
        expect(mine.sendTimers?.[outcome].count ?? 0).toBe(count);
        expect(mine.sendTimers?.[outcome].mean ?? 0).toBeCloseTo(mean, 6);
      }
      if (node.receiveCounters) expect(mine.receiveCounters).toEqual(node.receiveCounters);
    }
  });

  it("is read once for each rebuild, and counts nothing twice", async () => {
    const { graph } = graphWith();
    await graph.rebuild();
    await graph.rebuild();
    expect(node(graph.snapshot(), "orders").sendTimers?.successes.count).toBe(4);
  });

  it("has keys of its own application, so that equal names elsewhere are other nodes", async () => {
    const { flow, graph } = graphWith();
    flow.messageChannel("orders");
    await graph.rebuild();
    const keys = graph.snapshot().nodes.filter(({ name }) => name === "orders");
    expect(keys.map(({ key }) => key).sort()).toEqual(["channel:orders", "channel:spring:orders:channel:orders"]);
  });
});

const one = (count: number, mean: number, max: number, failures = 0) => ({
  contentDescriptor: { provider: "spring-integration", name: "billing" },
  nodes: [
    {
      nodeId: 1,
      name: "in",
      componentType: "channel",
      integrationPatternType: "message_channel",
      sendTimers: { successes: { count, mean, max }, failures: { count: failures, mean: 1, max: 1 } },
    },
  ],
  links: [],
});

function node(graph: GraphSnapshot, name: string) {
  const found = graph.nodes.find((node) => node.name === name && node.key.includes("spring"));
  if (found === undefined) throw new Error(`no node ${name}`);
  return found;
}

describe("its numbers", () => {
  it("grow with what happened there, counts and means exactly, the longest where it has risen", async () => {
    const { graph } = graphWith({ app: undefined });
    answer = json(one(10, 2, 5));
    await graph.rebuild();
    expect(node(graph.snapshot(), "in").key).toBe("channel:spring:billing:channel:in");
    expect(node(graph.snapshot(), "in").sendTimers?.successes).toMatchObject({ count: 10, max: expect.closeTo(5, 6) });
    answer = json(one(14, 3, 9, 1));
    await graph.rebuild();
    const { sendTimers, lastSeenTime } = node(graph.snapshot(), "in");
    expect(sendTimers?.successes).toEqual({ count: 14, mean: expect.closeTo(3, 6), max: expect.closeTo(9, 6) });
    expect(sendTimers?.failures.count).toBe(1);
    expect(lastSeenTime).toBeGreaterThan(Date.now() - 60_000);
  });

  it("are in a rate and a time only where they grew since the first reading, as nobody knows when the rest came", async () => {
    const { graph } = graphWith();
    await graph.rebuild();
    for (const { name, rate, lastSeenTime } of graph.snapshot().nodes) {
      expect({ name, rate, lastSeenTime }).toEqual({ name, rate: 0 });
    }
    answer = json(one(10, 2, 5));
    await graph.rebuild();
    answer = json(one(16, 2, 5));
    await graph.rebuild();
    expect(node(graph.snapshot(), "in").rate).toBeGreaterThan(0.09);
  });

  it("go on where the application began anew", async () => {
    const { graph } = graphWith();
    answer = json(one(10, 2, 5));
    await graph.rebuild();
    answer = json(one(3, 1, 1));
    await graph.rebuild();
    expect(node(graph.snapshot(), "in").sendTimers?.successes.count).toBe(13);
  });

  it("are read at the interval as well", async () => {
    const { graph, detach } = graphWith({ intervalMs: 20 });
    answer = json(one(1, 1, 1));
    await graph.rebuild();
    answer = json(one(5, 1, 1));
    await expect.poll(() => node(graph.snapshot(), "in").sendTimers?.successes.count).toBe(5);
    detach();
  });
});

const SMALL = { nodes: [{ nodeId: 1, name: "a" }], links: [] };

describe("an application out of reach", () => {
  it("keeps its part, marked as stale, until it is back", async () => {
    const { graph } = graphWith();
    await graph.rebuild();
    const before = graph.snapshot().nodes.length;
    answer = (_, response) => response.writeHead(503).end();
    await graph.rebuild();
    expect(graph.snapshot().nodes).toHaveLength(before);
    expect(new Set(graph.snapshot().nodes.map(({ stale }) => stale))).toEqual(new Set([true]));
    answer = json(RECORDED);
    await graph.rebuild();
    expect(new Set(graph.snapshot().nodes.map(({ stale }) => stale))).toEqual(new Set([false]));
  });

  const unfit: Record<string, Answer> = {
    "answers something else": json({ hello: 1 }),
    "answers no JSON": (_, response) => response.end("<html>"),
    "sends elsewhere": (request, response) => {
      if (request.url === "/elsewhere") return json(SMALL)(request, response);
      response.writeHead(302, { location: "/elsewhere" }).end();
    },
    "answers too much": (_, response) => response.end(JSON.stringify(SMALL).padEnd(2_000, " ")),
  };
  it.each(Object.entries(unfit))("that %s is told of as a source that could not be read", async (_, unfitAnswer) => {
    const told: unknown[] = [];
    const flow = integrationGraph({ app: "shop", onSourceError: (_, error) => told.push(error) });
    answer = unfitAnswer;
    const credentials = address.replace("//", "//operator:secret@");
    flow.attach(springIntegrationSource(credentials, { intervalMs: 0, maxBytes: 1_000 }));
    await flow.graph.rebuild();
    expect(told.length).toBeGreaterThan(0);
    expect(told.map(String).join()).not.toContain("secret");
    expect(flow.graph.snapshot().nodes).toEqual([]);
  });
});

describe("what is asked", () => {
  it("carries the credentials of the address or the headers given, and nothing in the graph shows them", async () => {
    const seen: (string | undefined)[] = [];
    answer = (request, response) => {
      seen.push(request.headers.authorization);
      json(RECORDED)(request, response);
    };
    const flow = integrationGraph({ app: "shop" });
    flow.attach(springIntegrationSource(address.replace("//", "//operator:p%40ss@"), { intervalMs: 0 }));
    flow.attach(
      springIntegrationSource(address, { intervalMs: 0, app: "b", headers: { authorization: "Bearer t0ken" } }),
    );
    await flow.graph.rebuild();
    expect(new Set(seen)).toEqual(
      new Set([`Basic ${Buffer.from("operator:p@ss").toString("base64")}`, "Bearer t0ken"]),
    );
    expect(JSON.stringify(flow.graph.snapshot())).not.toMatch(/p@ss|p%40ss|t0ken/);
  });

  it.each(["orders", "file:///etc/passwd", ""])("is refused for the address %j", (unfit) => {
    expect(() => springIntegrationSource(unfit)).toThrow(ActuatorError);
  });

  it("ends with the detachment, and takes away what was declared", async () => {
    const timers = process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;
    const { graph, detach } = graphWith({ intervalMs: 60_000 });
    await graph.rebuild();
    detach();
    detach();
    expect(process.getActiveResourcesInfo().filter((name) => name === "Timeout").length).toBeLessThanOrEqual(timers);
    let asked = 0;
    answer = () => asked++;
    await graph.rebuild();
    expect(asked).toBe(0);
    const declared = graph.snapshot().nodes.filter(({ integrationPatternType }) => integrationPatternType === "router");
    expect(declared).toEqual([]);
  });

  it("leaves out single components that are unfit, and no more", async () => {
    const long = "x".repeat(300);
    answer = json({
      nodes: [
        { nodeId: 1, name: "a", integrationPatternType: "message_channel" },
        {
          nodeId: 2,
          name: "b",
          componentType: "Weird Type",
          integrationPatternType: null,
          properties: { big: "y".repeat(9_000) },
        },
        { nodeId: 3, name: long },
        { nodeId: 4 },
        null,
      ],
      links: [
        { from: 1, to: 2, type: "input" },
        { from: 2, to: 1, type: "input" },
        { from: 1, to: 3, type: "input" },
        { from: 1, to: 2, type: "strange" },
      ],
    });
    const { graph } = graphWith();
    await graph.rebuild();
    expect(structure(graph.snapshot())).toMatchObject({
      nodes: [{ name: "a" }, { name: "b", componentType: "service-activator", properties: {} }],
      links: ["a -input-> b"],
    });
  });

  it("keeps its numbers numbers, whatever the other side says", async () => {
    const timer = { count: 9e15, mean: 1e308, max: 1e308 };
    const node = { nodeId: 1, name: "a", integrationPatternType: "service_activator" };
    const { graph } = graphWith();
    for (const count of [5, 9e15, 7]) {
      const successes = { ...timer, count };
      answer = json({ nodes: [{ ...node, sendTimers: { successes, failures: timer } }], links: [] });
      await graph.rebuild();
    }
    const { successes, failures } = graph.snapshot().nodes[0]!.sendTimers!;
    for (const { count, mean, max } of [successes, failures]) {
      expect([count, mean, max].every((number) => Number.isFinite(number) && number >= 0)).toBe(true);
    }
  });

  it("takes any user and password that an address can hold", async () => {
    let authorization: string | undefined;
    answer = (request, response) => {
      authorization = request.headers.authorization;
      json(RECORDED)(request, response);
    };
    const flow = integrationGraph({ app: "shop" });
    flow.attach(springIntegrationSource(address.replace("//", "//user:100%@"), { intervalMs: 0 }));
    await flow.graph.rebuild();
    expect(authorization).toBe(`Basic ${Buffer.from("user:100%").toString("base64")}`);
  });
});
