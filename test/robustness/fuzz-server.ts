/**
 * A whole actuator in a process of its own, on a cleartext port and one of TLS, under limits that are soon over. Tells its
 * parent the ports, and then with every message what it holds. Started with --expose-gc.
 */
import { readdirSync } from "node:fs";
import { pino } from "pino";
import { pinoLoggers } from "../../src/adapters/loggers/pino/index.ts";
import { createActuator, integrationGraph, memorySessions } from "../../src/index.ts";
import { createListener } from "../../src/server/listener.ts";
import { authority } from "../support/certificates.ts";
import { MAX_CREATED } from "./fuzz-server-limits.ts";

/** What the process holds at a moment. */
export interface Held {
  readonly connections: number;
  readonly sessions: number;
  readonly streams: number;
  /** The number of open files and sockets of the process. */
  readonly descriptors: number;
  /** Streaming calls that are open: watches and the like. */
  readonly watchers: number;
  readonly loggers: number;
  readonly graphNodes: number;
  /** Bytes in use after several collections: objects, and what they hold outside of the heap. */
  readonly heap: number;
  readonly external: number;
  /** What else the process has of the machine: V8 gave back the pages that it keeps for later, the allocator did not. */
  readonly resident: number;
  /** Processor time of the process so far, in µs. */
  readonly cpu: number;
  /** The longest time without a turn since the last message, in milliseconds, and how much of it this process worked. */
  readonly stall: { readonly ms: number; readonly cpuMs: number };
  /** Lines of the audit so far. */
  readonly audited: number;
  /** Errors that reached `onError`, and warnings of Node, since the last message. */
  readonly reports: readonly string[];
}

let audited = 0;
let stall = { ms: 0, cpuMs: 0 };
let last = { at: performance.now(), cpu: process.cpuUsage() };
setInterval(() => {
  const ms = performance.now() - last.at;
  const { user, system } = process.cpuUsage(last.cpu);
  if (ms > stall.ms) stall = { ms, cpuMs: (user + system) / 1_000 };
  last = { at: performance.now(), cpu: process.cpuUsage() };
}, 10);
const reports: string[] = [];
const onError = (error: unknown, context: string) =>
  void reports.push(`${context}: ${(error as Error)?.stack ?? error}`);
process.on("warning", (warning) => reports.push(String(warning)));

const root = pino({ level: "silent" });
const known = ["canary", "orders.billing"].map((logger) => root.child({ logger }));
const store = memorySessions();
store.put({ id: "known", username: "ada" });
const graph = integrationGraph({ app: "shop" });
graph.channel("orders");
const actuator = createActuator({
  access: "loopback",
  name: "fuzzed",
  loggers: {
    adapters: [pinoLoggers(root)],
    groups: { web: ["http"] },
    maxCreated: MAX_CREATED,
    logLevelChanges: false,
  },
  sessions: { store, ids: "raw" },
  integrationGraph: graph,
  otlp: { maxNodes: 50, maxServices: 10 },
  metrics: true,
  audit: () => void audited++,
  heartbeatMs: 500,
  onError,
});
const soon = 1_000;
const limits = {
  maxConnections: 2_000,
  protocolTimeoutMs: soon,
  handshakeTimeoutMs: soon,
  headersTimeoutMs: soon,
  requestTimeoutMs: soon,
  keepAliveTimeoutMs: 5 * soon,
  stalledWriteTimeoutMs: soon,
  idleSessionTimeoutMs: 30 * soon,
  pingIntervalMs: soon,
  pingTimeoutMs: soon,
  sweepIntervalMs: 100,
};
const cleartext = createListener(actuator.handler, { onError, limits });
const secure = createListener(actuator.handler, { onError, limits });
const { port } = await cleartext.listen({ port: 0 });
const { port: tlsPort } = await secure.listen({ port: 0, tls: await (await authority()).issue("server") });

function gauge(name: string): number {
  const { points } = actuator.metrics!.gauges().find((family) => family.name === name)!;
  return points.reduce((sum, { value }) => sum + value, 0);
}

async function held(): Promise<Held> {
  const longest = stall;
  for (let round = 0; round < 6; round++) {
    // Any other collection keeps the young generation as large as it ever was, and emptied pages for new objects.
    globalThis.gc!({ type: "major", execution: "sync", flavor: "last-resort" });
    // What is collected may have others to let go of a turn later, such as sockets.
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  const sum = (name: "connections" | "sessions" | "streams") => cleartext.counts[name] + secure.counts[name];
  const { heapUsed, external, rss: resident } = process.memoryUsage();
  const { user, system } = process.cpuUsage();
  stall = { ms: 0, cpuMs: 0 };
  return {
    stall: longest,
    connections: sum("connections"),
    sessions: sum("sessions"),
    streams: sum("streams"),
    descriptors: readdirSync("/proc/self/fd").length,
    watchers: gauge("actuator.streams"),
    loggers: actuator.loggers!.list().loggers.length,
    graphNodes: actuator.integrationGraph!.snapshot().nodes.length,
    heap: heapUsed,
    external,
    resident,
    cpu: user + system,
    audited,
    reports: reports.splice(0),
  };
}

process.on("message", async () => process.send!(await held()));
process.on("disconnect", () => process.exit());
process.on("exit", () => known.length);
process.send!({ port, tlsPort });
