/**
 * What 500 watchers of 10,000 loggers cost: opening, a change of ROOT, and memory, beside a bare server of the same bytes.
 *
 * `npm run bench -- watch [watchers] [part of a name]`. The watchers are in a process of their own and decode nothing. The bare server
 * writes the buffers that one watcher of the actuator has received: what no actuator can cost less than.
 */
import { join } from "node:path";
import { create, toBinary } from "@bufbuild/protobuf";
import { WatchLoggersRequestSchema } from "../src/gen/actuator/v3/loggers_pb.ts";
import type { LevelToSet } from "./servers/watch.ts";
import type { Written } from "./servers/watch-bare.ts";
import { Child } from "./support/child.ts";
import { environment } from "./support/environment.ts";
import { median } from "./support/median.ts";
import { printTable } from "./support/table.ts";
import type { WatchCost } from "./support/watch-cost.ts";
import type { Expected, Received, Watchers } from "./support/watchers.ts";

const loggers = 10_000;
const rounds = 4;
const [count = 500] = process.argv.slice(2).map(Number).filter(Number.isFinite);
const wanted = process.argv.slice(2).filter((argument) => !Number.isFinite(Number(argument)));
/** The goals for 500 watchers over gRPC. */
const most = { cpu: (500 * count) / 500, peak: (40 * count) / 500, heap: 12 };

interface Kind extends Pick<Watchers, "protocol" | "gzip" | "perConnection" | "message"> {
  readonly name: string;
  /** How long a change of ROOT may take until 1,000 watchers have it. */
  readonly mostMs?: number;
}
const compact = create(WatchLoggersRequestSchema, { compact: true });
const http2 = { gzip: false, perConnection: 100 };
const kinds: readonly Kind[] = [
  { name: "gRPC", protocol: "gRPC", ...http2 },
  {
    name: "gRPC, compact",
    protocol: "gRPC",
    ...http2,
    message: toBinary(WatchLoggersRequestSchema, compact),
    mostMs: 150,
  },
  { name: "gRPC, gzip", protocol: "gRPC", ...http2, gzip: true },
  { name: "gRPC-Web", protocol: "gRPC-Web", ...http2 },
  { name: "Connect JSON", protocol: "Connect JSON", ...http2 },
  { name: "gRPC-Web, HTTP/1.1", protocol: "gRPC-Web", gzip: false },
];

/** What one step cost the server, and when all watchers had it. */
interface Spent extends WatchCost {
  readonly durationMs: number;
  readonly bytes: number;
}

/** A server with its watchers. */
class Watched {
  readonly #server: Child;
  readonly #watchers = new Child(join(import.meta.dirname, "support", "watchers.ts"));
  readonly #kind: Kind;
  #port = 0;

  constructor(kind: Kind, module: string, args: readonly string[]) {
    this.#kind = kind;
    this.#server = new Child(join(import.meta.dirname, "servers", module), { args, execArgv: ["--expose-gc"] });
  }

  async start(): Promise<this> {
    ({ port: this.#port } = await this.#server.next<{ port: number }>());
    return this;
  }

  /** The first watcher, in a process of its own, whose bytes are kept. */
  async startSample(): Promise<Child> {
    const sample = new Child(join(import.meta.dirname, "support", "watchers.ts"));
    await sample.ask({ ...this.#kind, port: this.#port, count: 1, record: true } satisfies Watchers);
    return sample;
  }

  cost(): Promise<WatchCost> {
    return this.#server.ask<WatchCost>("cost" as never);
  }

  tell(message: LevelToSet | Written): Promise<{ at: number }> {
    return this.#server.ask<{ at: number }>(message);
  }

  async open(bytesEach: number): Promise<Spent> {
    const at = Date.now();
    await this.#watchers.ask({ ...this.#kind, port: this.#port, count } satisfies Watchers);
    return this.#spent(at, bytesEach);
  }

  async change(message: LevelToSet | Written, bytesEach: number): Promise<Spent> {
    const { at } = await this.tell(message);
    return this.#spent(at, bytesEach);
  }

  async end(): Promise<void> {
    await this.#watchers.end();
    await this.#server.end();
  }

  async #spent(from: number, bytesEach: number): Promise<Spent> {
    const { at, bytes } = await this.#watchers.ask<Received>({ bytesEach } satisfies Expected);
    return { ...(await this.cost()), durationMs: at - from, bytes };
  }
}

async function measure(kind: Kind): Promise<readonly string[][]> {
  const ours = await new Watched(kind, "watch.ts", [`${loggers}`]).start();
  const bare = await new Watched(kind, "watch-bare.ts", [kind.perConnection === undefined ? "http1" : "http2"]).start();
  const sample = await ours.startSample();
  const recorded = async () => (await sample.ask<Received>({ bytesEach: 1 } satisfies Expected)).recorded;
  const snapshot = await recorded();
  const levels = ["DEBUG", "WARN"].map((level) => ({ name: "ROOT", level }) as LevelToSet);
  const changes: Uint8Array[] = [];
  for (const level of levels) {
    await ours.tell(level);
    changes.push(await recorded());
  }
  await bare.tell({ when: "opening", bytes: snapshot });

  const idle = { ours: await ours.cost(), bare: await bare.cost() };
  const opened = { ours: await ours.open(snapshot.length), bare: await bare.open(snapshot.length) };
  const changed = [];
  for (let round = 0; round < rounds; round++) {
    const bytes = changes[round % 2]!;
    changed.push({
      ours: await ours.change(levels[round % 2]!, bytes.length),
      bare: await bare.change({ when: "now", bytes }, bytes.length),
    });
  }
  for (const process of [sample, ours, bare]) await process.end();

  const row = (
    what: string,
    pairs: readonly (typeof opened)[],
    [peakMost, cpuMost, timeMost]: readonly (number | undefined)[],
  ) => {
    const shown = (side: "ours" | "bare", of: (spent: Spent) => number, unit: string, most?: number) =>
      figure(median(pairs.map((pair) => of(pair[side]))), unit, most);
    const cpu = (spent: Spent) => spent.cpu / 1_000;
    const time = (spent: Spent) => spent.durationMs;
    const peak = (side: "ours" | "bare") => (spent: Spent) => (spent.peak - idle[side].rss) / 2 ** 20;
    return [
      `${kind.name}: ${what}`,
      shown("ours", cpu, "ms", cpuMost),
      shown("bare", cpu, "ms"),
      median(pairs.map(({ ours, bare }) => ours.cpu / bare.cpu)).toFixed(1),
      shown("ours", time, "ms", timeMost),
      shown("bare", time, "ms"),
      shown("ours", peak("ours"), "MB", peakMost),
      shown("bare", peak("bare"), "MB"),
      shown("ours", (spent) => spent.stall, "ms"),
      shown("ours", (spent) => spent.bytes / 2 ** 20, "MB"),
    ];
  };
  const heap = (side: "ours" | "bare") => (opened[side].heap - idle[side].heap) / count / 1_024;
  const timeMost = kind.mostMs;
  // The first change compiles what the others run.
  const counted = changed.slice(1);
  return [
    row("opening, a snapshot each", [opened], [most.peak]),
    row("a change of ROOT", counted, [most.peak, most.cpu, timeMost]),
    [`${kind.name}: heap of a waiting watcher`, figure(heap("ours"), "KB", most.heap), figure(heap("bare"), "KB")],
  ];
}

function figure(value: number, unit: string, most = Number.POSITIVE_INFINITY): string {
  if (!Number.isFinite(most)) return `${value.toFixed(0)} ${unit}`;
  return `${value.toFixed(0)} of ${most} ${unit}${value > most ? " over" : ""}`;
}

console.log(environment("@connectrpc/connect", "@connectrpc/connect-node", "@bufbuild/protobuf"));
const rows: (readonly string[])[] = [];
for (const kind of kinds) if (wanted.every((part) => kind.name.includes(part))) rows.push(...(await measure(kind)));
printTable(
  [
    `${count} watchers of ${loggers} loggers`,
    "CPU",
    "bare",
    "× it",
    "all have it",
    "bare",
    "peak memory",
    "bare",
    "longest stall",
    "sent",
  ],
  rows,
);
