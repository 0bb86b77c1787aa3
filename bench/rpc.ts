/**
 * CPU of GetLogger over gRPC, gRPC-Web and Connect, beside @grpc/grpc-js, bare connect-node, and our own REST.
 *
 * `npm run bench -- rpc [--quick] [part of a name]`. The peers answer the same message from a Map. All are loaded in turn, round by
 * round, and a multiple is the median of the multiples within the rounds. grpc-js has no gRPC-Web: its gRPC stands beside it.
 */
import { join } from "node:path";
import { create, toBinary } from "@bufbuild/protobuf";
import { GetLoggerRequestSchema } from "../src/gen/actuator/v3/loggers_pb.ts";
import { environment } from "./support/environment.ts";
import { printHotSpots, profileDirectories } from "./support/hot-spots.ts";
import { http1Bytes } from "./support/http1.ts";
import { http2Bytes } from "./support/http2.ts";
import { type Contestant, cpuRatio, type Measured, measureInTurn, type Plan } from "./support/in-turn.ts";
import type { Load } from "./support/load.ts";
import { median } from "./support/median.ts";
import { type Server, startServer } from "./support/server.ts";
import { printTable, within } from "./support/table.ts";

const name = "com.example.module7.Service7";
const path = "/actuator.v3.LoggersService/GetLogger";
const http1 = { protocol: "http1", connections: 16 } as const;
const http2 = { protocol: "http2", connections: 4, streams: 4 } as const;
/** The multiples that are the goals. */
const GRPC = 1.2;
const CONNECT_JSON = 2;

/** One row: a way to call, what stands beside it, and the most that it may cost. */
interface Way {
  readonly name: string;
  readonly load: Load;
  /** The load of grpc-js, and how many times its cost this way may take. */
  readonly grpc?: Load;
  readonly mostOfGrpc?: number;
  readonly mostOfRest?: number;
  /** connect-node does not know it. */
  readonly ours?: boolean;
}

const rest: Load = { ...http1, request: http1Bytes({ method: "GET", path: `/actuator/loggers/${name}` }) };
const grpc = http2Load("application/grpc", envelope(name));
const withDeadline = http2Load("application/grpc", envelope(name), { "grpc-timeout": "9S" });
const missing = { ...http2Load("application/grpc", envelope(`${name}.missing`)), bodiless: true };
const get = `${path}?connect=v1&encoding=json&message=${encodeURIComponent(JSON.stringify({ name }))}`;
const text = Buffer.from(envelope(name)).toString("base64");

const ways: readonly Way[] = [
  { name: "REST, GET", load: rest, ours: true },
  { name: "gRPC", load: grpc, grpc, mostOfGrpc: GRPC },
  { name: "gRPC, deadline", load: withDeadline, grpc: withDeadline, mostOfGrpc: GRPC },
  { name: "gRPC, NOT_FOUND with details", load: missing, grpc: missing },
  {
    name: "gRPC-Web, HTTP/2",
    load: http2Load("application/grpc-web+proto", envelope(name)),
    grpc,
    mostOfGrpc: GRPC,
  },
  {
    name: "gRPC-Web, HTTP/1.1",
    load: http1Load("application/grpc-web+proto", envelope(name)),
    grpc,
    mostOfGrpc: GRPC,
  },
  {
    name: "gRPC-Web, text, HTTP/1.1",
    load: http1Load("application/grpc-web-text", text),
    grpc,
    mostOfGrpc: GRPC,
    ours: true,
  },
  {
    name: "Connect, JSON, HTTP/1.1",
    load: http1Load("application/json", JSON.stringify({ name })),
    mostOfRest: CONNECT_JSON,
  },
  {
    name: "Connect, JSON, HTTP/2",
    load: http2Load("application/json", Buffer.from(JSON.stringify({ name }))),
    mostOfRest: CONNECT_JSON,
  },
  { name: "Connect, GET, HTTP/1.1", load: { ...http1, request: http1Bytes({ method: "GET", path: get }) } },
  { name: "Connect, binary, HTTP/1.1", load: http1Load("application/proto", message(name)) },
  { name: "Connect, binary, HTTP/2", load: http2Load("application/proto", message(name)) },
];

function message(name: string): Uint8Array {
  return toBinary(GetLoggerRequestSchema, create(GetLoggerRequestSchema, { name }));
}

function envelope(name: string): Uint8Array {
  const content = message(name);
  const prefix = Buffer.alloc(5);
  prefix.writeUInt32BE(content.length, 1);
  return Buffer.concat([prefix, content]);
}

function http1Load(type: string, body: string | Uint8Array): Load {
  const headers = { "Content-Type": type };
  return { ...http1, request: http1Bytes({ method: "POST", path, headers, body }) };
}

function http2Load(type: string, body: Uint8Array, more: Readonly<Record<string, string>> = {}): Load {
  const fields = {
    ":method": "POST",
    ":scheme": "http",
    ":authority": "127.0.0.1",
    ":path": path,
    "content-type": type,
    // As grpc-js sends it.
    ...(type === "application/grpc" && {
      te: "trailers",
      "user-agent": "grpc-node-js/1.14.7",
      "grpc-accept-encoding": "identity,deflate,gzip",
    }),
    ...more,
  };
  return { ...http2, request: http2Bytes({ headers: Object.entries(fields), body }) };
}

/** What a way cost, and what the peers cost that it has. */
interface Result {
  readonly way: Way;
  readonly ours: Measured;
  readonly grpc: Measured | undefined;
  readonly connect: Measured | undefined;
}

async function measure(chosen: readonly Way[], plan: Plan): Promise<readonly Result[]> {
  const profiles = profileDirectories();
  const server = (file: string, args: readonly string[], directory?: string) =>
    startServer(join(import.meta.dirname, "servers", file), args, directory);
  const ours = await server("actuator.ts", ["100"], profiles?.subject);
  const origin = `http://127.0.0.1:${ours.port}`;
  const grpcJs = await server("grpc-js.ts", [origin, name], profiles?.beside);
  const connect = {
    http1: await server("connect.ts", ["http1", origin, name]),
    http2: await server("connect.ts", ["http2", origin, name]),
  };
  const contestants: Contestant[] = [];
  /** The place of a server under a load, which is measured once however many rows need it. */
  const placeOf = (server: Server, load: Load) => {
    const place = contestants.findIndex((contestant) => contestant.server === server && contestant.load === load);
    return place >= 0 ? place : contestants.push({ server, load }) - 1;
  };
  const places = chosen.map((way) => ({
    way,
    ours: placeOf(ours, way.load),
    grpc: way.grpc === undefined ? undefined : placeOf(grpcJs, way.grpc),
    connect: way.ours ? undefined : placeOf(connect[way.load.protocol], way.load),
  }));
  const measured = await measureInTurn(contestants, plan);
  for (const { end } of [ours, grpcJs, connect.http1, connect.http2]) await end();
  printHotSpots(chosen.map(({ name }) => name).join("; "), profiles);
  const at = (place: number | undefined) => (place === undefined ? undefined : measured[place]);
  return places.map(({ way, ...of }) => ({
    way,
    ours: measured[of.ours]!,
    grpc: at(of.grpc),
    connect: at(of.connect),
  }));
}

const microseconds = ({ cpu }: Measured) => median(cpu).toFixed(1);

function row({ way, ours, grpc, connect }: Result, rest: Measured): readonly string[] {
  const beside = (peer: Measured | undefined, most?: number) => {
    if (peer === undefined) return ["", ""];
    const ratio = cpuRatio(ours, peer);
    return [microseconds(peer), most === undefined ? ratio.toFixed(2) : within(ratio, most)];
  };
  const [, ofRest] = beside(ours === rest ? undefined : rest, way.mostOfRest);
  return [way.name, microseconds(ours), ...beside(grpc, way.mostOfGrpc), ...beside(connect), ofRest!];
}

const wanted = process.argv.slice(2).filter((argument) => !argument.startsWith("--"));
// REST stays, since others are compared with it.
const chosen = ways.filter(({ name }, index) => index === 0 || wanted.every((part) => name.includes(part)));
const plan = process.argv.includes("--quick")
  ? { warmUpSeconds: 1, roundSeconds: 0.2, rounds: 7 }
  : { warmUpSeconds: 2, roundSeconds: 0.2, rounds: 17 };
console.log(environment("@grpc/grpc-js", "@grpc/proto-loader", "@connectrpc/connect", "@bufbuild/protobuf"));
const results = await measure(chosen, plan);
printTable(
  ["CPU µs a call", "ours", "grpc-js", "× it", "connect-node", "× it", "× REST"],
  results.map((result) => row(result, results[0]!.ours)),
);
