/**
 * A level on all instances of a fleet over Redis: 50 processes with pino (`--instances=<count>`), beside a bare PUBLISH to as many.
 *
 * The time is that from the acknowledgement, or from the answer to PUBLISH, until the last one has it, by the machine's monotonic clock.
 * Then commands at rest, the memory of an instance, and up to 1,000 instances simulated in one process.
 */
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { createClient } from "redis";
import { redisFleet } from "../src/adapters/fleet/redis/index.ts";
import { Fleet } from "../src/fleet/fleet.ts";
import { startRedis } from "../test/support/redis-server.ts";
import { Child } from "./support/child.ts";
import { environment } from "./support/environment.ts";
import { quantile } from "./support/latency.ts";
import { printTable } from "./support/table.ts";

const asked = process.argv.find((argument) => argument.startsWith("--instances="));
const count = Number(asked?.split("=")[1] ?? 50);
const rounds = 200;
const restSeconds = 20;
const module = join(import.meta.dirname, "servers", "fleet.ts");

console.log(environment("redis", "pino"));
console.log(execFileSync("redis-server", ["--version"], { encoding: "utf8" }).trim());
const server = await startRedis();
const client = createClient({ url: server.url });
await client.connect();
const fleet = new Fleet(
  { engine: redisFleet(server.url), name: "bench", role: "reader" },
  { startTime: 0, loggers: undefined, ttl: {} },
);

/** Milliseconds from `change` until all have what it changed: sorted. */
async function times(children: readonly Child[], change: (round: number) => Promise<object>): Promise<number[]> {
  const taken: number[] = [];
  for (let round = -10; round < rounds; round++) {
    await delay(30);
    const question = questionOf(round);
    const began = await Promise.all(children.map((child) => child.ask(question)));
    if (began.some((answer) => answer !== "listening")) throw new Error("an instance does not listen");
    const answers = Promise.all(children.map((child) => child.next<number>()));
    await change(round);
    const acknowledged = Number(process.hrtime.bigint());
    const last = Math.max(...(await answers));
    if (round >= 0) taken.push(Math.max(0, (last - acknowledged) / 1e6));
  }
  return taken.toSorted((one, other) => one - other);

  function questionOf(round: number): object {
    return change === setLevel ? { level: levelOf(round) } : { bare: `${round}` };
  }
}

const levelOf = (round: number) => (round % 2 === 0 ? "WARN" : "ERROR");
async function setLevel(round: number): Promise<object> {
  return { generation: await fleet.setLevel("orders", levelOf(round)) };
}
async function publish(round: number): Promise<object> {
  return { receivers: await client.publish("bare", `${round}`) };
}

async function start(processes: number, each: number): Promise<Child[]> {
  const execArgv = ["--expose-gc"];
  const children = Array.from(
    { length: processes },
    () => new Child(module, { args: [server.url, `${each}`], execArgv }),
  );
  await Promise.all(children.map((child) => child.next()));
  await delay(2_000);
  return children;
}

async function commands(): Promise<number> {
  const stats = await client.info("commandstats");
  return [...stats.matchAll(/^cmdstat_(\S+?):calls=(\d+)/gm)]
    .filter(([, name]) => !/^(info|hset|hget|hgetall|time)$/.test(name!))
    .reduce((sum, [, , calls]) => sum + Number(calls), 0);
}

async function processor(): Promise<number> {
  const [user, system] = [...(await client.info("cpu")).matchAll(/^used_cpu_(?:user|sys):([\d.]+)/gm)];
  return Number(user![1]) + Number(system![1]);
}

const ms = (value: number) => `${value.toFixed(1)} ms`;
const row = (what: string, sorted: readonly number[]) => [what, ms(quantile(sorted, 0.5)), ms(quantile(sorted, 0.99))];

const children = await start(count, 1);
const bare = await times(children, publish);
const own = await times(children, setLevel);
console.log(`\n${count} processes, ${rounds} rounds`);
printTable(["until the last one has it", "p50", "p99"], [row("bare PUBLISH", bare), row("a level of the fleet", own)]);
console.log(
  `a level: ${(quantile(own, 0.5) / quantile(bare, 0.5)).toFixed(1)} × (p50), ${(quantile(own, 0.99) / quantile(bare, 0.99)).toFixed(1)} × (p99)`,
);

const [before, busy] = [await commands(), await processor()];
await delay(restSeconds * 1_000);
const perSecond = ((await commands()) - before) / restSeconds / (count + 1);
const used = ((await processor()) - busy) / restSeconds;
console.log(
  `\nat rest: ${perSecond.toFixed(2)} commands a second for each instance; Redis ${(used * 100).toFixed(1)} % of a processor`,
);
const bytes = await children[0]!.ask<number>({});
console.log(`memory: ${(bytes / 1024).toFixed(0)} KB of heap for one more instance, with its loggers and connection`);
await Promise.all(children.map((child) => child.end()));

const rows: string[][] = [];
for (const size of [5, 50, 200, 1_000]) {
  const crowd = await start(1, size);
  const sorted = await times(crowd, setLevel);
  const cpu = await processor();
  await delay(10_000);
  rows.push([...row(`${size}`, sorted), `${(((await processor()) - cpu) * 10).toFixed(1)} %`]);
  await crowd[0]!.end();
}
console.log("\nsimulated in one process");
printTable(["instances", "p50", "p99", "Redis at rest"], rows);

await fleet.close();
client.destroy();
await server.stop();
