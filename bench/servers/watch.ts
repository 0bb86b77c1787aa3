/**
 * `node bench/servers/watch.ts <count>`: an actuator over so many pino loggers that takes many watchers. Each message is a level
 * to set, or asks what everything since the last one cost.
 */
import { pino } from "pino";
import { pinoLoggers } from "../../src/adapters/loggers/pino/index.ts";
import { createActuator, type Level } from "../../src/index.ts";

/** A level to set. */
export interface LevelToSet {
  readonly name: string;
  readonly level: Level;
}

/** What it cost: processor time in µs, memory in bytes, the longest time without a turn in milliseconds. */
export interface WatchCost {
  readonly cpu: number;
  readonly heap: number;
  readonly rss: number;
  readonly peak: number;
  readonly stall: number;
}

const root = pino({ level: "info" });
const adapter = pinoLoggers(root);
const loggers = Array.from({ length: Number(process.argv[2]) }, (_, index) =>
  root.child({ logger: `com.example.module${index % 100}.Service${index}` }),
);
const actuator = createActuator({ loggers: { adapters: [adapter], logLevelChanges: false } });
const { port } = await actuator.listen({ port: 0 });

let usage = process.cpuUsage();
let peak = 0;
let stall = 0;
let last = performance.now();
setInterval(() => {
  const now = performance.now();
  stall = Math.max(stall, now - last);
  last = now;
  peak = Math.max(peak, process.memoryUsage.rss());
}, 5);

function cost(): WatchCost {
  const { user, system } = process.cpuUsage(usage);
  globalThis.gc?.();
  const { rss, heapUsed: heap } = process.memoryUsage();
  const answer = { cpu: user + system, heap, rss, peak, stall };
  usage = process.cpuUsage();
  last = performance.now();
  peak = 0;
  stall = 0;
  return answer;
}

process.on("message", (asked: LevelToSet | "cost") => {
  if (asked !== "cost") actuator.loggers!.setLevel(asked.name, asked.level);
  process.send!(asked === "cost" ? cost() : { at: Date.now() });
});
process.on("disconnect", () => process.exit());
process.on("exit", () => loggers.length);
process.send!({ port });
