/** The load, as a process of its own: runs what each message asks for and answers how much was done. */
import { once } from "node:events";
import type { Socket } from "node:net";
import { http1Connection } from "./http1.ts";
import { http2Connection } from "./http2.ts";

/** A load on one server. `request` is what `http1Bytes` or `http2Bytes` makes; `streams` are open on each connection. */
export interface Load {
  readonly protocol: "http1" | "http2";
  readonly request: Uint8Array;
  readonly connections: number;
  readonly streams?: number;
  /** The answer over HTTP/2 has no body: an error of gRPC. */
  readonly bodiless?: boolean;
}

export interface LoadStart extends Load {
  readonly port: number;
}

export interface LoadResult {
  readonly requests: number;
  readonly seconds: number;
}

let sockets: readonly Socket[] = [];
let requests = 0;
let began = 0;

/** Opens the connections. Requests count from when each connection has been answered, so that opening is no part of them. */
async function start({ protocol, port, request, connections, streams = 1, bodiless = false }: LoadStart) {
  const opened = Array.from({ length: connections }, () => {
    const first = Promise.withResolvers<void>();
    const answered = () => {
      requests++;
      first.resolve();
    };
    const socket =
      protocol === "http1"
        ? http1Connection(port, request, answered)
        : http2Connection({ port, request, streams, bodiless, answered });
    return { socket, first: first.promise };
  });
  sockets = opened.map(({ socket }) => socket);
  await Promise.all(opened.map(({ first }) => first));
  requests = 0;
  began = performance.now();
}

async function stop(): Promise<LoadResult> {
  const result = { requests, seconds: (performance.now() - began) / 1000 };
  const closed = sockets.map((socket) => once(socket, "close"));
  for (const socket of sockets) socket.destroy();
  await Promise.all(closed);
  return result;
}

process.on("message", async (asked: LoadStart | "stop") => {
  process.send!(asked === "stop" ? await stop() : ((await start(asked)) ?? {}));
});
