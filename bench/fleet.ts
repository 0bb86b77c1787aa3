/**
 * A level on all instances of a fleet over Redis (`--engine=postgres`, `--engine=nats`): 50 processes with pino (`--instances=<count>`),
 * beside a bare message of that server to as many.
 *
 * The times are those from the answer, and from the call, until the last one has it, by the machine's monotonic clock. Then commands at
 * rest, the memory of an instance, and up to 1,000 instances simulated in one process.
 */
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { Fleet } from "../src/fleet/fleet.ts";
import { Child } from "./support/child.ts";
import { environment } from "./support/environment.ts";
import { FLEET_SERVERS } from "./support/fleet-servers.ts";
import { quantile } from "./support/latency.ts";
import { printTable } from "./support/table.ts";

const asked = (name: string) => process.argv.find((argument) => argument.startsWith(`--${name}=`))?.split("=")[1];
const count = Number(asked("instances") ?? 50);
const engine = asked("engine") ?? "redis";
const kind = FLEET_SERVERS[engine];
if (kind === undefined) throw new Error(`There is no engine ${engine}: give one of ${Object.keys(FLEET_SERVERS)}.`);
const rounds = 200;
const restSeconds = 20;
const module = join(import.meta.dirname, "servers", "fleet.ts");

console.log(environment("redis", "pg", "@nats-io/transport-node", "pino"));
const server = await kind.start();
const client = await kind.connect(server.url);
console.log(await client.version());
const fleet = new Fleet(
  { engine: kind.source(server.url), name: "bench", role: "reader" },
  { startTime: 0, loggers: undefined, ttl: {} },
);

/** Milliseconds until all have what a change changed, sorted: since it was asked for, and since it was acknowledged. */
interface Times {
  readonly asked: readonly number[];
  readonly acknowledged: readonly number[];
}

async function times(children: readonly Child[], change: (round: number) => Promise<unknown>): Promise<Times> {
  const taken: { readonly asked: number; readonly acknowledged: number }[] = [];
  for (let round = -10; round < rounds; round++) {
    await delay(30);
    const question = questionOf(round);
    const began = await Promise.all(children.map((child) => child.ask(question)));
    if (began.some((answer) => answer !== "listening")) throw new Error("an instance does not listen");
    const answers = Promise.all(children.map((child) => child.next<number>()));
    const start = now();
    await change(round);
    const end = now();
    const last = Math.max(...(await answers));
    if (round >= 0) taken.push({ asked: (last - start) / 1e6, acknowledged: Math.max(0, (last - end) / 1e6) });
  }
  const sorted = (name: keyof Times) => taken.map((each) => each[name]).sort((one, other) => one - other);
  return { asked: sorted("asked"), acknowledged: sorted("acknowledged") };

  function questionOf(round: number): object {
    return change === setLevel ? { level: levelOf(round) } : { bare: `${round}` };
  }
}

const now = () => Number(process.hrtime.bigint());
const levelOf = (round: number) => (round % 2 === 0 ? "WARN" : "ERROR");
const setLevel = (round: number) => fleet.setLevel("orders", levelOf(round));
const publish = (round: number) => client.publish(`${round}`);

async function start(processes: number, each: number): Promise<Child[]> {
  const execArgv = ["--expose-gc"];
  const children = Array.from(
    { length: processes },
    () => new Child(module, { args: [engine, server.url, `${each}`], execArgv }),
  );
  await Promise.all(children.map((child) => child.next()));
  await delay(2_000);
  return children;
}

/** What share of a processor the server uses, in percent. */
async function usage(seconds: number): Promise<string> {
  const before = await client.processor();
  await delay(seconds * 1_000);
  const after = await client.processor();
  if (before === undefined || after === undefined) return "not known";
  return `${(((after - before) / seconds) * 100).toFixed(1)} %`;
}

const ms = (value: number) => `${value.toFixed(1)} ms`;
const COLUMNS = ["p50", "p99", "after the call: p50", "p99"];
const row = (what: string, { asked, acknowledged }: Times) => [
  what,
  ...[acknowledged, asked].flatMap((each) => [ms(quantile(each, 0.5)), ms(quantile(each, 0.99))]),
];

const children = await start(count, 1);
const bare = await times(children, publish);
const own = await times(children, setLevel);
console.log(`\n${count} processes, ${rounds} rounds`);
printTable(
  ["after the acknowledgement", ...COLUMNS],
  [row(`bare ${kind.message}`, bare), row("a level of the fleet", own)],
);
const ratio = (part: number) => (quantile(own.asked, part) / quantile(bare.asked, part)).toFixed(1);
console.log(`a level, after the call: ${ratio(0.5)} × (p50), ${ratio(0.99)} × (p99)`);

// Servers count what was done a while ago late.
await delay(10_000);
const before = await client.commands();
const used = await usage(restSeconds);
const perSecond = ((await client.commands()) - before) / restSeconds / (count + 1);
console.log(`\nat rest: ${perSecond.toFixed(2)} commands a second for each instance; processor of the server: ${used}`);
const bytes = await children[0]!.ask<number>({});
console.log(`memory: ${(bytes / 1024).toFixed(0)} KB of heap for one more instance, with its loggers and connection`);
await Promise.all(children.map((child) => child.end()));

const rows: string[][] = [];
for (const size of [5, 50, 200, 1_000].filter((each) => each <= kind.maxInstances)) {
  const crowd = await start(1, size);
  const sorted = await times(crowd, setLevel);
  rows.push([...row(`${size}`, sorted), await usage(10)]);
  await crowd[0]!.end();
}
console.log("\nsimulated in one process");
printTable(["instances", ...COLUMNS, "server at rest"], rows);

await fleet.close();
await client.close();
await server.stop();
