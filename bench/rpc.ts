/** GetLogger over Connect and gRPC, beside a bare connect-node service that answers from a Map. */
import { join } from "node:path";
import { create, toBinary } from "@bufbuild/protobuf";
import { GetLoggerRequestSchema } from "../src/gen/actuator/v3/loggers_pb.ts";
import { type Compared, compare } from "./support/compare.ts";
import { environment } from "./support/environment.ts";
import { printHotSpots, profileDirectories } from "./support/hot-spots.ts";
import { http1Bytes } from "./support/http1.ts";
import { http2Bytes } from "./support/http2.ts";
import type { Load } from "./support/load.ts";
import { startServer } from "./support/server.ts";
import { comparisonHeading, comparisonRow, printTable } from "./support/table.ts";

const path = "/actuator.v3.LoggersService/GetLogger";
const name = "com.example.module7.Service7";
const message = toBinary(GetLoggerRequestSchema, create(GetLoggerRequestSchema, { name }));
const reach = 0.95;

const loads: readonly { readonly name: string; readonly load: Load }[] = [
  { name: "Connect, JSON, HTTP/1.1", load: connect("application/json", JSON.stringify({ name })) },
  { name: "Connect, binary, HTTP/1.1", load: connect("application/proto", message) },
  { name: "gRPC, HTTP/2", load: grpc() },
];

function connect(type: string, body: string | Uint8Array): Load {
  const headers = { "Content-Type": type, "Connect-Protocol-Version": "1" };
  return { protocol: "http1", request: http1Bytes({ method: "POST", path, headers, body }), connections: 16 };
}

function grpc(): Load {
  const prefix = Buffer.alloc(5);
  prefix.writeUInt32BE(message.length, 1);
  const headers = [
    [":method", "POST"],
    [":scheme", "http"],
    [":authority", "127.0.0.1"],
    [":path", path],
    ["content-type", "application/grpc+proto"],
    ["te", "trailers"],
  ] as const;
  const request = http2Bytes({ headers, body: Buffer.concat([prefix, message]) });
  return { protocol: "http2", request, connections: 4, streams: 4 };
}

async function measure(title: string, load: Load): Promise<Compared> {
  const profiles = profileDirectories();
  const subject = await startServer(join(import.meta.dirname, "servers", "actuator.ts"), ["100"], profiles?.subject);
  const original = `http://127.0.0.1:${subject.port}`;
  const beside = await startServer(
    join(import.meta.dirname, "servers", "connect.ts"),
    [load.protocol, original, name],
    profiles?.beside,
  );
  const compared = await compare({ subject, beside, load });
  await subject.end();
  await beside.end();
  printHotSpots(title, profiles);
  return compared;
}

console.log(environment("@connectrpc/connect", "@connectrpc/connect-node", "@bufbuild/protobuf"));
const rows = [];
for (const { name, load } of loads) rows.push(comparisonRow(name, await measure(name, load), reach));
console.log();
printTable(comparisonHeading, rows);
