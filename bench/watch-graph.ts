/**
 * What 100 watchers of a graph of 2,000 nodes and 4,000 links cost at an interval of one second. The watchers are streams of
 * node:http2 in a process of their own that decode nothing. `node bench/watch-graph.ts [watchers]`.
 */
import { join } from "node:path";
import type { Traffic, TrafficCost } from "./servers/watch-graph.ts";
import { Child } from "./support/child.ts";
import { environment } from "./support/environment.ts";
import { printTable } from "./support/table.ts";
import type { Expected, Received, Watchers } from "./support/watchers.ts";

const most = Number(process.argv[2] ?? 100);
const seconds = 5;
const method = "/actuator.v3.IntegrationGraphService/WatchIntegrationGraph";

async function measure(count: number, protocol: Watchers["protocol"]): Promise<readonly string[][]> {
  const server = new Child(join(import.meta.dirname, "servers", "watch-graph.ts"));
  const { port } = await server.next<{ port: number }>();
  const clients = new Child(join(import.meta.dirname, "support", "watchers.ts"));
  const watchers: Watchers = { port, count, perConnection: 20, protocol, gzip: false, method };
  if (count > 0) {
    await clients.ask(watchers);
    await clients.ask<Received>({ bytesEach: 1 } satisfies Expected);
  }
  const rows: string[][] = [];
  for (const filters of [1_000, 0, 10, 1_000]) {
    const { cpu, stall } = await server.ask<TrafficCost>({ filters, seconds } satisfies Traffic);
    const { bytes } = await clients.ask<Received>("taken" as never);
    rows.push([
      `${count} over ${protocol}, ${2 * filters} nodes change`,
      `${(cpu / seconds / 10_000).toFixed(2)} %`,
      `${stall.toFixed(0)} ms`,
      `${(bytes / seconds / 1_000).toFixed(0)} kB`,
    ]);
  }
  await clients.end();
  await server.end();
  // The first one warms everything up.
  return rows.slice(1);
}

console.log(environment("@connectrpc/connect", "@connectrpc/connect-node", "@bufbuild/protobuf"));
const rows: string[][] = [];
for (const count of [0, 1, most]) rows.push(...(await measure(count, "gRPC")));
rows.push(...(await measure(most, "Connect JSON")));
printTable(
  ["watchers of 2000 nodes, 4000 links, each second", "server CPU of one core", "longest stall", "sent a second"],
  rows,
);
