import { once } from "node:events";
import http2 from "node:http2";
import { describe, expect, onTestFinished, test } from "vitest";
import { createActuator } from "../../../src/index.ts";
import { PREFACE } from "../../../src/server/port.ts";
import { END_HEADERS, FRAME, frame, requestHeaders, settings } from "../../support/server-frames.ts";
import { eventually, rawClient } from "../../support/server-harness.ts";

const METHOD = "actuator.v3.LoggersService/SetLoggerLevel";
const GRPC = { "content-type": "application/grpc", te: "trailers" };
const GRPC_WEB = { "content-type": "application/grpc-web+proto" };
const CONNECT = { "content-type": "application/proto" };

/** `name: "http"` and nothing more: of a message, the part that any field may follow. */
const NAME = Buffer.from([10, 4, ...Buffer.from("http")]);

async function serveActuator() {
  const actuator = createActuator({ metrics: true, audit: false, loggers: { logLevelChanges: false } });
  onTestFinished(() => actuator.close({ deadlineMs: 0 }));
  const { url, port } = await actuator.listen({ port: 0 });
  const session = http2.connect(url);
  onTestFinished(() => session.destroy());
  const begin = (headers: http2.OutgoingHttpHeaders) => {
    const stream = session.request({ ":method": "POST", ":path": `/${METHOD}`, ...headers });
    stream.on("error", () => undefined).resume();
    return stream;
  };
  const counted = () =>
    actuator.metrics!.counters()[0]!.points.map(({ attributes, value }) => [attributes.code, value]);
  return { actuator, port, begin, counted };
}

function envelope(message: Buffer, flags = 0): Buffer {
  const head = Buffer.alloc(5, flags);
  head.writeUInt32BE(message.length, 1);
  return Buffer.concat([head, message]);
}

const LARGE = Buffer.alloc(100_000);

describe("what is answered before a method is reached is counted by the code of the answer", () => {
  test.each<[string, http2.OutgoingHttpHeaders, Buffer, string]>([
    ["a message that is too large, over gRPC", GRPC, envelope(LARGE), "RESOURCE_EXHAUSTED"],
    ["a message that is too large, over gRPC-Web", GRPC_WEB, envelope(LARGE), "RESOURCE_EXHAUSTED"],
    ["a message that is too large, over Connect", CONNECT, LARGE, "RESOURCE_EXHAUSTED"],
    ["a strange compression, over gRPC", { ...GRPC, "grpc-encoding": "zip" }, envelope(NAME, 1), "UNIMPLEMENTED"],
    ["a strange compression, over Connect", { ...CONNECT, "content-encoding": "zip" }, NAME, "UNIMPLEMENTED"],
    ["a deadline that is none", { ...GRPC, "grpc-timeout": "soon" }, envelope(NAME), "INVALID_ARGUMENT"],
    ["a deadline that has passed", { ...CONNECT, "connect-timeout-ms": "0" }, NAME, "DEADLINE_EXCEEDED"],
    ["no message at all", { ...CONNECT, "content-type": "application/json" }, Buffer.from("{"), "INVALID_ARGUMENT"],
    ["nothing of RPC", { "content-type": "text/plain" }, NAME, "INVALID_ARGUMENT"],
  ])("%s", async (_, headers, body, code) => {
    const { begin, counted } = await serveActuator();
    const stream = begin(headers);
    stream.end(body);
    await once(stream, "close");
    expect(counted()).toEqual([[code, 1]]);
  });
});

test.each([
  ["gRPC", GRPC, envelope(NAME)],
  ["Connect", CONNECT, NAME],
])("a call over %s that is given up in the middle of its message is counted as that", async (_, headers, body) => {
  const { actuator, port, counted } = await serveActuator();
  const { socket } = await rawClient(port);
  const begin = requestHeaders(1, { ":method": "POST", ":path": `/${METHOD}`, ...headers }, END_HEADERS);
  socket.write(Buffer.concat([PREFACE, settings(), begin, frame(FRAME.DATA, 0, 1, body)]));
  const open = () => actuator.metrics!.gauges().find(({ name }) => name === "actuator.http2.streams")!.points[0]!.value;
  await eventually(() => open() > 0, String);
  socket.write(frame(FRAME.RST_STREAM, 0, 1, Buffer.from([0, 0, 0, http2.constants.NGHTTP2_CANCEL])));
  await eventually(() => counted().length > 0, String);
  expect(counted()).toEqual([["CANCELLED", 1]]);
});
