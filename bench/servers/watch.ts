/**
 * `node bench/servers/watch.ts <count>`: an actuator over so many pino loggers that takes many watchers. Each message is a level
 * to set, or asks what everything since the last one cost.
 */
import { pino } from "pino";
import { pinoLoggers } from "../../src/adapters/loggers/pino/index.ts";
import { createActuator, type Level } from "../../src/index.ts";
import { watchCost, watchStalls } from "../support/watch-cost.ts";

/** A level to set. */
export interface LevelToSet {
  readonly name: string;
  readonly level: Level;
}

const root = pino({ level: "info" });
const adapter = pinoLoggers(root);
const loggers = Array.from({ length: Number(process.argv[2]) }, (_, index) =>
  root.child({ logger: `com.example.module${index % 100}.Service${index}` }),
);
const actuator = createActuator({
  loggers: { adapters: [adapter], logLevelChanges: false },
  access: "loopback",
  // Beyond the defaults, for watchers with a connection each.
  streams: { max: 4_000, maxPerCaller: 4_000 },
  limits: { maxConnections: 4_000 },
});
const { port } = await actuator.listen({ port: 0 });
watchStalls();
process.on("message", (asked: LevelToSet | "cost") => {
  if (asked !== "cost") actuator.loggers!.setLevel(asked.name, asked.level);
  process.send!(asked === "cost" ? watchCost() : { at: Date.now() });
});
process.on("disconnect", () => process.exit());
process.on("exit", () => loggers.length);
process.send!({ port });
