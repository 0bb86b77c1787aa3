import { type ConnectionOptions, type NatsConnection, connect as toNats } from "@nats-io/transport-node";
import { onTestFinished } from "vitest";
import { type NatsAdapter, type NatsOptions, natsSource } from "../../../../src/adapters/graph/nats/index.ts";
import { type GraphBuilder, integrationGraph } from "../../../../src/integration-graph/builder.ts";
import type { NodeSnapshot } from "../../../../src/integration-graph/snapshot.ts";
import { graphPictures, sentOnly } from "../../../support/graph-picture.ts";
import { type NatsServer, startNats } from "../../../support/nats-server.ts";

export { until } from "../../../support/until.ts";

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
  const adapter = natsSource(nc, options);
  const detach = flow.attach(adapter);
  return { nc, flow, adapter, detach, picture: () => picture(flow.graph.snapshot()) };
}

/** What a destination is stands in its key, also where only messages told of it. */
function label({ componentType, key, name }: NodeSnapshot): string {
  const [, kind] = /^channel:[^:]+:[^:]+:([^:]+):/.exec(key) ?? [];
  return `${kind ?? componentType.replace(/^(nats|mqtt):/, "")} ${name}`;
}

export const { picture, nodeOf } = graphPictures({ label, numbers: sentOnly });

/** A callback that takes its time, for a library whose types know none; the function itself. */
export function awaited<A extends unknown[]>(callback: (...args: A) => Promise<void>): (...args: A) => void {
  return callback;
}
