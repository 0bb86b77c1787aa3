/** A client that asks for a logger, one request at a time on one connection, as a process of its own. */
import { Agent, get } from "node:http";
import { createClient } from "@connectrpc/connect";
import { createConnectTransport, createGrpcTransport } from "@connectrpc/connect-node";
import { LoggersService } from "../../src/gen/actuator/v3/loggers_pb.ts";
import { type Latency, quantile } from "./latency.ts";

/** So many requests to a server. */
export interface Asked {
  readonly port: number;
  readonly kind: "REST" | "Connect" | "gRPC";
  readonly requests: number;
}

/** How long they took, in µs. */
export type Waited = Latency;

const NAME = "com.example.module7";
const agent = new Agent({ keepAlive: true, maxSockets: 1 });
const callers = new Map<string, () => Promise<unknown>>();

function callerFor({ port, kind }: Asked): () => Promise<unknown> {
  const baseUrl = `http://127.0.0.1:${port}`;
  if (kind === "REST") {
    return () =>
      new Promise((resolve, reject) => {
        const request = get(`${baseUrl}/actuator/loggers/${NAME}`, { agent }, (response) => {
          if (response.statusCode !== 200) reject(new Error(`an answer with status ${response.statusCode}`));
          response.resume().once("end", resolve);
        });
        request.once("error", reject);
      });
  }
  const transport =
    kind === "gRPC" ? createGrpcTransport({ baseUrl }) : createConnectTransport({ baseUrl, httpVersion: "2" });
  const client = createClient(LoggersService, transport);
  return () => client.getLogger({ name: NAME });
}

process.on("message", async (asked: Asked) => {
  const key = `${asked.kind} ${asked.port}`;
  const call = callers.get(key) ?? callerFor(asked);
  callers.set(key, call);
  const taken: number[] = [];
  for (let index = 0; index < asked.requests; index++) {
    const began = performance.now();
    await call();
    taken.push((performance.now() - began) * 1_000);
  }
  const sorted = taken.sort((a, b) => a - b);
  process.send!({ p50: quantile(sorted, 0.5), p99: quantile(sorted, 0.99) } satisfies Waited);
});
process.on("disconnect", () => process.exit());
