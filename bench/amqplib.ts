/**
 * What the graph costs a message of amqplib: published, consumed, published on and acknowledged, at a real RabbitMQ.
 *
 * CPU time of the application, in processes of their own: amqplib alone, with the adapter, and with OpenTelemetry's SDK and its
 * instrumentation, without and with the graph's span processor; and in a wrapper that does no more than any adapter must: a clock
 * around each call, a counter, a context for what a message sends, and the promise of its function. A round is the same messages through
 * each of them, one after the other, beginning with another one each time.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import { createRequire } from "node:module";
import type { SpanProcessor } from "@opentelemetry/sdk-trace-base";
import type { Channel, ChannelModel, ConsumeMessage } from "amqplib";
import { amqplibSource } from "../src/adapters/graph/amqplib/index.ts";
import { integrationGraph } from "../src/integration-graph/builder.ts";
import { startRabbitmq } from "../test/support/rabbitmq-server.ts";
import { Child } from "./support/child.ts";
import { environment } from "./support/environment.ts";
import { median } from "./support/median.ts";
import { printTable } from "./support/table.ts";

const messages = 2_000;
const warmUpRounds = 10;
const rounds = 40;
const body = Buffer.alloc(200, "x");

/** Prepares a process before amqplib is loaded; what comes back is given every connection. */
type SetUp = () => Promise<(connection: ChannelModel) => void>;

/** Each beside `amqplib`, except where another one is named. */
const variants: { readonly [name: string]: { readonly setUp: SetUp; readonly beside?: string } } = {
  amqplib: { setUp: async () => () => {} },
  "amqplib again": { setUp: async () => () => {} },
  adapter: {
    setUp: async () => (connection) => integrationGraph({ app: "bench" }).attach(amqplibSource(connection)),
  },
  "bare wrapper": { setUp: async () => wrapChannels },
  "OpenTelemetry's SDK": { setUp: () => traced(false) },
  "SDK with the graph": { setUp: () => traced(true), beside: "OpenTelemetry's SDK" },
};

/** What an adapter cannot do without, and nothing of a graph. */
function wrapChannels(connection: ChannelModel): void {
  const storage = new AsyncLocalStorage<object>();
  const owner = {};
  const taken = { count: 0, time: 0 };
  const count = (start: number) => {
    taken.count++;
    taken.time += performance.now() - start;
  };
  const createChannel = connection.createChannel;
  connection.createChannel = async function (this: ChannelModel) {
    const channel = await createChannel.call(this);
    const { publish, consume } = channel;
    channel.publish = function (exchange, key, content, options) {
      const start = performance.now();
      const result = publish.call(this, exchange, key, content, options);
      count(start);
      return result;
    };
    channel.consume = function (queue, callback, options) {
      const wrapped = (message: ConsumeMessage | null): unknown => {
        const start = performance.now();
        const handled = storage.run(owner, callback, message) as unknown as Promise<void>;
        return handled.then(
          () => count(start),
          (error) => {
            count(start);
            throw error;
          },
        );
      };
      return consume.call(this, queue, wrapped as typeof callback, options);
    };
    return channel;
  };
}

async function traced(drawn: boolean): Promise<() => void> {
  const { context, trace } = await import("@opentelemetry/api");
  const { AsyncLocalStorageContextManager } = await import("@opentelemetry/context-async-hooks");
  const { registerInstrumentations } = await import("@opentelemetry/instrumentation");
  const { AmqplibInstrumentation } = await import("@opentelemetry/instrumentation-amqplib");
  const { BasicTracerProvider } = await import("@opentelemetry/sdk-trace-base");
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  const spanProcessors: SpanProcessor[] = [];
  if (drawn) {
    const { openTelemetrySource } = await import("../src/adapters/graph/opentelemetry/index.ts");
    const tracing = openTelemetrySource();
    spanProcessors.push(tracing.spanProcessor);
    integrationGraph({ app: "bench" }).attach(tracing);
  }
  const tracerProvider = new BasicTracerProvider({ spanProcessors });
  trace.setGlobalTracerProvider(tracerProvider);
  registerInstrumentations({ tracerProvider, instrumentations: [new AmqplibInstrumentation()] });
  return () => {};
}

/** An application that answers each question with the CPU time of its messages, in microseconds a message. */
async function application(variant: string, url: string): Promise<void> {
  const attach = await variants[variant]!.setUp();
  // The instrumentation sees only what is required after it.
  const { connect } = createRequire(import.meta.url)("amqplib") as typeof import("amqplib");
  const connection = await connect(url);
  attach(connection);
  const channel = await connection.createChannel();
  const { queue } = await channel.assertQueue("", { exclusive: true });
  // No queue is bound there: the broker drops the messages.
  await channel.assertExchange("paid", "fanout", { durable: false });
  await channel.prefetch(200);
  const round = { left: 0, over: () => {} };
  await channel.consume(queue, async (message) => {
    await undefined;
    channel.publish("paid", "", message!.content);
    channel.ack(message!);
    if (--round.left === 0) round.over();
  });
  process.on("message", async () => process.send!(await run(channel, queue, round)));
  process.on("disconnect", () => process.exit());
}

async function run(channel: Channel, queue: string, round: { left: number; over: () => void }): Promise<number> {
  round.left = messages;
  const over = new Promise<void>((resolve) => {
    round.over = resolve;
  });
  const before = process.cpuUsage();
  for (let sent = 0; sent < messages; sent++) {
    if (!channel.publish("", queue, body)) await new Promise<void>((resolve) => channel.once("drain", resolve));
  }
  await over;
  const { user, system } = process.cpuUsage(before);
  return (user + system) / messages;
}

async function compare(): Promise<void> {
  console.log(environment("amqplib", "@opentelemetry/sdk-trace-base", "@opentelemetry/instrumentation-amqplib"));
  await using broker = await startRabbitmq();
  const names = Object.keys(variants);
  const children = names.map((name) => new Child(import.meta.filename, { args: [name, broker.url] }));
  const times = names.map((): number[] => []);
  for (let round = -warmUpRounds; round < rounds; round++) {
    for (let turn = 0; turn < names.length; turn++) {
      const index = (round + warmUpRounds + turn) % names.length;
      const time = await children[index]!.ask<number>({});
      if (round >= 0) times[index]!.push(time);
    }
  }
  await Promise.all(children.map((child) => child.end()));
  const rows = names.map((name, index) => {
    const other = variants[name]!.beside ?? "amqplib";
    const beside = times[names.indexOf(other)]!;
    const ratios = times[index]!.map((time, round) => time / beside[round]!).sort((one, other) => one - other);
    const quartile = (part: number) => ratios[Math.round((ratios.length - 1) * part)]!.toFixed(2);
    return [
      name,
      `${median(times[index]!).toFixed(1)} µs`,
      median(ratios).toFixed(3),
      `${quartile(0.25)}-${quartile(0.75)}`,
      other,
    ];
  });
  printTable([`${rounds} rounds of ${messages} messages`, "CPU a message", "ratio", "half of the rounds", "to"], rows);
}

const [variant, url] = process.argv.slice(2);
if (process.send !== undefined && variant !== undefined) await application(variant, url!);
else await compare();
