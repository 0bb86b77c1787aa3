import { once } from "node:events";
import http from "node:http";
import http2 from "node:http2";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { directPath } from "../../../src/http/rpc/direct/switch.ts";
import { type ActuatorOptions, createActuator } from "../../../src/index.ts";
import type { AuditRecord } from "../../../src/operations/audit/audit-record.ts";
import { PREFACE } from "../../../src/server/port.ts";
import {
  END_HEADERS,
  END_STREAM,
  FRAME,
  frame,
  framesOf,
  requestHeaders,
  settings,
} from "../../support/server-frames.ts";
import { http1Request, http2Connect, rawClient } from "../../support/server-harness.ts";

/** An actuator in a server of the application's own, which has no limits of time. */
async function mounted(create: (handler: http.RequestListener) => http.Server, options: ActuatorOptions = {}) {
  const records: AuditRecord[] = [];
  const actuator = createActuator({
    access: "loopback",
    loggers: { logLevelChanges: false },
    audit: (record) => void records.push(record),
    limits: { requestTimeoutMs: 200 },
    heartbeatMs: 100,
    ...options,
  });
  onTestFinished(() => actuator.close({ deadlineMs: 0 }));
  const server = create(actuator.handler as http.RequestListener);
  onTestFinished(() => void server.close());
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo;
  return { port, url: `http://127.0.0.1:${port}`, records, actuator };
}

const http1 = (handler: http.RequestListener) =>
  http.createServer({ requestTimeout: 0, headersTimeout: 0, connectionsCheckingInterval: 50 }, handler);
const SET = "/actuator.v3.LoggersService/SetLoggerLevel";

test.each([
  ["Connect", "application/json", '{"name":', /"code":"deadline_exceeded"/],
  ["Connect, a stream", "application/connect+json", "\0\0\0\0\x20{", /"code":"deadline_exceeded"/],
  ["gRPC-Web", "application/grpc-web+proto", "\0\0\0", /grpc-status: 4/],
])(
  "a body of %s over HTTP/1.1 that does not arrive ends the request and its connection",
  async (_, type, body, answer) => {
    const { port, actuator } = await mounted(http1);
    const client = await rawClient(port);
    const path = type.includes("connect") ? "/actuator.v3.LoggersService/WatchLoggers" : SET;
    client.socket.write(
      `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: ${type}\r\nContent-Length: 100\r\n\r\n`,
    );
    client.socket.write(body);
    const text = await client.closed;
    expect(text).toMatch(answer);
    expect(text.replaceAll("%20", " ")).toContain("did not arrive in time");
    expect(text.toLowerCase()).toContain("connection: close");
    expect(actuator.loggers!.list().loggers).toHaveLength(1);
  },
);

test.each(["application/grpc", "application/json"])(
  "a body of %s over HTTP/2 that does not arrive ends its stream",
  async (type) => {
    const { url, records } = await mounted((handler) => http2.createServer(handler as never) as unknown as http.Server);
    const session = await http2Connect(url);
    onTestFinished(() => session.destroy());
    const stream = session.request({ ":method": "POST", ":path": SET, "content-type": type, te: "trailers" });
    stream.write("\0\0\0");
    stream.on("error", () => {});
    let text = "";
    stream.on("data", (chunk: Buffer) => (text += chunk));
    const status: unknown[] = [];
    stream.on("trailers", (trailers) => status.push(trailers["grpc-status"]));
    stream.on("response", (headers) => status.push(headers["grpc-status"]));
    await once(stream, "close");
    if (type === "application/grpc") expect(status).toContain("4");
    else expect(text).toContain("deadline_exceeded");
    await expect.poll(() => records).toMatchObject([{ result: "DEADLINE_EXCEEDED" }]);
  },
);

test.each([
  ["is reset without an error", frame(FRAME.RST_STREAM, 0, 3, Buffer.from([0, 0, 0, 0]))],
  ["is reset", frame(FRAME.RST_STREAM, 0, 3, Buffer.from([0, 0, 0, 8]))],
  ["breaks the rules of HTTP/2", frame(FRAME.DATA, 0, 0)],
  ["loses its connection", undefined],
])("a message whose stream %s before its end is not taken for all of it", async (_, end) => {
  const { port, records, actuator } = await mounted(
    (handler) => http2.createServer(handler as never) as unknown as http.Server,
    { limits: { requestTimeoutMs: 0 } },
  );
  const client = await rawClient(port);
  const headers = { ":method": "POST", ":path": SET, "content-type": "application/proto" };
  const answered = (type: number) => () => framesOf(client.received()).map((each) => each.type === type);
  // The first call loads what answers it.
  client.socket.write(
    Buffer.concat([PREFACE, settings(), requestHeaders(1, headers, END_HEADERS), frame(FRAME.DATA, END_STREAM, 1)]),
  );
  await expect.poll(answered(FRAME.HEADERS)).toContain(true);
  // A name and a level. A time after which the level ends might follow.
  const part = frame(FRAME.DATA, 0, 3, Buffer.from([10, 1, 97, 16, 2]));
  const ping = frame(FRAME.PING, 0, 0, Buffer.alloc(8));
  client.socket.write(Buffer.concat([requestHeaders(3, headers, END_HEADERS), part, ping]));
  await expect.poll(answered(FRAME.PING)).toContain(true);
  if (end === undefined) client.socket.resetAndDestroy();
  else client.socket.write(end);
  await expect.poll(() => records).toMatchObject([{ result: "INVALID_ARGUMENT" }, { result: "CANCELLED" }]);
  expect(actuator.loggers!.list().loggers).toHaveLength(1);
});

test("a stream that has begun goes on for longer than a body may take", async () => {
  const { url } = await mounted((handler) => http2.createServer(handler as never) as unknown as http.Server);
  const session = await http2Connect(url);
  onTestFinished(() => session.destroy());
  const watch = session.request({
    ":method": "POST",
    ":path": "/actuator.v3.LoggersService/WatchLoggers",
    "content-type": "application/grpc",
    te: "trailers",
  });
  watch.end(Buffer.alloc(5));
  let events = 0;
  for await (const _ of watch) if (++events === 8) break;
  expect(events).toBe(8);
});

test("a call whose answer the application has given meanwhile ends without an error", async () => {
  const errors: unknown[] = [];
  const none = () => {};
  let decide = none;
  const authorize = async () => {
    await new Promise<void>((resolve) => {
      decide = resolve;
    });
    return { name: "ada", permissions: ["loggers:write" as const] };
  };
  let answer: http.ServerResponse | undefined;
  const create = (handler: http.RequestListener) =>
    http.createServer((req, res) => {
      answer = res;
      handler(req, res);
    });
  const options = { access: { authorize }, onError: (error: unknown) => void errors.push(error) };
  const { url, records } = await mounted(create, options);
  const headers = { "content-type": "application/json" };
  const call = () => http1Request(url + SET, { method: "POST", headers, body: '{"name":"a","level":2}' });
  const first = call();
  await expect.poll(() => decide === none).toBe(false);
  decide();
  await expect.poll(() => records).toMatchObject([{ result: "OK" }]);
  expect((await first).status).toBe(200);
  decide = none;
  const second = call();
  await expect.poll(() => decide === none).toBe(false);
  answer!.writeHead(503).end();
  expect((await second).status).toBe(503);
  decide();
  await expect.poll(() => records.length).toBe(2);
  expect(errors).toEqual([]);
});

// connect's path lets such a client wait.
if (directPath.enabled) {
  test("a body that does not arrive after the application has begun the answer ends the connection", async () => {
    const create = (handler: http.RequestListener) =>
      http1((req, res) => {
        res.flushHeaders();
        handler(req, res);
      });
    const errors: unknown[] = [];
    const { port } = await mounted(create, { onError: (error) => void errors.push(error) });
    const client = await rawClient(port);
    client.socket.write(`POST ${SET} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n`);
    client.socket.write("Content-Length: 100\r\n\r\n{");
    await client.closed;
    expect(errors).toMatchObject([{ code: "ERR_HTTP_HEADERS_SENT" }]);
  });
}
