/** How calls with one message on either side end, for their methods, their clients and the call log. */
import { once } from "node:events";
import type { IncomingHttpHeaders } from "node:http2";
import { createRegistry } from "@bufbuild/protobuf";
import { Code, ConnectError, createClient, type HandlerContext } from "@connectrpc/connect";
import { describe, expect, onTestFinished, test } from "vitest";
import { LoggersService } from "../../../src/gen/actuator/v3/loggers_pb.ts";
import { SessionsService } from "../../../src/gen/actuator/v3/sessions_pb.ts";
import { Health } from "../../../src/gen/grpc/health/v1/health_pb.ts";
import { createGate, type Gate } from "../../../src/http/gate/gate.ts";
import { directPath } from "../../../src/http/rpc/direct/switch.ts";
import { createActuator } from "../../../src/index.ts";
import { Loggers } from "../../../src/loggers/loggers.ts";
import type { CallRecord } from "../../../src/operations/calls/call-record.ts";
import { Sessions } from "../../../src/sessions/sessions.ts";
import { serveService } from "../../conformance/exchange.ts";
import { LOCAL_PEER } from "../../support/open-gate.ts";
import { bodyOf, exchange, headersOf, outcomeOf, overEach, UNARY_FORMATS } from "../../support/rpc-exchange.ts";
import { serveRpc, silentStore, transportOver, WIRES } from "../../support/rpc-harness.ts";
import { eventually, http1Request, http2Connect, http2Request, rawClient } from "../../support/server-harness.ts";

const GET_LOGGER = "/actuator.v3.LoggersService/GetLogger";
const CHECK = "/grpc.health.v1.Health/Check";
const GET_SESSION = "/actuator.v3.SessionsService/GetSession";
const ROOT = Buffer.from("\n\u0004ROOT");
const FORMATS = UNARY_FORMATS.filter(({ name }) => ["gRPC", "gRPC-Web", "Connect", "Connect JSON"].includes(name));
const EMPTY = (json: boolean | undefined) => Buffer.from(json ? "{}" : "");

type Check = (context: HandlerContext) => Promise<object> | object;

/** Serves a method of the test's own. */
async function serveCheck(check: Check, gate?: Gate): Promise<string> {
  const methods = { check: (_: unknown, context: HandlerContext) => check(context) };
  const listener = serveService({ service: Health, methods: methods as never }, createRegistry(), 65_536, gate);
  onTestFinished(() => listener.drain({ deadlineMs: 0 }));
  return (await listener.listen({ port: 0 })).url;
}

describe("the signal of a call is aborted when the call is over", () => {
  const endings: Readonly<Record<string, { readonly check: Check; readonly code: string; readonly headers?: object }>> =
    {
      "that succeeds": { check: () => ({}), code: "OK" },
      "that succeeds later": { check: async () => ({}), code: "OK" },
      "that fails": {
        check: () => {
          throw new ConnectError("no", Code.NotFound);
        },
        code: "NOT_FOUND",
      },
      "that fails later": { check: () => Promise.reject(new ConnectError("no", Code.NotFound)), code: "NOT_FOUND" },
      "that is late": {
        check: () => new Promise(() => {}),
        code: "DEADLINE_EXCEEDED",
        headers: { "grpc-timeout": "300m", "connect-timeout-ms": "300" },
      },
    };

  test.each(
    overEach(FORMATS).flatMap((row) => Object.entries(endings).map(([what, ending]) => ({ ...row, what, ...ending }))),
  )("$what: $over", async ({ format, version, check, code, headers }) => {
    let signal: AbortSignal | undefined;
    const url = await serveCheck((context) => {
      signal = context.signal;
      expect(signal.aborted).toBe(false);
      return check(context);
    });
    const body = bodyOf(format, EMPTY(format.json));
    const heard = await exchange(url, version, { path: CHECK, headers: { ...headersOf(format), ...headers }, body });
    expect(outcomeOf(format, heard).code).toBe(code);
    await eventually(
      () => signal!.aborted,
      () => "not aborted",
    );
  });

  test.each(WIRES)("whose client goes away: $protocol over HTTP/$httpVersion", async (wire) => {
    let signal: AbortSignal | undefined;
    const url = await serveCheck(async (context) => {
      signal = context.signal;
      await once(signal, "abort");
      throw signal.reason;
    });
    const abort = new AbortController();
    const call = createClient(Health, transportOver(wire, url)).check({}, { signal: abort.signal });
    await eventually(
      () => signal !== undefined,
      () => "not called",
    );
    abort.abort();
    await expect(call).rejects.toMatchObject({ code: Code.Canceled });
    await eventually(
      () => signal!.aborted,
      () => "not aborted",
    );
    expect(signal!.reason).toMatchObject({ code: Code.Canceled });
  });
});

// connect's path lets such a client wait.
const forbidding = directPath.enabled ? ["HTTP/2"] : [];

const FORBIDDEN: Readonly<Record<string, readonly [format: string, check: Check]>> = {
  header: ["Connect JSON", async ({ responseHeader }) => ({ status: responseHeader.set("connection", "close") })],
  trailer: ["gRPC", async ({ responseTrailer }) => ({ status: responseTrailer.set("connection", "close") })],
};

test.each(forbidding.flatMap((version) => Object.keys(FORBIDDEN).map((what) => ({ version, what }))))(
  "an answer with a $what that $version forbids is cut off, and the connection goes on",
  async ({ what }) => {
    const [name, forbidden] = FORBIDDEN[what]!;
    let check = forbidden;
    const url = await serveCheck((context) => check(context));
    const format = UNARY_FORMATS.find((each) => each.name === name)!;
    const session = await http2Connect(url);
    const call = () => {
      const stream = session.request({ ":method": "POST", ":path": CHECK, ...headersOf(format) });
      stream.end(bodyOf(format, EMPTY(format.json)));
      return stream.resume();
    };
    const [error] = await once(call(), "error");
    expect(error.code).toBe("ERR_HTTP2_STREAM_ERROR");
    check = () => ({});
    const [headers] = await once(call(), "response");
    expect(headers[":status"]).toBe(200);
  },
);

test.each(overEach(FORMATS))(
  "$over: the headers of an error of another server stay there",
  async ({ format, version }) => {
    const elsewhere = await serveCheck(() => {
      throw new ConnectError("no", Code.NotFound, { "x-elsewhere": "1" });
    });
    const client = createClient(Health, transportOver(WIRES[0]!, elsewhere));
    const url = await serveCheck(() => client.check({}));
    const heard = await exchange(url, version, {
      path: CHECK,
      headers: headersOf(format),
      body: bodyOf(format, EMPTY(format.json)),
    });
    expect(outcomeOf(format, heard).code).toBe("NOT_FOUND");
    expect(JSON.stringify(heard)).not.toContain("x-elsewhere");
  },
);

test.each(overEach(UNARY_FORMATS))("$over: a method sees its request and adds headers and trailers", async (row) => {
  const { format, version } = row;
  let seen: unknown;
  const url = await serveCheck((context) => {
    const { requestHeader, responseHeader, responseTrailer, requestMethod, protocolName, method, service } = context;
    seen = [requestHeader.get("x-asked"), requestMethod, protocolName, method.name, service.typeName, context.url];
    responseHeader.append("x-first", "1");
    responseHeader.append("x-first", "2");
    responseTrailer.set("x-last", "3");
    responseTrailer.set("x-last-bin", "AAEC");
    return { status: 1 };
  });
  const sent = { path: CHECK, headers: { ...headersOf(format), "x-asked": "e" } };
  const heard = await exchange(url, version, { ...sent, body: bodyOf(format, EMPTY(format.json)) });
  const protocol = format.protocol.toLowerCase();
  expect(seen).toEqual(["e", "POST", protocol, "Check", Health.typeName, url + CHECK]);
  expect(heard.headers["x-first"]).toBe("1, 2");
  expect(outcomeOf(format, heard)).toMatchObject({ code: "OK", metadata: { "x-last": "3", "x-last-bin": "AAEC" } });
});

describe("access that is decided later", () => {
  async function serveSlowly() {
    const pending: (() => void)[] = [];
    const records: { who?: string | undefined; result: string }[] = [];
    const actuator = createActuator({
      loggers: {},
      audit: (record) => void records.push(record as never),
      access: {
        authorize: async ({ header }) => {
          await new Promise<void>((resolve) => pending.push(resolve));
          return header("x-key") === "good" ? { name: "ada", permissions: ["loggers:*"] } : undefined;
        },
      },
    });
    onTestFinished(() => actuator.close({ deadlineMs: 0 }));
    const { url, port } = await actuator.listen({ port: 0 });
    const decide = async () => {
      await eventually(
        () => pending.length > 0,
        () => "not asked",
      );
      for (const resolve of pending.splice(0)) resolve();
    };
    return { url, port, decide, pending, records };
  }

  test.each(overEach(UNARY_FORMATS).flatMap((row) => ["good", "bad"].map((key) => ({ ...row, key }))))(
    "$over, with a $key key",
    async ({ format, version, key }) => {
      const { url, decide } = await serveSlowly();
      const message = format.json ? Buffer.from('{"name":"ROOT"}') : ROOT;
      const headers = { ...headersOf(format), "x-key": key };
      const answer = exchange(url, version, { path: GET_LOGGER, headers, body: bodyOf(format, message) });
      await decide();
      const { code } = outcomeOf(format, await answer);
      expect(code).toBe(key === "good" ? "OK" : "UNAUTHENTICATED");
    },
  );

  test.each(WIRES)("of a client that goes away before: $protocol over HTTP/$httpVersion", async (wire) => {
    const { url, decide, pending, records } = await serveSlowly();
    const abort = new AbortController();
    const client = createClient(LoggersService, transportOver(wire, url));
    const headers = { "x-key": "good" };
    const call = client.setLoggerLevel({ name: "a", level: 6 }, { headers, signal: abort.signal });
    await eventually(
      () => pending.length > 0,
      () => "not asked",
    );
    abort.abort();
    await expect(call).rejects.toMatchObject({ code: Code.Canceled });
    await decide();
    const next = client.setLoggerLevel({ name: "a", level: 6 }, { headers });
    await decide();
    expect((await next).result.case).toBe("logger");
    await eventually(
      () => records.length === 2,
      () => JSON.stringify(records),
    );
  });
});

describe("a drain", () => {
  function serveHeld() {
    const held: (() => void)[] = [];
    const findById = (id: string) =>
      new Promise<undefined>((resolve) => {
        if (id === "now") resolve(undefined);
        else held.push(() => resolve(undefined));
      });
    const sessions = new Sessions({ kind: "held", findById, delete: async () => false }, { ids: "raw" });
    return serveRpc({ sessions }).then((server) => ({ ...server, held }));
  }

  test.each(overEach(FORMATS))("lets a call under way end: $over", async ({ format, version }) => {
    const { url, listener, held } = await serveHeld();
    const message = format.json ? Buffer.from('{"id":"1"}') : Buffer.from("\n\u00011");
    const sent = { path: GET_SESSION, headers: headersOf(format), body: bodyOf(format, message) };
    const answer = exchange(url, version, sent);
    await eventually(
      () => held.length === 1,
      () => "not called",
    );
    const drained = listener.drain({ deadlineMs: 10_000 });
    for (const release of held) release();
    expect(outcomeOf(format, await answer).code).toBe("NOT_FOUND");
    await drained;
  });

  test("refuses a call that begins beside one under way, so that it can be repeated elsewhere", async () => {
    const { url, listener, held } = await serveHeld();
    const session = await http2Connect(url);
    const request = { ":method": "POST", ":path": GET_SESSION, "content-type": "application/json" };
    const first = http2Request(session, { ...request, body: '{"id":"1"}' });
    await eventually(
      () => held.length === 1,
      () => "not called",
    );
    const drained = listener.drain({ deadlineMs: 10_000 });
    for (const type of ["application/json", "application/grpc"]) {
      const second = http2Request(session, { ...request, "content-type": type, body: "{}" });
      await expect(second).rejects.toThrow(/REFUSED_STREAM|without an answer/);
    }
    for (const release of held) release();
    expect((await first).status).toBe(404);
    await drained;
  });
});

describe("HTTP/1.1", () => {
  test("pipelined calls of every kind are answered whole and in order", async () => {
    const { port, errors } = await serveRpc({ loggers: new Loggers() });
    const client = await rawClient(port);
    const post = (path: string, type: string, body: Buffer, more = "") =>
      Buffer.concat([
        Buffer.from(
          `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: ${type}\r\n${more}Content-Length: ${body.length}\r\n\r\n`,
        ),
        body,
      ]);
    const enveloped = bodyOf(FORMATS[0]!, ROOT);
    const chunked =
      `POST ${GET_LOGGER} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n` +
      '8\r\n{"name":\r\n7\r\n"ROOT"}\r\n0\r\n\r\n';
    client.socket.write(
      Buffer.concat([
        post(GET_LOGGER, "application/json", Buffer.from('{"name":"ROOT"}')),
        post(GET_LOGGER, "application/proto", ROOT),
        Buffer.from(chunked),
        post(GET_LOGGER, "application/grpc-web", enveloped),
        post(GET_LOGGER, "application/json", Buffer.from('{"name":"nothing"}')),
        post(GET_LOGGER, "text/plain", Buffer.from("x")),
        post("/actuator.v3.LoggersService/Nothing", "application/json", Buffer.from("{}")),
        post(GET_LOGGER, "application/json", Buffer.alloc(70_000, " ")),
        Buffer.from(
          `GET ${GET_LOGGER}?connect=v1&encoding=json&message=%7B%22name%22:%22ROOT%22%7D HTTP/1.1\r\nHost: x\r\n\r\n`,
        ),
        post(GET_LOGGER, "application/json", Buffer.from('{"name":"ROOT"}'), "Connection: close\r\n"),
      ]),
    );
    const statuses = [...(await client.closed).matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => Number(status));
    expect(statuses).toEqual([200, 200, 200, 200, 404, 415, 404, 429, 200, 200]);
    expect(errors).toEqual([]);
  });

  test("a slow call holds back the answers to those after it, and no longer", async () => {
    const held: (() => void)[] = [];
    const findById = () => new Promise<undefined>((resolve) => held.push(() => resolve(undefined)));
    const sessions = new Sessions({ kind: "held", findById, delete: async () => false }, { ids: "raw" });
    const { port } = await serveRpc({ sessions, loggers: new Loggers() });
    const client = await rawClient(port);
    const post = (path: string, body: string, more = "") =>
      `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n${more}Content-Length: ${body.length}\r\n\r\n${body}`;
    client.socket.write(post(GET_SESSION, '{"id":"1"}') + post(GET_LOGGER, '{"name":"ROOT"}', "Connection: close\r\n"));
    await eventually(
      () => held.length === 1,
      () => "not called",
    );
    expect(client.received()).toBe("");
    for (const release of held) release();
    const statuses = [...(await client.closed).matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => Number(status));
    expect(statuses).toEqual([404, 200]);
  });

  test("a connection that is asked to end ends with its answer", async () => {
    const { url } = await serveRpc({ loggers: new Loggers() });
    const headers = { "content-type": "application/json", connection: "close" };
    const answer = await http1Request(url + GET_LOGGER, { method: "POST", headers, body: '{"name":"ROOT"}' });
    expect([answer.status, answer.headers.connection]).toEqual([200, "close"]);
  });
});

describe("HTTP/2", () => {
  test.each(["application/grpc", "application/json"])("headers over the limit end a call of %s", async (type) => {
    const { url } = await serveRpc({ loggers: new Loggers() });
    const session = await http2Connect(url);
    const headers = { ":method": "POST", ":path": GET_LOGGER, "content-type": type };
    const large = Object.fromEntries(Array.from({ length: 17 }, (_, index) => [`x-${index}`, "x".repeat(1_000)]));
    await expect(http2Request(session, { ...headers, ...large, body: "{}" })).rejects.toThrow(/ENHANCE_YOUR_CALM|11/);
    const next = await http2Request(session, {
      ...headers,
      "content-type": "application/json",
      body: '{"name":"ROOT"}',
    });
    expect(next.status).toBe(200);
  });

  test.each([...UNARY_FORMATS])("a bad authority is 400: $name", async (format) => {
    const { url } = await serveRpc({ loggers: new Loggers() });
    const headers = { ...headersOf(format), ":authority": "::::" };
    const heard = await exchange(url, "HTTP/2", { path: GET_LOGGER, headers, body: bodyOf(format, ROOT) });
    expect(heard.status).toBe(400);
  });

  test("many calls at the same time on one connection are each answered", async () => {
    const { url, listener } = await serveRpc({ loggers: new Loggers() });
    const session = await http2Connect(url);
    const body = bodyOf(FORMATS[0]!, ROOT);
    const call = () =>
      new Promise<IncomingHttpHeaders>((resolve, reject) => {
        const headers = { ":method": "POST", ":path": GET_LOGGER, "content-type": "application/grpc", te: "trailers" };
        const stream = session.request(headers);
        stream.once("trailers", (trailers) => resolve(trailers as IncomingHttpHeaders)).once("error", reject);
        stream.resume().end(body);
      });
    const trailers = await Promise.all(Array.from({ length: 100 }, call));
    expect(new Set(trailers.map((each) => each["grpc-status"]))).toEqual(new Set(["0"]));
    await eventually(
      () => listener.counts.streams === 0,
      () => `${listener.counts.streams} streams`,
    );
  });
});

describe("a client that goes away", () => {
  test.each(WIRES)("while its method waits is in the call log: $protocol over HTTP/$httpVersion", async (wire) => {
    const records: CallRecord[] = [];
    const observer = (record: CallRecord) => void records.push(record);
    const gate = createGate({ peer: LOCAL_PEER, allowedHosts: ["*"], observer });
    let isCalled = false;
    const check: Check = async ({ signal }) => {
      isCalled = true;
      await once(signal, "abort");
      throw signal.reason;
    };
    const url = await serveCheck(check, gate);
    const abort = new AbortController();
    const call = createClient(Health, transportOver(wire, url)).check({}, { signal: abort.signal });
    await eventually(
      () => isCalled,
      () => "not called",
    );
    abort.abort();
    await expect(call).rejects.toMatchObject({ code: Code.Canceled });
    await expect.poll(() => records.map(({ code }) => code)).toEqual(["CANCELLED"]);
  });

  test.each(["HTTP/1.1", "HTTP/2"])("while its work goes on leaves nothing behind: %s", async (version) => {
    const { url, port, listener, errors } = await serveRpc({ sessions: new Sessions(silentStore(), { ids: "raw" }) });
    if (version === "HTTP/1.1") {
      const { socket } = await rawClient(port);
      const head = `POST ${GET_SESSION} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 10\r\n\r\n`;
      socket.write(`${head}{"id":"1"}`);
      await eventually(
        () => listener.counts.connections === 1,
        () => "not connected",
      );
      socket.destroy();
    } else {
      const session = await http2Connect(url);
      const call = createClient(SessionsService, transportOver({ protocol: "gRPC", httpVersion: "2" }, url));
      const abort = new AbortController();
      const pending = call.getSession({ id: "1" }, { signal: abort.signal });
      await eventually(
        () => listener.counts.streams === 1,
        () => "no stream",
      );
      abort.abort();
      await expect(pending).rejects.toMatchObject({ code: Code.Canceled });
      session.destroy();
    }
    await eventually(
      () => listener.counts.streams === 0,
      () => JSON.stringify(listener.counts),
    );
    expect(errors).toEqual([]);
  });
});
