/**
 * A whole actuator in a process of its own, so that a crash is seen as one. Tells its parent its address, then answers
 * every message with what it holds and what was reported to it since the last. With the argument `tls` it speaks TLS.
 */
import { createActuator, integrationGraph, memorySessions } from "../../src/index.ts";
import { createListener } from "../../src/server/listener.ts";
import { authority } from "./certificates.ts";

/** What the child tells. */
export interface Held {
  readonly connections: number;
  readonly sessions: number;
  readonly streams: number;
  /** The number of TCP sockets that the process holds. */
  readonly sockets: number;
  /** Errors that reached `onError`, and warnings of Node. */
  readonly reports: readonly string[];
}

const reports: string[] = [];
const onError = (error: unknown, context: string) => void reports.push(`${context}: ${error}`);
process.on("warning", (warning) => reports.push(String(warning)));

const store = memorySessions();
store.put({ id: "known", username: "ada" });
const graph = integrationGraph({ app: "shop" });
graph.channel("orders");
const loggers = { groups: { web: ["http"] }, maxCreated: 100_000, logLevelChanges: false };
const actuator = createActuator({
  access: "loopback",
  loggers,
  sessions: { store, ids: "raw" },
  integrationGraph: graph,
  onError,
});
const soon = 1_000;
const listener = createListener(actuator.handler, {
  onError,
  limits: {
    protocolTimeoutMs: soon,
    handshakeTimeoutMs: soon,
    headersTimeoutMs: soon,
    requestTimeoutMs: soon,
    keepAliveTimeoutMs: soon,
    stalledWriteTimeoutMs: soon,
    idleSessionTimeoutMs: soon,
    pingIntervalMs: soon,
    pingTimeoutMs: soon,
    sweepIntervalMs: 100,
  },
});

const tls = process.argv[2] === "tls" ? await (await authority()).issue("server") : undefined;
const { port } = await listener.listen({ port: 0, tls });
process.on("message", () => {
  const sockets = process.getActiveResourcesInfo().filter((name) => name === "TCPSocketWrap").length;
  process.send!({ ...listener.counts, sockets, reports: reports.splice(0) } satisfies Held);
});
process.on("disconnect", () => process.exit());
process.send!({ port });
