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
}

export interface LoadRun extends Load {
  readonly port: number;
  readonly seconds: number;
}

export interface LoadResult {
  readonly requests: number;
  readonly seconds: number;
}

async function run({ protocol, port, request, connections, streams = 1, seconds }: LoadRun): Promise<LoadResult> {
  let requests = 0;
  const answered = () => {
    requests++;
  };
  const sockets: Socket[] = Array.from({ length: connections }, () =>
    protocol === "http1" ? http1Connection(port, request, answered) : http2Connection(port, request, streams, answered),
  );
  const start = performance.now();
  await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
  const elapsed = (performance.now() - start) / 1000;
  const done = requests;
  const closed = sockets.map((socket) => once(socket, "close"));
  for (const socket of sockets) socket.destroy();
  await Promise.all(closed);
  return { requests: done, seconds: elapsed };
}

process.on("message", async (load: LoadRun) => {
  process.send!(await run(load));
});
