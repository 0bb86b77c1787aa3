/** `node bench/servers/crowded.ts`: an actuator over 100 pino loggers whose limits let a crowd in. */
import { pino } from "pino";
import { pinoLoggers } from "../../src/adapters/loggers/pino/index.ts";
import { createActuator } from "../../src/index.ts";
import { serving } from "../support/serve.ts";

const root = pino({ level: "info" });
const adapter = pinoLoggers(root);
const loggers = Array.from({ length: 100 }, (_, index) => root.child({ logger: `com.example.module${index}` }));

const actuator = createActuator({
  loggers: { adapters: [adapter], logLevelChanges: false },
  audit: false,
  streams: { max: 2_000, maxPerCaller: 2_000 },
  // Beyond the defaults, which let in 1,000 connections and close idle ones after about a minute.
  limits: { maxConnections: 4_000, keepAliveTimeoutMs: 600_000, idleSessionTimeoutMs: 600_000 },
});
const { port } = await actuator.listen({ port: 0 });
serving(port);
process.on("exit", () => loggers.length);
