/** Watchers of the loggers or of the graph, as a process of its own. They count bytes and decode nothing, so that the server is what is measured. */
import { type ClientHttp2Session, connect } from "node:http2";

/** Which watchers to open. They share connections of `perConnection` streams each. */
export interface Watchers {
  readonly port: number;
  readonly count: number;
  readonly perConnection: number;
  readonly protocol: "gRPC" | "Connect JSON";
  readonly gzip: boolean;
  /** What is watched; the loggers unless said otherwise. */
  readonly method?: string;
}

/** What they received since they were asked last, once nothing more came for a while. */
export interface Received {
  /** How many received anything. */
  readonly watchers: number;
  readonly bytes: number;
  /** When the last of it came, in milliseconds since the epoch. */
  readonly at: number;
}

const LOGGERS = "/actuator.v3.LoggersService/WatchLoggers";
const QUIET_MS = 1_500;

let received: number[] = [];
let at = 0;

function open({ port, count, perConnection, protocol, gzip, method = LOGGERS }: Watchers): void {
  const grpc = protocol === "gRPC";
  const message = grpc ? "" : "{}";
  const headers = {
    ":method": "POST",
    ":path": method,
    "content-type": grpc ? "application/grpc" : "application/connect+json",
    ...(grpc && { te: "trailers" }),
    ...(gzip && { [grpc ? "grpc-accept-encoding" : "connect-accept-encoding"]: "gzip" }),
  };
  received = new Array(count).fill(0);
  let session: ClientHttp2Session | undefined;
  for (let index = 0; index < count; index++) {
    if (index % perConnection === 0) session = connect(`http://127.0.0.1:${port}`);
    const stream = session!.request(headers);
    stream.on("data", (chunk: Buffer) => {
      received[index]! += chunk.length;
      at = Date.now();
    });
    stream.on("close", () => {
      throw new Error(`watcher ${index} ended`);
    });
    stream.end(Buffer.from([0, 0, 0, 0, message.length, ...Buffer.from(message)]));
  }
  at = Date.now();
}

async function quiet(): Promise<Received> {
  while (at === 0 || Date.now() - at < QUIET_MS) await new Promise((resolve) => setTimeout(resolve, 20));
  const watchers = received.filter((bytes) => bytes > 0).length;
  const bytes = received.reduce((sum, each) => sum + each, 0);
  received.fill(0);
  const answer = { watchers, bytes, at };
  at = 0;
  return answer;
}

/** What they received so far, and from then on anew. */
function taken(): Received {
  const bytes = received.reduce((sum, each) => sum + each, 0);
  const answer = { watchers: received.filter((bytes) => bytes > 0).length, bytes, at };
  received.fill(0);
  return answer;
}

process.on("message", async (asked: Watchers | "quiet" | "taken") => {
  if (asked === "quiet") process.send!(await quiet());
  else if (asked === "taken") process.send!(taken());
  else {
    open(asked);
    process.send!({});
  }
});
process.on("disconnect", () => process.exit());
