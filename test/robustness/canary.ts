import { once } from "node:events";
import http, { type IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";
import { type Client, createClient, type Transport } from "@connectrpc/connect";
import { createConnectTransport, createGrpcTransport, createGrpcWebTransport } from "@connectrpc/connect-node";
import { Level } from "../../src/gen/actuator/v3/level_pb.ts";
import { LoggersService } from "../../src/gen/actuator/v3/loggers_pb.ts";
import type { Ports } from "./attack.ts";

/** What a legitimate client observed of the server. */
export interface CanaryResult {
  /** Right answers. Anything else rejects. */
  readonly answers: number;
  /** Changes that a watch of the whole time saw, all in order. */
  readonly watched: number;
  /** Milliseconds that the slowest answer took. */
  readonly slowest: number;
}

const LEVELS = ["DEBUG", "INFO", "WARN", "ERROR", "TRACE"] as const;
const PAUSE_MS = 20;
/** Far more than an answer takes where much else is going on: what never comes is what this is about. */
const TIMEOUT_MS = 60_000;
/** A connection for each request: the server closes an idle one soon, and a request that crosses that would have to be repeated. */
const alone = { agent: false } as const;

/**
 * Sets a level again and again over one protocol, reads it back over the others and over REST, and watches it change, until
 * `over` aborts. Rejects for the first answer that is not right.
 */
export async function canary({ port, tlsPort }: Ports, over: AbortSignal): Promise<CanaryResult> {
  const clients = transports(port, tlsPort).map((transport) => createClient(LoggersService, transport));
  let answers = 0;
  let slowest = 0;
  const timed = async <T>(work: Promise<T>): Promise<T> => {
    const began = performance.now();
    const result = await work;
    slowest = Math.max(slowest, performance.now() - began);
    answers++;
    return result;
  };

  const leave = new AbortController();
  const seen: Level[] = [];
  let begun = false;
  const watching = watch(clients[1]!, seen, leave.signal, () => {
    begun = true;
  });
  watching.catch(() => {}); // Looked at when the attacks are over.
  await until(() => begun, "the watch begins", watching);
  const set: Level[] = [];
  const options = { timeoutMs: TIMEOUT_MS };
  for (let round = 0; !over.aborted; round++) {
    const name = LEVELS[round % LEVELS.length]!;
    const level = Level[name];
    await timed(clients[round % clients.length]!.setLoggerLevel({ name: "canary", level }, options));
    set.push(level);
    for (const client of clients) {
      const { result } = await timed(client.getLogger({ name: "canary" }, options));
      if (result.case !== "logger" || result.value.effectiveLevel !== level) {
        throw new Error(`the canary's level is ${JSON.stringify(result)}, not ${name}`);
      }
    }
    const request = http.get(`http://127.0.0.1:${port}/actuator/loggers/canary`, {
      ...alone,
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    const [response] = (await timed(once(request, "response"))) as [IncomingMessage];
    const body = await text(response);
    if (response.statusCode !== 200 || !body.includes(`"effectiveLevel":"${name}"`)) {
      throw new Error(`REST answers ${response.statusCode} ${body}, not ${name}`);
    }
    await until(() => seen.at(-1) === level, "the watch tells of a change", watching);
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
  leave.abort();
  await watching;
  if (set.join() !== seen.join()) throw new Error(`the watch saw ${seen.length} changes of ${set.length}`);
  return { answers, watched: seen.length, slowest };
}

function transports(port: number, tlsPort: number): Transport[] {
  const baseUrl = `http://127.0.0.1:${port}`;
  const baseUrlOverTls = `https://127.0.0.1:${tlsPort}`;
  const unverified = { rejectUnauthorized: false };
  // Sooner than the server closes it: a request that crosses that would have to be repeated.
  const idleConnectionTimeoutMs = 500;
  return [
    createConnectTransport({ baseUrl, httpVersion: "1.1", nodeOptions: alone }),
    createGrpcTransport({ baseUrl, idleConnectionTimeoutMs }),
    createGrpcWebTransport({ baseUrl, httpVersion: "2", idleConnectionTimeoutMs }),
    createConnectTransport({
      baseUrl: baseUrlOverTls,
      httpVersion: "2",
      nodeOptions: unverified,
      useBinaryFormat: true,
      idleConnectionTimeoutMs,
    }),
    createGrpcWebTransport({ baseUrl: baseUrlOverTls, httpVersion: "1.1", nodeOptions: { ...unverified, ...alone } }),
  ];
}

/** Notes each level that the canary's logger changes to. */
async function watch(
  client: Client<typeof LoggersService>,
  seen: Level[],
  signal: AbortSignal,
  begun: () => void,
): Promise<void> {
  try {
    for await (const { event } of client.watchLoggers({}, { signal })) {
      begun();
      if (event.case !== "change") continue;
      for (const { name, effectiveLevel } of event.value.loggers) {
        if (name === "canary" && effectiveLevel !== seen.at(-1)) seen.push(effectiveLevel);
      }
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

async function until(check: () => boolean, what: string, failing: Promise<unknown>): Promise<void> {
  const end = performance.now() + TIMEOUT_MS;
  while (!check()) {
    if (performance.now() > end) throw new Error(`not in ${TIMEOUT_MS} ms: ${what}`);
    await Promise.race([
      new Promise((resolve) => setTimeout(resolve, 5)),
      failing.then(() => Promise.reject(new Error("the watch ended"))),
    ]);
  }
}
