import { type ConnectionOptions, type NatsConnection, connect as toNats } from "@nats-io/transport-node";
import { onTestFinished } from "vitest";
import { type GraphBuilder, integrationGraph } from "../../src/integration-graph/builder.ts";
import type { GraphSnapshot, NodeSnapshot } from "../../src/integration-graph/snapshot.ts";
import { type NatsAdapter, type NatsOptions, nats } from "../../src/nats/index.ts";
import { type NatsServer, startNats } from "../support/nats-server.ts";

/** A server of a test's own: its streams and services are those of the whole server. */
export async function ownServer(options: Parameters<typeof startNats>[0] = {}): Promise<NatsServer> {
  const server = await startNats(options);
  onTestFinished(() => server.stop());
  return server;
}

export async function connection(server: NatsServer, options: ConnectionOptions = {}): Promise<NatsConnection> {
  const connected = await toNats({ servers: server.url, reconnectTimeWait: 50, maxReconnectAttempts: -1, ...options });
  onTestFinished(() => connected.close());
  return connected;
}

export interface Application {
  readonly nc: NatsConnection;
  readonly flow: GraphBuilder;
  readonly adapter: NatsAdapter;
  readonly detach: () => void;
  picture(): ReturnType<typeof picture>;
}

/** An application with one connection, and its graph. */
export async function application(server: NatsServer, options: NatsOptions = {}, app = "shop"): Promise<Application> {
  const nc = await connection(server);
  const flow = integrationGraph({ app });
  const adapter = nats(nc, options);
  const detach = flow.attach(adapter);
  return { nc, flow, adapter, detach, picture: () => picture(flow.graph.snapshot()) };
}

/** The whole graph, as `{ nodes: { "subject orders": "3 ok, 1 failed" }, links: { "subject orders -input-> bill": 4 } }`. */
export function picture({ nodes, links }: GraphSnapshot) {
  const labels = new Map(nodes.map((node) => [node.nodeId, label(node)]));
  return {
    nodes: Object.fromEntries(nodes.map((node) => [label(node), numbers(node)])),
    links: Object.fromEntries(
      links.map(({ from, type, to, count }) => [`${labels.get(from)} -${type}-> ${labels.get(to)}`, count]),
    ),
  };
}

/** The node of this label. */
export function nodeOf(snapshot: GraphSnapshot, wanted: string): NodeSnapshot {
  const found = snapshot.nodes.find((node) => label(node) === wanted);
  if (found === undefined) throw new Error(`there is no "${wanted}"`);
  return found;
}

/** What a destination is stands in its key, also where only messages told of it. */
function label({ componentType, key, name }: NodeSnapshot): string {
  const [, kind] = /^channel:[^:]+:[^:]+:([^:]+):/.exec(key) ?? [];
  return `${kind ?? componentType.replace(/^(nats|mqtt):/, "")} ${name}`;
}

/** `3 ok, 1 failed`; nothing for what has no such numbers. */
function numbers({ sendTimers }: NodeSnapshot): string {
  return sendTimers === undefined ? "" : `${sendTimers.successes.count} ok, ${sendTimers.failures.count} failed`;
}

/** Waits until `condition` holds, as long as the test may take. */
export async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 5));
}

/** A callback that takes its time, for a library whose types know none; the function itself. */
export function awaited<A extends unknown[]>(callback: (...args: A) => Promise<void>): (...args: A) => void {
  return callback;
}
