import { once } from "node:events";
import type { ClientHttp2Session, ClientHttp2Stream, OutgoingHttpHeaders } from "node:http2";
import { describe, expect, onTestFinished, test } from "vitest";
import { type ActuatorOptions, createActuator, integrationGraph } from "../../../src/index.ts";
import { http2Connect } from "../../support/server-harness.ts";
import { tokensFor } from "../../support/tokens.ts";

const EMPTY_MESSAGE = Buffer.alloc(5);
const GRPC = { "content-type": "application/grpc", te: "trailers" };
const TRACES = [
  { ":path": "/v1/traces", "content-type": "application/json" },
  { ":path": "/opentelemetry.proto.collector.trace.v1.TraceService/Export", ...GRPC },
] as const;

async function serve(options: ActuatorOptions = {}) {
  const { file, tokens } = tokensFor({ operator: { permissions: ["*"] } });
  const actuator = createActuator({
    loggers: { logLevelChanges: false },
    integrationGraph: integrationGraph({ app: "shop" }),
    otlp: true,
    access: { tokens: file },
    audit: false,
    onError: () => undefined,
    ...options,
  });
  onTestFinished(() => actuator.close({ deadlineMs: 0 }));
  const { url } = await actuator.listen({ port: 0 });
  const connect = async () => {
    const session = await http2Connect(url);
    onTestFinished(() => session.destroy());
    return session;
  };
  return { connect, operator: { authorization: `Bearer ${tokens.operator}` } };
}

/** Begins a POST, and leaves it open. */
function begin(session: ClientHttp2Session, headers: OutgoingHttpHeaders): ClientHttp2Stream {
  return session.request({ ":method": "POST", ...headers }).on("error", () => undefined);
}

/** The status of HTTP, or that of gRPC where the answer is over with its headers. */
async function statusOf(stream: ClientHttp2Stream): Promise<number> {
  const [headers] = await once(stream, "response");
  return Number(headers["grpc-status"] ?? headers[":status"]);
}

const watch = (session: ClientHttp2Session, path: string, headers: OutgoingHttpHeaders = {}) => {
  const stream = begin(session, { ":path": path, ...GRPC, ...headers });
  stream.end(EMPTY_MESSAGE);
  return stream;
};

/** The first that a watch has to tell: news, or the status of gRPC with which it ends. */
async function firstOf(stream: ClientHttp2Stream): Promise<"news" | number> {
  return Promise.race([
    once(stream, "data").then(() => "news" as const),
    once(stream, "trailers").then(([trailers]) => Number(trailers["grpc-status"])),
  ]);
}

describe("strangers", () => {
  test("who watch the health leave half of all streams to those who say who they are", async () => {
    const { connect, operator } = await serve({ streams: { max: 6 } });
    const crowd = await connect();
    const health = "/grpc.health.v1.Health/Watch";
    for (let count = 0; count < 3; count++) expect(await firstOf(watch(crowd, health))).toBe("news");
    expect(await firstOf(watch(crowd, health))).toBe(8);
    const session = await connect();
    const loggers = "/actuator.v3.LoggersService/WatchLoggers";
    for (let count = 0; count < 3; count++) expect(await firstOf(watch(session, loggers, operator))).toBe("news");
    expect(await firstOf(watch(session, loggers, operator))).toBe(8);
    crowd.destroy();
    const again = async () => firstOf(watch(await connect(), health));
    await expect.poll(again).toBe("news");
  });

  test("have all streams where nobody is asked", async () => {
    const { connect } = await serve({ streams: { max: 2 }, access: undefined });
    const session = await connect();
    const loggers = "/actuator.v3.LoggersService/WatchLoggers";
    for (let count = 0; count < 2; count++) expect(await firstOf(watch(session, loggers))).toBe("news");
  });

  test.each(TRACES)("who begin to send spans to $:path and do not end keep nobody's from being taken", async (path) => {
    const { connect, operator } = await serve();
    const crowd = await connect();
    const begun = Array.from({ length: 40 }, () => begin(crowd, path));
    expect(new Set(await Promise.all(begun.map(statusOf))).size).toBe(1);
    const session = await connect();
    for (const headers of TRACES) {
      const stream = begin(session, { ...headers, ...operator });
      stream.end(headers === TRACES[0] ? "{}" : EMPTY_MESSAGE);
      expect(await statusOf(stream)).toBe(200);
    }
  });
});

test.each(TRACES)("so many requests with spans are read at a time at $:path, and no more", async (path) => {
  const { connect, operator } = await serve();
  const session = await connect();
  const headers = { ...path, ...operator };
  const begun = Array.from({ length: 32 }, () => begin(session, headers));
  const refused = async () => {
    const stream = begin(session, headers);
    stream.end(path === TRACES[0] ? "{}" : EMPTY_MESSAGE);
    const [answer] = await once(stream, "response");
    const trailers = path === TRACES[0] ? answer : (await once(stream.resume(), "trailers"))[0];
    return Number(trailers["grpc-status"] ?? trailers[":status"]);
  };
  expect(await refused()).toBe(path === TRACES[0] ? 429 : 14);
  for (const stream of begun) stream.close();
  await expect.poll(refused).toBe(path === TRACES[0] ? 200 : 0);
});

describe("what keeps anybody from being known", () => {
  const jwt = { jwks: "http://127.0.0.1:1/keys", issuer: "https://id.example", audience: "shop" };
  const unsigned = [{ alg: "ES256", kid: "k" }, {}].map((part) =>
    Buffer.from(JSON.stringify(part)).toString("base64url"),
  );

  test.each<[what: string, access: ActuatorOptions["access"], context: string, atMost: number]>([
    ["a function that throws", { authorize: () => Promise.reject(new Error("no database")) }, "access.authorize", 10],
    ["keys out of reach", { jwt }, "access.jwt", 1],
  ])("is told of, and not by every stranger that knocks: %s", async (_, access, context, atMost) => {
    const told: string[] = [];
    const { connect } = await serve({ access, onError: (_error, where) => told.push(where) });
    const session = await connect();
    const authorization = `Bearer ${unsigned.join(".")}.AAAA`;
    for (let i = 0; i < 25; i++) {
      expect(await statusOf(session.request({ ":path": "/actuator/info", authorization }))).toBe(503);
    }
    expect(told).toEqual(Array(atMost).fill(context));
  });
});
