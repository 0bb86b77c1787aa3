/**
 * What sending log records costs: how many reach one and 100 tails for a second of a processor, and the memory of tails that stop reading.
 *
 * `npm run bench -- logs [rounds] [part of a name]`, or `memory [seconds]` for the second part alone. The tails are in a process of their own
 * and decode nothing. The bare server writes the same bytes as often: what no actuator can cost less than.
 */
import { connect } from "node:http2";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { create, toBinary, toJsonString } from "@bufbuild/protobuf";
import { WatchLogsRequestSchema } from "../src/gen/actuator/v3/logs_pb.ts";
import type { Flood } from "./servers/logs.ts";
import type { Written } from "./servers/watch-bare.ts";
import { Child } from "./support/child.ts";
import { environment } from "./support/environment.ts";
import { median } from "./support/median.ts";
import { printTable } from "./support/table.ts";
import type { WatchCost } from "./support/watch-cost.ts";
import type { Expected, Received, Watchers } from "./support/watchers.ts";

const numbers = process.argv.slice(2).map(Number).filter(Number.isFinite);
const wanted = process.argv.slice(2).filter((argument) => !Number.isFinite(Number(argument)));
const method = "/actuator.v3.LogsService/WatchLogs";
const request = create(WatchLogsRequestSchema, { names: ["orders.payment"], maxPerSecond: 100_000 });
const TICK_MS = 50;
const SECONDS = 3;
/** What 100 tails together should receive for a second of a processor. */
const GOAL = 400_000;

interface Kind extends Pick<Watchers, "protocol" | "count"> {
  readonly perSecond: number;
}
const kinds: readonly Kind[] = (["gRPC", "Connect", "Connect JSON"] as const).flatMap((protocol) => [
  { protocol, count: 1, perSecond: 10_000 },
  { protocol, count: 100, perSecond: 2_500 },
]);

const nameOf = ({ protocol, count }: Kind) => `${protocol}, ${count === 1 ? "one tail" : `${count} tails`}`;
const server = (module: string, ...args: string[]) =>
  new Child(join(import.meta.dirname, "servers", module), { args, execArgv: ["--expose-gc"] });
const cost = (child: Child) => child.ask<WatchCost>("cost" as never);

async function opened(port: number, { protocol, count }: Kind, record: boolean): Promise<Child> {
  const message = protocol === "Connect JSON" ? Buffer.from(toJsonString(WatchLogsRequestSchema, request)) : undefined;
  const watchers = new Child(join(import.meta.dirname, "support", "watchers.ts"));
  await watchers.ask({
    ...{ port, protocol, count, method, record, gzip: false, perConnection: 100 },
    message: message ?? toBinary(WatchLogsRequestSchema, request),
  } satisfies Watchers);
  await received(watchers);
  return watchers;
}

const received = (watchers: Child) => watchers.ask<Received>({ bytesEach: 1 } satisfies Expected);

/** How many records reached all tails for a second of a processor, and how many times the processor of the bare server that took. */
interface Round {
  readonly perCore: number;
  readonly ratio: number;
}

async function measure(kind: Kind, rounds: number): Promise<readonly Round[]> {
  const ours = server("logs.ts");
  const { port } = await ours.next<{ port: number }>();
  const bare = server("watch-bare.ts", "http2");
  const { port: barePort } = await bare.next<{ port: number }>();
  const flood: Flood = { perSecond: kind.perSecond, seconds: SECONDS };

  await ours.ask(flood);
  await cost(ours);
  await ours.ask(flood);
  const writing = (await cost(ours)).cpu;

  const sample = await opened(port, { ...kind, count: 1 }, true);
  await ours.ask(flood);
  const { recorded } = await received(sample);
  await sample.end();

  const tails = await opened(port, kind, false);
  await bare.ask({ when: "opening", bytes: recorded.subarray(0, 64) } satisfies Written);
  const bareTails = await opened(barePort, kind, false);
  const measured: Round[] = [];
  for (let round = -1; round < rounds; round++) {
    await cost(ours);
    await ours.ask(flood);
    const { bytes } = await received(tails);
    const spent = (await cost(ours)).cpu - writing;
    await cost(bare);
    const ticks = (SECONDS * 1_000) / TICK_MS;
    const each = Math.ceil(recorded.length / ticks);
    for (let from = 0; from < recorded.length; from += each) {
      await bare.ask({ when: "now", bytes: recorded.subarray(from, from + each) } satisfies Written);
      await sleep(TICK_MS);
    }
    await received(bareTails);
    const spentBare = (await cost(bare)).cpu;
    // By their bytes, so that records that were dropped do not count.
    const delivered = (bytes / recorded.length) * kind.perSecond * SECONDS;
    if (round >= 0) measured.push({ perCore: delivered / (spent / 1e6), ratio: spent / spentBare });
  }
  for (const child of [tails, bareTails, ours, bare]) await child.end();
  return measured;
}

/** Tails that read nothing, each with a connection of its own, while 2,000 records a second are written. */
async function memory(seconds: number, count = 50): Promise<readonly string[][]> {
  const ours = server("logs.ts");
  const { port } = await ours.next<{ port: number }>();
  const flood: Flood = { perSecond: 2_000, seconds: 5 };
  await ours.ask(flood);
  const before = await cost(ours);
  const message = toBinary(WatchLogsRequestSchema, request);
  const body = Buffer.concat([Buffer.alloc(5), message]);
  body.writeUInt32BE(message.length, 1);
  for (let stopped = 0; stopped < count; stopped++) {
    const headers = { ":method": "POST", ":path": method, "content-type": "application/grpc", te: "trailers" };
    // Never read: the windows of the stream and of the connection fill up.
    connect(`http://127.0.0.1:${port}`).request(headers).end(body);
  }
  const rows: string[][] = [];
  const mib = (bytes: number) => `${(bytes / 2 ** 20).toFixed(1)} MB`;
  for (let at = 0; at < seconds; at += flood.seconds) {
    await ours.ask(flood);
    const { heap, rss } = await cost(ours);
    rows.push([`after ${at + flood.seconds} s`, mib(heap - before.heap), mib(rss - before.rss)]);
  }
  await ours.end();
  return rows;
}

console.log(environment("pino", "@connectrpc/connect", "@bufbuild/protobuf"));
if (wanted[0] !== "memory") {
  const rows: (readonly string[])[] = [];
  for (const kind of kinds) {
    if (!wanted.every((part) => nameOf(kind).includes(part))) continue;
    const measured = await measure(kind, numbers[0] ?? 5);
    const perCore = median(measured.map((round) => round.perCore));
    const goal = kind.count > 1 && kind.protocol !== "Connect JSON" ? GOAL : 0;
    const shown = Math.round(perCore).toLocaleString("en");
    rows.push([
      nameOf(kind),
      goal === 0 ? shown : `${shown} of ${goal.toLocaleString("en")}${perCore < goal ? " below" : ""}`,
      median(measured.map(({ ratio }) => ratio)).toFixed(1),
    ]);
  }
  printTable(["", "delivered a second and core", "× bare"], rows);
}
if (wanted.length === 0 || wanted[0] === "memory") {
  printTable(
    ["50 tails that stopped reading", "heap", "resident"],
    await memory(wanted.length === 0 ? 60 : (numbers[0] ?? 60)),
  );
}
process.exit();
