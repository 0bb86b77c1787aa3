import { once } from "node:events";
import http from "node:http";
import type { ClientHttp2Session, IncomingHttpHeaders, OutgoingHttpHeaders } from "node:http2";
import { gzipSync } from "node:zlib";
import { createClient } from "@connectrpc/connect";
import { compressionBrotli } from "@connectrpc/connect-node";
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { LoggersService } from "../../../src/gen/actuator/v3/loggers_pb.ts";
import { createRpcHandler } from "../../../src/http/rpc/handler.ts";
import { Loggers } from "../../../src/loggers/loggers.ts";
import { Health } from "../../../src/operations/health/health.ts";
import { OPEN_GATE } from "../../support/open-gate.ts";
import { libraryOf, serveRpc, transportOver, WIRES } from "../../support/rpc-harness.ts";
import {
  emptied,
  eventually,
  http1Request,
  http2Connect,
  http2Request,
  rawClient,
} from "../../support/server-harness.ts";

const GET_LOGGER = "/actuator.v3.LoggersService/GetLogger";
const LIST_LOGGERS = "/actuator.v3.LoggersService/ListLoggers";
const WATCH = "/grpc.health.v1.Health/Watch";

function serveLoggers() {
  const loggers = new Loggers();
  loggers.attach(libraryOf(Array.from({ length: 100 }, (_, index) => `logger${index}`)));
  return serveRpc({ loggers });
}

const json = { "content-type": "application/json" };
const root = '{"name":"ROOT"}';

async function expectAlive(url: string): Promise<void> {
  const headers = { ...json, connection: "close" };
  expect(await http1Request(url + GET_LOGGER, { method: "POST", headers, body: root })).toMatchObject({ status: 200 });
}

/** One gRPC call over HTTP/2, with its trailers. */
async function grpcCall(session: ClientHttp2Session, path: string, body: Buffer, headers: OutgoingHttpHeaders = {}) {
  const all = { ":method": "POST", ":path": path, "content-type": "application/grpc", te: "trailers", ...headers };
  const stream = session.request(all);
  stream.on("error", () => {});
  stream.resume();
  stream.end(body);
  const [trailers] = (await once(stream, "trailers")) as [IncomingHttpHeaders];
  return { status: trailers["grpc-status"], message: decodeURIComponent(String(trailers["grpc-message"])) };
}

function frame(flags: number, data: Buffer, length = data.length): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt8(flags);
  head.writeUInt32BE(length, 1);
  return Buffer.concat([head, data]);
}

beforeEach(() => void vi.spyOn(console, "error"));
afterEach(() => {
  expect(console.error, "nothing is written to the console").not.toHaveBeenCalled();
  vi.restoreAllMocks();
});

describe("a bad authority is 400 and no more", () => {
  const HOSTS = ["[", "a b", "::::", "%", "", "x:99999999", "<script>", "//"];

  test.each(HOSTS)("Host %j over HTTP/1.1", async (host) => {
    const { url, port, errors } = await serveLoggers();
    const client = await rawClient(port);
    client.socket.write(
      `POST ${GET_LOGGER} HTTP/1.1\r\nHost: ${host}\r\nContent-Type: application/json\r\nContent-Length: 15\r\nConnection: close\r\n\r\n${root}`,
    );
    expect((await client.closed).split("\r\n", 1)[0]).toBe("HTTP/1.1 400 Bad Request");
    await expectAlive(url);
    expect(errors).toEqual([]);
  });

  test("HTTP/1.0 without Host", async () => {
    const { url, port } = await serveLoggers();
    const client = await rawClient(port);
    client.socket.write(
      `POST ${GET_LOGGER} HTTP/1.0\r\nContent-Type: application/json\r\nContent-Length: 15\r\n\r\n${root}`,
    );
    expect(await client.closed).toContain(" 400 Bad Request");
    await expectAlive(url);
  });

  // nghttp2 itself resets a stream whose authority has other characters than an authority can have.
  const CHARACTERS = /^[\w.:[\]%-]+$/;

  test.each(HOSTS.flatMap((host) => [":authority", "host"].map((header) => ({ header, host }))))(
    "$header $host over HTTP/2",
    async ({ header, host }) => {
      const { url, listener } = await serveLoggers();
      const session = await http2Connect(url);
      const request = { ":method": "POST", ":path": GET_LOGGER, [header]: host, ...json, body: root };
      const answer = await http2Request(session, request).catch((error: Error) => error.message);
      if (CHARACTERS.test(host)) expect(answer).toMatchObject({ status: 400 });
      else expect(answer).toContain("PROTOCOL_ERROR");
      await expectAlive(url);
      session.close();
      await emptied(listener);
    },
  );

  test("in a server of the application, which has no guard of its own", async () => {
    const rpc = createRpcHandler(
      { application: { startTime: 0 }, health: new Health() },
      { gate: OPEN_GATE, onError: (error) => expect.unreachable(String(error)) },
    );
    const server = http.createServer((req, res) => void rpc.handle(req, res)).listen(0, "127.0.0.1");
    onTestFinished(() => void server.close());
    await once(server, "listening");
    const { port } = server.address() as { port: number };
    const client = await rawClient(port);
    client.socket.write(
      "GET /grpc.health.v1.Health/Check?encoding=json&message={} HTTP/1.1\r\nHost: [\r\nConnection: close\r\n\r\n",
    );
    expect(await client.closed).toContain(" 400 Bad Request");
  });
});

describe("a frame of 5 bytes that claims 4 GiB reserves nothing", () => {
  test.each(["application/grpc", "application/grpc-web", "application/connect+proto"])("%s", async (type) => {
    const { url, listener } = await serveLoggers();
    const session = await http2Connect(url);
    const before = process.memoryUsage().arrayBuffers;
    const streams = Array.from({ length: 64 }, () => {
      const stream = session.request({ ":method": "POST", ":path": WATCH, "content-type": type, te: "trailers" });
      stream.on("error", () => {});
      stream.write(frame(0, Buffer.alloc(0), 0xffffffff));
      return stream;
    });
    const texts = await Promise.all(
      streams.map(async (stream) => {
        let text = "";
        stream.on("data", (chunk) => {
          text += chunk;
        });
        stream.on("trailers", (trailers) => {
          text += trailers["grpc-message"];
        });
        await once(stream, "close");
        return text;
      }),
    );
    for (const text of texts) expect(decodeURIComponent(text)).toContain("message size 4294967295 is larger");
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(64 * 2 ** 20);
    session.close();
    await emptied(listener);
  });
});

describe("compression", () => {
  const bomb = gzipSync(Buffer.alloc(40 * 2 ** 20, 0x20));
  const cut = gzipSync(root).subarray(0, 20);

  test.each([
    ["a bomb", 429, "resource_exhausted", bomb],
    ["a body cut short", 400, "invalid_argument", cut],
    ["what is no gzip", 400, "invalid_argument", Buffer.from(root)],
  ])("%s in Connect is %i %s", async (_, status, code, body) => {
    expect(bomb.length).toBeLessThan(64 * 1024);
    const { url } = await serveLoggers();
    const headers = { ...json, "content-encoding": "gzip" };
    const answer = await http1Request(url + GET_LOGGER, { method: "POST", headers, body });
    expect([answer.status, JSON.parse(answer.body).code]).toEqual([status, code]);
  });

  test.each([
    ["a bomb", "8", bomb],
    ["a body cut short", "3", cut],
  ])("%s in gRPC is status %s", async (_, status, body) => {
    const { url } = await serveLoggers();
    const session = await http2Connect(url);
    const answer = await grpcCall(session, GET_LOGGER, frame(1, body), { "grpc-encoding": "gzip" });
    expect(answer.status).toBe(status);
  });

  test.each([
    ["gzip", "gzip"],
    ["deflate, gzip, br, zstd", "gzip"],
    ["br, gzip", "br"],
    ["br", "br"],
    ["zstd", undefined],
    ["gzip;q=0", undefined],
    ["identity;q=1, gzip;q=0, *;q=0", undefined],
  ])("Accept-Encoding: %s gets %s", async (accepted, encoding) => {
    const { url } = await serveLoggers();
    const headers = { ...json, "accept-encoding": accepted };
    const answer = await http1Request(url + LIST_LOGGERS, { method: "POST", headers, body: "{}" });
    expect([answer.status, answer.headers["content-encoding"]]).toEqual([200, encoding]);
  });

  test.each(WIRES)("brotli both ways: $protocol over HTTP/$httpVersion", async (wire) => {
    const { url } = await serveLoggers();
    const options = { acceptCompression: [compressionBrotli], sendCompression: compressionBrotli, compressMinBytes: 0 };
    const client = createClient(LoggersService, transportOver(wire, url, options));
    let encoding: string | null = null;
    const onHeader = (header: Headers) => {
      encoding = header.get("grpc-encoding") ?? header.get("content-encoding");
    };
    const { loggers } = await client.listLoggers({}, { onHeader });
    expect([loggers.length, encoding]).toEqual([101, "br"]);
  });
});

describe("a Connect GET", () => {
  test.each([
    ["JSON that is none", "encoding=json&message=%7B"],
    ["no message", "encoding=json"],
    ["bad base64", "encoding=json&base64=1&message=!!!"],
    ["bad base64 of protobuf", "encoding=proto&base64=1&message=a"],
    ["malformed protobuf", "encoding=proto&base64=1&message=CgVhYg"],
    ["malformed protobuf, not in base64", "encoding=proto&message=%0A%7F"],
    ["gzip that is none", "encoding=json&base64=1&compression=gzip&message=AAAA"],
    [
      "gzip cut short",
      `encoding=json&base64=1&compression=gzip&message=${gzipSync(root).subarray(0, 20).toString("base64url")}`,
    ],
  ])("with %s is 400 invalid_argument", async (_, query) => {
    const { url, errors } = await serveLoggers();
    const answer = await http1Request(`${url}${GET_LOGGER}?connect=v1&${query}`);
    expect([answer.status, JSON.parse(answer.body).code]).toEqual([400, "invalid_argument"]);
    expect(errors).toEqual([]);
  });

  test.each([
    ["JSON", `encoding=json&message=${encodeURIComponent(root)}`],
    ["base64", `encoding=json&base64=1&message=${Buffer.from(root).toString("base64url")}`],
    ["protobuf", "encoding=proto&base64=1&message=CgRST09U"],
    ["gzip", `encoding=json&base64=1&compression=gzip&message=${gzipSync(root).toString("base64url")}`],
  ])("with good %s is 200", async (_, query) => {
    const { url } = await serveLoggers();
    expect((await http1Request(`${url}${GET_LOGGER}?connect=v1&${query}`)).status).toBe(200);
  });

  test.each(["?x=%zz", "?encoding=json&message=%"])("with invalid percent-encoding is 400: %s", async (query) => {
    const { url } = await serveLoggers();
    expect((await http1Request(url + GET_LOGGER + query)).status).toBe(400);
  });

  test("of a method with side effects is 405", async () => {
    const { url } = await serveLoggers();
    const path = "/actuator.v3.LoggersService/ClearLoggerLevel";
    const { status, headers } = await http1Request(`${url}${path}?connect=v1&encoding=json&message={}`);
    expect([status, headers.allow]).toEqual([405, "POST"]);
  });
});

describe("malformed messages", () => {
  const nested = Buffer.alloc(60_000, 0x0b);

  test.each([
    [
      "JSON nested deeply",
      "application/json",
      Buffer.from(`{"x":${"[".repeat(30_000)}${"]".repeat(30_000)},"name":"ROOT"}`),
      200,
    ],
    ["names of the prototype", "application/json", '{"__proto__":{"name":"x"},"constructor":1,"name":"ROOT"}', 200],
    ["JSON that is none", "application/json", "{", 400],
    ["the wrong type", "application/json", '{"name":1}', 400],
    ["an empty body", "application/json", "", 400],
    ["groups nested deeply", "application/proto", nested, 400],
    ["no known type", "text/plain", "x", 415],
  ] as const)("%s", async (_, type, body, status) => {
    const { url } = await serveLoggers();
    const options = { method: "POST", headers: { "content-type": type }, body: Buffer.from(body) };
    expect((await http1Request(url + GET_LOGGER, options)).status).toBe(status);
    await expectAlive(url);
  });

  test.each(["PUT", "DELETE", "OPTIONS", "HEAD"])("%s is 405", async (method) => {
    const { url } = await serveLoggers();
    const { status, headers } = await http1Request(url + GET_LOGGER, { method, headers: json });
    expect([status, headers.allow]).toEqual([405, "POST, GET"]);
  });
});

describe("a client that goes on sending after it was refused", () => {
  const chunk = Buffer.alloc(16 * 1024, 0x20);

  test("hears the answer over HTTP/1.1, may send to the end and ask again", async () => {
    const { url, port } = await serveLoggers();
    const client = await rawClient(port);
    const send = async (data: string | Buffer) => {
      if (!client.socket.write(data)) await once(client.socket, "drain");
    };
    await send(
      `POST ${GET_LOGGER} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`,
    );
    for (let count = 0; count < 500; count++) {
      await send(`${chunk.length.toString(16)}\r\n`);
      await send(chunk);
      await send("\r\n");
    }
    await send(
      `0\r\n\r\nPOST ${GET_LOGGER} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 15\r\nConnection: close\r\n\r\n${root}`,
    );
    const statuses = [...(await client.closed).matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status);
    expect(statuses).toEqual(["429", "200"]);
    await expectAlive(url);
  });

  test.each([
    ["Connect", GET_LOGGER, "application/json", (body: string) => expect(body).toContain("resource_exhausted")],
    ["gRPC", GET_LOGGER, "application/grpc", (_: string, status: unknown) => expect(status).toBe("8")],
    [
      "gRPC of an unknown method",
      "/grpc.x.Y/Z",
      "application/grpc",
      (_: string, status: unknown) => expect(status).toBe("12"),
    ],
    [
      "Connect of an unknown method",
      "/grpc.x.Y/Z",
      "application/json",
      (body: string) => expect(body).toContain("unimplemented"),
    ],
    ["no known type", GET_LOGGER, "text/plain", () => {}],
  ])("hears the answer over HTTP/2 and is stopped without an error: %s", async (_, path, type, check) => {
    const { url, listener } = await serveLoggers();
    const session = await http2Connect(url);
    const stream = session.request({ ":method": "POST", ":path": path, "content-type": type, te: "trailers" });
    let body = "";
    let status: unknown;
    const heard = (headers: IncomingHttpHeaders) => {
      status = headers["grpc-status"] ?? status;
    };
    stream.on("response", heard);
    stream.on("trailers", heard);
    stream.on("data", (data) => {
      body += data;
    });
    stream.write(frame(0, Buffer.alloc(0), 0xffffffff));
    const send = () => stream.destroyed || stream.writableEnded || stream.write(chunk, () => setImmediate(send));
    send();
    await once(stream, "close");
    check(body, status);
    expect(stream.rstCode).toBe(0);
    await eventually(
      () => listener.counts.streams === 0,
      () => `${listener.counts.streams} streams`,
    );
  });
});

test.each([
  ["an unknown method", { ":path": "/grpc.x.Y/Z" }],
  ["no known type", { "content-type": "text/plain" }],
  ["a bad authority", { ":authority": "[" }],
  ["a method that is not allowed", { ":method": "PUT" }],
])("a request that is refused unread leaves no stream, though its body never ends: %s", async (_, headers) => {
  const { url, listener } = await serveLoggers();
  const session = await http2Connect(url);
  const stream = session.request({ ":method": "POST", ":path": GET_LOGGER, ...json, ...headers });
  stream.resume();
  stream.write("some");
  await once(stream, "close");
  expect(stream.rstCode).toBe(0);
  await eventually(
    () => listener.counts.streams === 0,
    () => `${listener.counts.streams} streams`,
  );
});

test.each([
  ["/actuator.v3.LoggersService/", "ours"],
  ["/actuator.v3.LoggersService/GetLogger/", "ours"],
  ["/actuator.v3.LoggersService/%47etLogger", "ours"],
  ["/actuator.v3.", "ours"],
  ["/actuator.v3.LoggersService/%ff", "ours"],
  ["//actuator.v3.LoggersService/GetLogger", "others"],
  ["/actuator/loggers", "others"],
  ["/actuator.v33/x", "others"],
  ["/grpc", "others"],
  ["*", "others"],
])("the path %s is not there, and %s to answer", async (path, whose) => {
  const { url, port, errors } = await serveLoggers();
  const client = await rawClient(port);
  client.socket.write(
    `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 15\r\nConnection: close\r\n\r\n${root}`,
  );
  const received = await client.closed;
  expect(received).toContain(" 404 ");
  expect(received.endsWith("other")).toBe(whose === "others");
  await expectAlive(url);
  expect(errors).toEqual([]);
});
