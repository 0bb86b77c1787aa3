/**
 * What an event, a message to a port and a chunk of a pipeline cost when they are observed, beside the same bare.
 *
 * CPU time. Rounds alternate between the sides, so that all meet the same machine; ratios are of the medians within one run. Of events
 * also what they cost in a wrapper that does the least: two readings of the clock, a counter, and a context for each listener, by
 * AsyncLocalStorage's `run`.
 */
import { AsyncLocalStorage } from "node:async_hooks";
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
  return loopOf(bus);
}

/** The same in wrappers that know no graph. */
function wrapping(listeners: number): Side {
  const bus = new EventEmitter();
  const storage = new AsyncLocalStorage<object>();
  const taken = { count: 0, time: 0 };
  const owner = {};
  for (let index = 0; index < listeners; index++) {
    const listener = (value: number) => {
      sink += value;
    };
    bus.on("placed", (value: number) => {
      taken.count++;
      storage.run(owner, listener, value);
    });
  }
  const { emit } = bus;
  bus.emit = (event: string, value: unknown) => {
    const start = performance.now();
    const heard = emit.call(bus, event, value);
    taken.count++;
    taken.time += performance.now() - start;
    return heard;
  };
  return loopOf(bus);
}

// A loop of its own for each side, so that the compiler sees one emitter at each place.
function loopOf(bus: EventEmitter): Side {
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

/** The median nanoseconds of CPU time of one operation, of each side. */
async function alternate(sides: readonly Side[], count: number): Promise<number[]> {
  const times = sides.map((): number[] => []);
  for (let round = -warmUpRounds; round < rounds; round++) {
    for (const [index, side] of sides.entries()) {
      const before = process.cpuUsage();
      await side(count);
      const { user, system } = process.cpuUsage(before);
      if (round >= 0) times[index]!.push(((user + system) * 1e3) / count);
    }
  }
  return times.map(median);
}

const events = (name: string, listeners: number) =>
  [name, 200_000, (observed: boolean) => emitting(listeners, observed), () => wrapping(listeners)] as const;

console.log(environment());
const rows = [];
for (const [name, count, make, makeLeast] of [
  events("event without listeners", 0),
  events("event, one listener", 1),
  events("event, three listeners", 3),
  ["message to a port, and received", 10_000, posting],
  ["chunk, source to sink in three stages", 20_000, streaming],
] as const) {
  const sides = [make(false), make(true), ...(makeLeast === undefined ? [] : [makeLeast()])];
  const [bare, observed, least] = (await alternate(sides, count)) as [number, number, number?];
  const more = [observed - bare, ...(least === undefined ? [] : [least - bare])];
  rows.push([
    name,
    ...[bare, observed, ...more].map((time) => `${time.toFixed(0)} ns`),
    ...(least === undefined ? [""] : []),
  ]);
}
printTable(["", "bare", "observed", "more", "least wrapper: more"], rows);
if (sink === 0) throw new Error("nothing arrived");
