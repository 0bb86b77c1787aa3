/**
 * What an event, a message to a port and a chunk of a pipeline cost when they are observed, beside the same bare.
 *
 * Rounds alternate between the two sides, so that both meet the same machine; ratios are of the medians within one run.
 */
import { EventEmitter } from "node:events";
import { PassThrough, Readable, Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { MessageChannel } from "node:worker_threads";
import {
  eventEmitterSource,
  messageChannelSource,
  streamPipelineSource,
} from "../src/adapters/graph/in-process/index.ts";
import { integrationGraph } from "../src/integration-graph/builder.ts";
import { environment } from "./support/environment.ts";
import { median } from "./support/median.ts";
import { printTable } from "./support/table.ts";

const rounds = 21;
const warmUpRounds = 6;

/** One side: what it does `count` times in a round. */
type Side = (count: number) => unknown;

let sink = 0;

/** An emitter with `listeners` listeners, observed or not. */
function emitting(listeners: number, observed: boolean): Side {
  const bus = new EventEmitter();
  for (let index = 0; index < listeners; index++) {
    bus.on("placed", (value: number) => {
      sink += value;
    });
  }
  if (observed) integrationGraph({ app: "bench" }).attach(eventEmitterSource(bus, { name: "bus" }));
  // A loop of its own for each side, so that the compiler sees one emitter at each place.
  return new Function("bus", "return (count) => { for (let i = 0; i < count; i++) bus.emit('placed', i) }")(
    bus,
  ) as Side;
}

function posting(observed: boolean): Side {
  const { port1, port2 } = new MessageChannel();
  if (observed) integrationGraph({ app: "bench" }).attach(messageChannelSource({ port1, port2 }, { name: "jobs" }));
  let left = 0;
  let done = () => {};
  port2.on("message", (value: number) => {
    sink += value;
    if (--left === 0) done();
  });
  port2.unref();
  return async (count) => {
    left = count;
    const { promise, resolve } = Promise.withResolvers<void>();
    done = resolve;
    port2.ref();
    for (let index = 0; index < count; index++) port1.postMessage(index);
    await promise;
    port2.unref();
  };
}

function streaming(observed: boolean): Side {
  const imports = streamPipelineSource([], { name: "import" });
  if (observed) integrationGraph({ app: "bench" }).attach(imports);
  return async (count) => {
    let made = 0;
    const source = new Readable({
      objectMode: true,
      read() {
        this.push(made < count ? made++ : null);
      },
    });
    const end = new Writable({
      objectMode: true,
      write(value: number, _, next) {
        sink += value;
        next();
      },
    });
    const streams = [source, new PassThrough({ objectMode: true }), end];
    await pipeline(observed ? imports.watch(streams) : streams);
  };
}

/** The median nanoseconds of one operation, of both sides. */
async function alternate(sides: readonly [bare: Side, observed: Side], count: number) {
  const times = sides.map((): number[] => []);
  for (let round = -warmUpRounds; round < rounds; round++) {
    for (const [index, side] of sides.entries()) {
      const start = process.hrtime.bigint();
      await side(count);
      if (round >= 0) times[index]!.push(Number(process.hrtime.bigint() - start) / count);
    }
  }
  return times.map(median) as [bare: number, observed: number];
}

console.log(environment());
const rows = [];
for (const [name, count, make] of [
  ["event without listeners", 200_000, (observed: boolean) => emitting(0, observed)],
  ["event, one listener", 200_000, (observed: boolean) => emitting(1, observed)],
  ["event, three listeners", 100_000, (observed: boolean) => emitting(3, observed)],
  ["message to a port, and received", 10_000, posting],
  ["chunk, source to sink in three stages", 20_000, streaming],
] as const) {
  const [bare, observed] = await alternate([make(false), make(true)], count);
  const nanoseconds = [bare, observed, observed - bare].map((time) => `${time.toFixed(0)} ns`);
  rows.push([name, ...nanoseconds, (observed / bare).toFixed(2)]);
}
printTable(["", "bare", "observed", "more", "ratio"], rows);
if (sink === 0) throw new Error("nothing arrived");
