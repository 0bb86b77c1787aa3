import { type ConnectionOptions, FlowProducer, Queue, QueueEvents, Worker } from "bullmq";
import { onTestFinished } from "vitest";
import { type BullmqOptions, bullmq } from "../../src/bullmq/index.ts";
import { integrationGraph } from "../../src/integration-graph/builder.ts";
import type { IntegrationGraph } from "../../src/integration-graph/graph.ts";
import type { GraphSnapshot, NodeSnapshot } from "../../src/integration-graph/snapshot.ts";
import type { RedisServer } from "../support/redis-server.ts";

let databases = 0;

/** An application with a database of its own: what it makes is watched, and closed with the test. */
export function application(
  server: RedisServer,
  options: BullmqOptions & { readonly app?: string; readonly db?: number; readonly attach?: boolean } = {},
) {
  const db = options.db ?? ++databases;
  const connection: ConnectionOptions = { host: server.host, port: server.port, db };
  const flow = integrationGraph({ app: options.app ?? "shop", onSourceError: () => {} });
  const jobs = bullmq([], options);
  const detach = options.attach === false ? () => {} : flow.attach(jobs);
  const { graph } = flow;

  function closing<T extends { close(): Promise<unknown>; on(event: "error", listener: () => void): unknown }>(
    made: T,
  ): T {
    made.on("error", () => {});
    onTestFinished(() =>
      made.close().then(
        () => {},
        () => {},
      ),
    );
    return made;
  }
  return {
    db,
    connection,
    flow,
    graph,
    jobs,
    detach,
    picture: () => picture(graph.snapshot()),
    node: (label: string) => nodeOf(graph, label),
    queue: (name: string, more = {}) => jobs.watch(closing(new Queue(name, { connection, ...more }))),
    worker: (name: string, processor: ConstructorParameters<typeof Worker>[1], more = {}) =>
      jobs.watch(closing(new Worker(name, processor, { connection, drainDelay: 0.1, ...more }))),
    flowProducer: (more = {}) => jobs.watch(closing(new FlowProducer({ connection, ...more }))),
    queueEvents: (name: string) => jobs.watch(closing(new QueueEvents(name, { connection }))),
    closing,
  };
}

/** The whole graph, as `{ nodes: { "queue orders": "3 ok, 1 failed" }, links: { "queue orders -input-> worker orders.bill": 4 } }`. */
export function picture({ nodes, links }: GraphSnapshot) {
  const labels = new Map(nodes.map((node) => [node.nodeId, label(node)]));
  return {
    nodes: Object.fromEntries(nodes.map((node) => [label(node), numbers(node)])),
    links: Object.fromEntries(
      links.map(({ from, type, to, count }) => [`${labels.get(from)} -${type}-> ${labels.get(to)}`, count]),
    ),
  };
}

export function nodeOf(graph: IntegrationGraph, wanted: string): NodeSnapshot {
  const found = graph.snapshot().nodes.find((node) => label(node) === wanted);
  if (found === undefined) throw new Error(`there is no "${wanted}"`);
  return found;
}

function label({ componentType, name }: NodeSnapshot): string {
  return `${componentType.replace(/^(bullmq|redis):/, "")} ${name}`;
}

function numbers({ sendTimers, receiveCounters }: NodeSnapshot): string {
  const sent = sendTimers && `${sendTimers.successes.count} ok, ${sendTimers.failures.count} failed`;
  const received = receiveCounters && `${receiveCounters.successes} received`;
  return [sent, received].filter(Boolean).join(", ");
}

/** Waits until `condition` holds, as long as the test may take. */
export async function until(condition: () => unknown): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 5));
}
