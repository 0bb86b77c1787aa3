import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { channelKey, keyParts } from "../../../src/integration-graph/node-id.ts";
import type { GraphSnapshot, NodeSnapshot } from "../../../src/integration-graph/snapshot.ts";
import { startReceiver } from "./support.ts";

// Exports of real instrumentations, recorded against real brokers, and what really happened.

interface Truth {
  readonly destinations: readonly Item<{ system: string; kind: string; name: string; sent: Count; delivered: Count }>[];
  readonly components: readonly Item<{ service: string; kind: string; name: string; calls: number; of?: string }>[];
  readonly links: readonly Item<{ from: string; to: string; count: number }>[];
}

type Count = number | null;
/** What of an item no reading of the spans can find. */
type Item<T> = Readonly<T> & { readonly errors: number; readonly notInSpans?: string };

const fixture = (name: string) => readFileSync(join(import.meta.dirname, "fixtures", name), "utf8");

/** The graph in the words of the truth: a consumer is called for the destination that it reads, a task for itself. */
function told(graph: GraphSnapshot) {
  const nodes = new Map(graph.nodes.map((node) => [node.nodeId, node]));
  const input = (node: NodeSnapshot) => graph.links.find(({ to, type }) => to === node.nodeId && type === "input");
  const wordOf = (node: NodeSnapshot): string => {
    const { app, system, kind } = keyParts(node.key);
    if (system !== undefined) return `${system}:${kind}:${node.name}`;
    if (node.name === `${app}.producer`) return `${app}/(producer)`;
    const from = nodes.get(input(node)?.from ?? 0);
    return `${app}/${from !== undefined && node.name === `${from.name}.consumer` ? from.name : node.name}`;
  };
  const word = (id: number) => wordOf(nodes.get(id)!);
  const counted = (id: number, end: "from" | "to", type: string) =>
    graph.links.filter((link) => link[end] === id && link.type === type).reduce((sum, { count }) => sum + count, 0);
  return {
    destinations: Object.fromEntries(
      graph.nodes
        .filter(({ key }) => keyParts(key).system !== undefined)
        .map((node) => [
          wordOf(node),
          { sent: counted(node.nodeId, "to", "output"), delivered: counted(node.nodeId, "from", "input") },
        ]),
    ),
    components: Object.fromEntries(
      graph.nodes
        .filter(({ key, name }) => keyParts(key).app !== undefined && !name.endsWith(".producer"))
        .map((node) => {
          const { successes, failures } = node.sendTimers ?? {};
          const received = (node.receiveCounters?.successes ?? 0) + (node.receiveCounters?.failures ?? 0);
          const calls = (successes?.count ?? 0) + (failures?.count ?? 0) + received;
          return [wordOf(node), { calls, errors: failures?.count ?? 0 }];
        }),
    ),
    links: Object.fromEntries(graph.links.map(({ from, to, count }) => [`${word(from)} -> ${word(to)}`, count])),
  };
}

async function replay(name: string) {
  const { graph, post } = await startReceiver();
  for (const line of fixture(`${name}.jsonl`).trim().split("\n")) expect((await post(line)).status).toBe(200);
  return told(graph.snapshot());
}

test.each(["py-pika", "py-celery-rabbitmq", "node-amqplib", "node-kafkajs", "py-kafka-kp", "py-kafka-ck", "go-franz"])(
  "%s is what happened",
  async (name) => {
    const truth = JSON.parse(fixture(`${name}.truth.json`)) as Truth;
    const { destinations, components, links } = await replay(name);
    // Groups are in no span: such a consumer is called for its destination.
    const called = new Map<string, string>();
    for (const { service, name: own, of, notInSpans } of truth.components) {
      const destination = of?.split(":").at(-1);
      if (notInSpans !== undefined && destination !== undefined)
        called.set(`${service}/${own}`, `${service}/${destination}`);
    }
    const word = (end: string) => called.get(end) ?? end;

    const findable = truth.destinations.filter(({ notInSpans }) => notInSpans === undefined);
    expect(Object.keys(destinations).sort()).toEqual(
      findable.map(({ system, kind, name }) => `${system}:${kind}:${name}`).sort(),
    );
    for (const { system, kind, name, sent, delivered } of findable) {
      const found = destinations[`${system}:${kind}:${name}`]!;
      expect(found, name).toMatchObject({ ...(sent !== null && { sent }), ...(delivered !== null && { delivered }) });
    }
    for (const { service, name, of, calls, errors } of truth.components) {
      if (of !== undefined && destinations[of] === undefined) continue;
      expect(components[word(`${service}/${name}`)], name).toEqual({ calls, errors });
    }
    for (const { from, to, count, notInSpans } of truth.links) {
      if (notInSpans === undefined) expect(links[`${word(from)} -> ${word(to)}`], `${from} -> ${to}`).toBe(count);
    }
  },
);

test("py-pika's exchange stands for the queues that its deliveries do not name", async () => {
  const { components, links } = await replay("py-pika");
  expect(components["py-billing/py.orders"]).toEqual({ calls: 9, errors: 1 });
  expect(links["rabbitmq:exchange:py.orders -> py-billing/py.orders"]).toBe(9);
  expect(links["py-billing/py.orders -> rabbitmq:queue:py.mail"]).toBe(8);
});

test.each(["before", "after"])(
  "py-pika's names are those of queues and exchanges that are declared %s",
  async (when) => {
    const { flow, graph, post } = await startReceiver();
    const declare = () =>
      flow.attach({
        name: "amqp",
        attach(host) {
          const broker = host.broker("rabbitmq", "127.0.0.1:26000");
          for (const [kind, name] of [
            ["queue", "py.orders"],
            ["exchange", "py.mail"],
          ] as const) {
            host.declare({
              name,
              pattern: kind === "queue" ? "message_channel" : "publish_subscribe_channel",
              key: channelKey("rabbitmq", broker, kind, `//${name}`),
            });
          }
          return () => {};
        },
      });
    if (when === "before") declare();
    const lines = fixture("py-pika.jsonl").trim().split("\n");
    await post(lines[0]!);
    if (when === "after") declare();
    for (const line of lines.slice(1)) await post(line);
    expect(told(graph.snapshot()).destinations).toEqual({
      "rabbitmq:queue:py.orders": { sent: 10, delivered: 9 },
      "rabbitmq:exchange:py.mail": { sent: 12, delivered: 0 },
    });
  },
);
