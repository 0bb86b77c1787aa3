/**
 * What the graph costs a job of BullMQ: added, processed, and another one added meanwhile, at a real Redis.
 *
 * CPU time of the application, in processes of their own: BullMQ alone, with the adapter, and with OpenTelemetry's SDK by BullMQ's
 * own telemetry, without and with the graph's span processor. A round is the same jobs through each of them, one after the
 * other, beginning with another one each time.
 */
import type { Telemetry } from "bullmq";
import { bullmqSource } from "../src/adapters/graph/bullmq/index.ts";
import { integrationGraph } from "../src/integration-graph/builder.ts";
import { startRedis } from "../test/support/redis-server.ts";
import { Child } from "./support/child.ts";
import { environment } from "./support/environment.ts";
import { median } from "./support/median.ts";
import { printTable } from "./support/table.ts";

const CONCURRENCY = 20;
const jobs = 4_000;
const warmUpRounds = 5;
const rounds = 15;
/** Two processes with the same program differ by where their code comes to lie; several of each even it out. */
const copies = 3;
const data = { text: "x".repeat(200) };

interface Variant {
  /** What the ratio is to; "bullmq" unless named. */
  readonly beside?: string;
  readonly attached?: boolean;
  readonly telemetry?: () => Promise<Telemetry>;
}

const variants: { readonly [name: string]: Variant } = {
  bullmq: {},
  "bullmq again": {},
  adapter: { attached: true },
  "OpenTelemetry's SDK": { telemetry: () => traced(false) },
  "SDK with the graph": { telemetry: () => traced(true), beside: "OpenTelemetry's SDK" },
};

async function traced(withGraph: boolean): Promise<Telemetry> {
  const { context, trace } = await import("@opentelemetry/api");
  const { AsyncLocalStorageContextManager } = await import("@opentelemetry/context-async-hooks");
  const { BasicTracerProvider } = await import("@opentelemetry/sdk-trace-base");
  const { BullMQOtel } = await import("bullmq-otel");
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: withGraph ? [await processor()] : [] }));
  return new BullMQOtel({ tracerName: "bench" });
}

async function processor() {
  const { openTelemetrySource } = await import("../src/adapters/graph/opentelemetry/index.ts");
  const adapter = openTelemetrySource();
  integrationGraph({ app: "bench" }).attach(adapter);
  return adapter.spanProcessor;
}

/** An application that answers each question with the CPU time of its jobs, in microseconds a job. */
async function application(name: string, port: number, db: number): Promise<void> {
  const { attached, telemetry } = variants[name]!;
  const options = {
    connection: { host: "127.0.0.1", port, db },
    ...(telemetry !== undefined && { telemetry: await telemetry() }),
  };
  const { Queue, Worker } = await import("bullmq");
  const defaultJobOptions = { removeOnComplete: true };
  const orders = new Queue("orders", { ...options, defaultJobOptions });
  const paid = new Queue("paid", { ...options, defaultJobOptions });
  const round = { left: 0, over: () => {} };
  const worker = new Worker(
    "orders",
    async (job) => {
      await paid.add("paid", job.data);
      if (--round.left === 0) round.over();
    },
    { ...options, concurrency: CONCURRENCY },
  );
  if (attached) integrationGraph({ app: "bench" }).attach(bullmqSource([orders, paid, worker]));
  await Promise.all([orders.waitUntilReady(), paid.waitUntilReady(), worker.waitUntilReady()]);

  async function run(): Promise<number> {
    round.left = jobs;
    const over = new Promise<void>((resolve) => {
      round.over = resolve;
    });
    const before = process.cpuUsage();
    for (let added = 0; added < jobs; added += CONCURRENCY) {
      await Promise.all(Array.from({ length: CONCURRENCY }, () => orders.add("order", data)));
    }
    await over;
    const { user, system } = process.cpuUsage(before);
    await paid.drain();
    return (user + system) / jobs;
  }
  process.on("message", async () => process.send!(await run()));
  process.on("disconnect", () => process.exit());
}

async function compare(): Promise<void> {
  console.log(environment("bullmq", "bullmq-otel", "@opentelemetry/sdk-trace-base"));
  await using server = await startRedis({
    args: ["--appendonly", "no", "--databases", `${copies * Object.keys(variants).length}`],
  });
  const names = Object.keys(variants);
  const all = Array.from({ length: copies }, () => names).flat();
  const children = all.map(
    (name, index) => new Child(import.meta.filename, { args: [name, `${server.port}`, `${index}`] }),
  );
  const times = all.map((): number[] => []);
  for (let round = -warmUpRounds; round < rounds; round++) {
    for (let turn = 0; turn < all.length; turn++) {
      const index = (round + warmUpRounds + turn) % all.length;
      const time = await children[index]!.ask<number>({});
      if (round >= 0) times[index]!.push(time);
    }
  }
  await Promise.all(children.map((child) => child.end()));
  /** Of all processes with a program, in the order of rounds. */
  const timesOf = (name: string) => times.filter((_, index) => all[index] === name).flat();
  const rows = names.map((name) => {
    const [own, beside] = [timesOf(name), timesOf(variants[name]!.beside ?? "bullmq")];
    const ratios = own.map((time, round) => time / beside[round]!).sort((one, other) => one - other);
    const quartile = (part: number) => ratios[Math.round((ratios.length - 1) * part)]!.toFixed(2);
    return [
      name,
      `${median(own).toFixed(1)} µs`,
      (median(own) / median(beside)).toFixed(3),
      `${quartile(0.25)}-${quartile(0.75)}`,
      variants[name]!.beside ?? "bullmq",
    ];
  });
  const heading = `${copies} processes each, ${rounds} rounds of ${jobs} jobs`;
  printTable([heading, "CPU a job", "ratio", "half of the rounds", "to"], rows);
}

const [variant, port, db] = process.argv.slice(2);
if (process.send !== undefined && variant !== undefined) await application(variant, Number(port), Number(db));
else await compare();
