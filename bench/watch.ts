/**
 * What 1,000 watchers of 10,000 loggers cost: memory of each, and a change of one logger and of ROOT, until all have it. The
 * watchers are streams of node:http2 in a process of their own that decode nothing. `node bench/watch.ts [watchers]`.
 */
import { join } from "node:path";
import type { LevelToSet, WatchCost } from "./servers/watch.ts";
import { Child } from "./support/child.ts";
import { environment } from "./support/environment.ts";
import { printTable } from "./support/table.ts";
import type { Received, Watchers } from "./support/watchers.ts";

const loggers = 10_000;
const count = Number(process.argv[2] ?? 1_000);
const kinds: readonly Pick<Watchers, "protocol" | "gzip">[] = [
  { protocol: "gRPC", gzip: false },
  { protocol: "gRPC", gzip: true },
  { protocol: "Connect JSON", gzip: false },
];

const megabytes = (bytes: number) => `${(bytes / 2 ** 20).toFixed(0)} MB`;
const milliseconds = (time: number) => `${time.toFixed(0)} ms`;

async function measure(kind: (typeof kinds)[number]): Promise<readonly string[][]> {
  const module = join(import.meta.dirname, "servers", "watch.ts");
  const server = new Child(module, { args: [`${loggers}`], execArgv: ["--expose-gc"] });
  const { port } = await server.next<{ port: number }>();
  const clients = new Child(join(import.meta.dirname, "support", "watchers.ts"));
  const cost = () => server.ask<WatchCost>("cost" as never);
  const label = `${kind.protocol}${kind.gzip ? ", gzip" : ""}`;
  const rows: string[][] = [];
  const idle = await cost();

  async function round(what: string | undefined, begin: () => Promise<number>): Promise<WatchCost> {
    const at = await begin();
    const received = await clients.ask<Received>("quiet" as never);
    const spent = await cost();
    if (received.watchers !== count) throw new Error(`${received.watchers} of ${count} watchers were told`);
    if (what !== undefined) {
      rows.push([
        `${label}: ${what}`,
        milliseconds(received.at - at),
        milliseconds(spent.cpu / 1_000),
        milliseconds(spent.stall),
        megabytes(spent.peak - idle.rss),
        megabytes(received.bytes),
      ]);
    }
    return spent;
  }

  const change = (name: string, level: LevelToSet["level"]) => async () =>
    (await server.ask<{ at: number }>({ name, level } satisfies LevelToSet)).at;
  const opened = await round("opening, a snapshot each", async () => {
    const at = Date.now();
    await clients.ask({ port, count, perConnection: 100, ...kind } satisfies Watchers);
    return at;
  });
  const each = (opened.heap - idle.heap) / count / 1_024;
  rows.push([`${label}: heap of a watcher that waits`, `${each.toFixed(0)} KB`]);
  await round(undefined, change("com.example.module1.Service1", "DEBUG"));
  await round("a change of one logger", change("com.example.module1.Service1", "INFO"));
  await round(undefined, change("ROOT", "DEBUG"));
  const last = await round("a change of ROOT", change("ROOT", "WARN"));
  rows.push([`${label}: heap kept after that`, `${((last.heap - opened.heap) / count / 1_024).toFixed(0)} KB`]);
  await clients.end();
  await server.end();
  return rows;
}

console.log(environment("@connectrpc/connect", "@connectrpc/connect-node", "@bufbuild/protobuf"));
const heading = [
  `${count} watchers of ${loggers} loggers`,
  "all have it",
  "server CPU",
  "longest stall",
  "peak memory",
  "sent",
];
for (const kind of kinds) printTable(heading, await measure(kind));
