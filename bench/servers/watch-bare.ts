/**
 * `node bench/servers/watch-bare.ts <http1|http2>`: a bare server that writes the same buffers to every watcher: what no actuator can
 * cost less than. A message has the buffers of the opening, or those to write to all, or asks what everything since cost.
 */
import * as http from "node:http";
import * as http2 from "node:http2";
import type { AddressInfo } from "node:net";
import { watchCost, watchStalls } from "../support/watch-cost.ts";

/** What to write to each watcher from now on at its opening, or at once. */
export interface Written {
  readonly when: "opening" | "now";
  readonly bytes: Uint8Array;
}

/** What an actuator writes at once. */
const PIECE_BYTES = 64 * 1_024;
interface Stream {
  write(piece: Uint8Array): unknown;
}
const streams: Stream[] = [];
let opening: readonly Uint8Array[] = [];

const add = (stream: Stream) => {
  streams.push(stream);
  for (const piece of opening) stream.write(piece);
};
const server =
  process.argv[2] === "http2"
    ? http2.createServer().on("stream", (stream) => {
        stream.resume().respond({ ":status": 200 });
        add(stream);
      })
    : http.createServer((request, response) => {
        request.resume();
        add(response);
      });

server.listen(0, "127.0.0.1", () => process.send!({ port: (server.address() as AddressInfo).port }));
watchStalls();
process.on("message", (asked: Written | "cost") => {
  if (asked === "cost") process.send!(watchCost());
  else {
    const at = Date.now();
    const pieces = [];
    for (let from = 0; from < asked.bytes.length; from += PIECE_BYTES) {
      pieces.push(asked.bytes.subarray(from, from + PIECE_BYTES));
    }
    if (asked.when === "opening") opening = pieces;
    else for (const stream of streams) for (const piece of pieces) stream.write(piece);
    process.send!({ at });
  }
});
process.on("disconnect", () => process.exit());
