/** Watchers of the loggers or of the graph, as a process of its own. They count bytes and decode nothing, so that the server is what is measured. */
import { Agent, request } from "node:http";
import { type ClientHttp2Session, connect } from "node:http2";
import { setTimeout as sleep } from "node:timers/promises";

/** Which watchers to open. */
export interface Watchers {
  readonly port: number;
  readonly count: number;
  readonly protocol: "gRPC" | "gRPC-Web" | "Connect" | "Connect JSON";
  readonly gzip: boolean;
  /** The watchers of one HTTP/2 connection. Over HTTP/1.1, if it is left out, each has a connection of its own. */
  readonly perConnection?: number;
  /** The message that asks; empty if it is left out. */
  readonly message?: Uint8Array;
  /** What is watched; the loggers unless said otherwise. */
  readonly method?: string;
  /** Keeps what the first one receives. */
  readonly record?: boolean;
}

/** Asks what they received since they were asked last, once each has nearly so many bytes and nothing more came for a while. */
export interface Expected {
  readonly bytesEach: number;
}

export interface Received {
  /** How many received anything. */
  readonly watchers: number;
  readonly bytes: number;
  /** When the last of it came, in milliseconds since the epoch. */
  readonly at: number;
  /** What the first one received, if it was to be kept. */
  readonly recorded: Uint8Array;
}

const LOGGERS = "/actuator.v3.LoggersService/WatchLoggers";
const TYPES = {
  gRPC: "application/grpc",
  "gRPC-Web": "application/grpc-web+proto",
  Connect: "application/connect+proto",
  "Connect JSON": "application/connect+json",
};
const QUIET_MS = 1_000;
const MAX_WAIT_MS = 120_000;
/** The same change may differ by the digits of its revision. */
const NEARLY = 0.97;

let received: number[] = [];
let recorded: Buffer[] = [];
let at = 0;

function open(watchers: Watchers): void {
  const { port, count, perConnection, protocol, gzip, method = LOGGERS, record = false } = watchers;
  const json = protocol === "Connect JSON";
  const message = watchers.message ?? Buffer.from(json ? "{}" : "");
  const body = Buffer.concat([Buffer.alloc(5), message]);
  body.writeUInt32BE(message.length, 1);
  const headers = {
    "content-type": TYPES[protocol],
    ...(protocol === "gRPC" && { te: "trailers" }),
    ...(gzip && { [json ? "connect-accept-encoding" : "grpc-accept-encoding"]: "gzip" }),
  };
  received = new Array(count).fill(0);
  const take = (index: number, chunk: Buffer) => {
    received[index]! += chunk.length;
    if (record && index === 0) recorded.push(chunk);
    at = Date.now();
  };
  const ended = (index: number) => {
    throw new Error(`watcher ${index} ended`);
  };
  const agent = new Agent({ maxSockets: Number.POSITIVE_INFINITY });
  let session: ClientHttp2Session | undefined;
  for (let index = 0; index < count; index++) {
    if (perConnection === undefined) {
      const call = request({ host: "127.0.0.1", port, path: method, method: "POST", headers, agent });
      call.on("response", (response) =>
        response.on("data", (chunk) => take(index, chunk)).on("end", () => ended(index)),
      );
      call.end(body);
      continue;
    }
    if (index % perConnection === 0) session = connect(`http://127.0.0.1:${port}`);
    const stream = session!.request({ ":method": "POST", ":path": method, ...headers });
    stream.on("data", (chunk: Buffer) => take(index, chunk));
    stream.on("close", () => ended(index));
    stream.end(body);
  }
}

async function quiet({ bytesEach }: Expected): Promise<Received> {
  const began = Date.now();
  const isComplete = () => received.every((bytes) => bytes > 0 && bytes >= NEARLY * bytesEach);
  while (!isComplete() || Date.now() - at < QUIET_MS) {
    if (Date.now() - began > MAX_WAIT_MS)
      throw new Error(`watchers have ${Math.min(...received)} of ${bytesEach} bytes`);
    await sleep(20);
  }
  return taken();
}

/** What they received so far, and from then on anew. */
function taken(): Received {
  const bytes = received.reduce((sum, each) => sum + each, 0);
  const watchers = received.filter((bytes) => bytes > 0).length;
  const answer = { watchers, bytes, at, recorded: Buffer.concat(recorded) };
  received.fill(0);
  recorded = [];
  return answer;
}

process.on("message", async (asked: Watchers | Expected | "taken") => {
  if (asked === "taken") process.send!(taken());
  else if ("bytesEach" in asked) process.send!(await quiet(asked));
  else {
    open(asked);
    process.send!({});
  }
});
process.on("disconnect", () => process.exit());
