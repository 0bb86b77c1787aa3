/**
 * How long a normal client waits while 2,000 connections are idle and 1,000 watch, compared with the same client of a server
 * without other clients.
 */
import { join } from "node:path";
import { Child } from "./support/child.ts";
import type { Crowd, Standing } from "./support/crowd.ts";
import { environment } from "./support/environment.ts";
import { median } from "./support/median.ts";
import type { Asked, Waited } from "./support/normal-client.ts";
import { startServer } from "./support/server.ts";
import { printTable } from "./support/table.ts";
import type { Expected, Received, Watchers } from "./support/watchers.ts";

const connections = 2_000;
const watchers = 1_000;
const rounds = 9;
const requests = 2_000;
/** The client may wait so many times as long at its 99th percentile. */
const most = 2;

const here = (...path: readonly string[]) => join(import.meta.dirname, ...path);
const kinds = ["REST", "Connect", "gRPC"] as const;

console.log(environment("@connectrpc/connect", "@connectrpc/connect-node", "@bufbuild/protobuf"));
const [crowded, empty] = [
  await startServer(here("servers", "crowded.ts")),
  await startServer(here("servers", "crowded.ts")),
];
const crowd = new Child(here("support", "crowd.ts"));
const watching = new Child(here("support", "watchers.ts"));
const client = new Child(here("support", "normal-client.ts"));

await crowd.ask<Standing>({ port: crowded.port, http1: connections / 2, http2: connections / 2 } satisfies Crowd);
await watching.ask({
  port: crowded.port,
  count: watchers,
  perConnection: 50,
  protocol: "gRPC",
  gzip: false,
} satisfies Watchers);
const told = await watching.ask<Received>({ bytesEach: 1 } satisfies Expected);

const rows: string[][] = [];
let worst = 0;
for (const kind of kinds) {
  const ask = (port: number, count: number) => client.ask<Waited>({ port, kind, requests: count } satisfies Asked);
  for (const { port } of [crowded, empty]) await ask(port, 2 * requests);
  const pairs: { crowded: Waited; empty: Waited }[] = [];
  for (let round = 0; round < rounds; round++) {
    // The second run finds the machine as the first one left it, so the two take turns.
    const first = await ask(round % 2 === 0 ? crowded.port : empty.port, requests);
    const second = await ask(round % 2 === 0 ? empty.port : crowded.port, requests);
    pairs.push(round % 2 === 0 ? { crowded: first, empty: second } : { crowded: second, empty: first });
  }
  const figures = (["p50", "p99"] as const).map((name) => ({
    crowded: median(pairs.map((pair) => pair.crowded[name])),
    empty: median(pairs.map((pair) => pair.empty[name])),
    ratio: median(pairs.map((pair) => pair.crowded[name] / pair.empty[name])),
  }));
  worst = Math.max(worst, figures[1]!.ratio);
  rows.push([
    kind,
    ...figures.flatMap((figure) => [figure.crowded.toFixed(0), figure.empty.toFixed(0), figure.ratio.toFixed(2)]),
  ]);
}

const { connections: standing } = await crowd.ask<Standing>("standing" as never);
const usage = [await crowded.usage(), await empty.usage()].map(({ rss }) => `${(rss / 2 ** 20).toFixed(0)} MB`);
console.log(
  `${standing} idle connections and ${told.watchers} watchers stand at the end; ${usage[0]} beside ${usage[1]} resident`,
);
printTable(["µs", "p50 crowded", "alone", "ratio", "p99 crowded", "alone", "ratio"], rows);
const good = standing === connections && told.watchers === watchers && worst <= most;
console.log(`the worst p99 is ${worst.toFixed(2)} times that of a server of its own; at most ${most} was asked for`);
for (const process of [client, watching, crowd]) await process.end();
await crowded.end();
await empty.end();
process.exitCode = good ? 0 : 1;
