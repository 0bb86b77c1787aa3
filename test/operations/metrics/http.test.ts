import { once } from "node:events";
import http from "node:http";
import http2 from "node:http2";
import net, { type AddressInfo } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import { ActuatorError } from "../../../src/common/error.ts";
import { type ActuatorOptions, createActuator, integrationGraph, type SessionStore } from "../../../src/index.ts";
import type { AuditRecord } from "../../../src/operations/audit/audit-record.ts";
import { http1Client, http2Client, type RestClient, type RestRequest } from "../../support/rest-client.ts";
import { eventually } from "../../support/server-harness.ts";
import { tokensFor } from "../../support/tokens.ts";

const JSON_BODY = { "Content-Type": "application/json" };
const LOGGER = "/actuator/loggers/http";
const LONG = Buffer.alloc(70_000, " ");

/** A store that finds what the test says. */
function storeOf(findByUsername: NonNullable<SessionStore["findByUsername"]>): SessionStore {
  return { kind: "test", findById: async () => undefined, findByUsername };
}

/** The gauge that rises when a client comes, and falls when it goes. */
const HELD: Readonly<Record<string, string>> = {
  "HTTP/1.1": "actuator.connections",
  "HTTP/2": "actuator.http2.streams",
};

const PERMISSIONS = {
  all: { permissions: ["*"] },
  reader: { permissions: ["loggers:read"] },
} as const;

async function serveActuator(options: ActuatorOptions = {}) {
  const { file, tokens } = tokensFor(PERMISSIONS);
  const records: AuditRecord[] = [];
  const actuator = createActuator({
    metrics: true,
    audit: (record) => void records.push(record),
    loggers: { logLevelChanges: false },
    sessions: storeOf(() => Promise.reject(new Error("no connection"))),
    integrationGraph: integrationGraph({ app: "shop" }),
    otlp: true,
    access: { tokens: file },
    onError: () => undefined,
    ...options,
  });
  onTestFinished(() => actuator.close({ deadlineMs: 0 }));
  const { port } = await actuator.listen({ port: 0 });
  /** How many requests were measured under the same attributes, since it was last asked. */
  let before = new Map<string, number>();
  const measured = () => {
    const points = actuator
      .metrics!.durations()
      .flatMap(({ name, points }) => points.map((point) => ({ name, point })));
    const now = new Map(points.map(({ name, point }) => [JSON.stringify({ name, ...point.attributes }), point.count]));
    const more = [...now].flatMap(([key, count]) => new Array(count - (before.get(key) ?? 0)).fill(JSON.parse(key)));
    before = now;
    return more;
  };
  /** What the server holds of its clients. */
  const held = (wire: string) => {
    const gauges = actuator.metrics!.gauges().filter(({ name }) => name === HELD[wire]);
    return gauges.flatMap(({ points }) => points.map(({ value }) => value))[0]!;
  };
  return { actuator, port, tokens, records, measured, held };
}

/** A request, who makes it, what it matched, and what it is answered; that it is, the test sees for itself. */
type Case = readonly [status: number, route: string | undefined, request: RestRequest, caller?: "reader" | "nobody"];

const INDEX = "/actuator";
const ONE = "/actuator/loggers/{name}";
const ALL = "/actuator/loggers";
const SEARCH = "/actuator/sessions";

const CASES: readonly Case[] = [
  [200, INDEX, { path: "/actuator" }],
  [200, ALL, { path: ALL }],
  [200, ALL, { path: ALL, method: "HEAD" }],
  [200, ALL, { path: ALL, method: "OPTIONS" }],
  [204, ONE, { path: LOGGER, method: "POST", headers: JSON_BODY, body: '{"configuredLevel":"DEBUG"}' }],
  [200, ONE, { path: LOGGER }],
  [400, ONE, { path: LOGGER, method: "POST", headers: JSON_BODY, body: "{" }],
  [401, ALL, { path: ALL }, "nobody"],
  [403, ALL, { path: ALL, headers: { Host: "evil.example" } }],
  [403, ONE, { path: LOGGER, method: "POST", headers: JSON_BODY, body: "{}" }, "reader"],
  [403, ONE, { path: LOGGER, method: "POST", headers: { ...JSON_BODY, "Sec-Fetch-Site": "cross-site" }, body: "{}" }],
  [403, undefined, { path: "/actuator/nothing", headers: { Host: "evil.example" } }],
  [404, undefined, { path: "/actuator/nothing" }],
  [404, undefined, { path: "/elsewhere" }],
  [400, "/actuator/sessions/{sessionId}", { path: "/actuator/sessions/%E0" }],
  [404, "/actuator/sessions/{sessionId}", { path: "/actuator/sessions/none" }],
  [405, ONE, { path: LOGGER, method: "PUT" }],
  [406, ALL, { path: ALL, headers: { Accept: "image/png" } }],
  [406, "/actuator/prometheus", { path: "/actuator/prometheus", headers: { Accept: "image/png" } }],
  [413, ONE, { path: LOGGER, method: "POST", headers: JSON_BODY, body: LONG }],
  [415, ONE, { path: LOGGER, method: "POST", headers: { "Content-Type": "text/plain" }, body: "{}" }],
  [500, SEARCH, { path: "/actuator/sessions?username=eve" }],
  [200, "/v1/traces", { path: "/v1/traces", method: "POST", headers: JSON_BODY, body: "{}" }],
  [401, "/v1/traces", { path: "/v1/traces", method: "POST", headers: JSON_BODY, body: "{}" }, "nobody"],
  [405, "/v1/traces", { path: "/v1/traces", method: "PUT" }],
  [415, "/v1/traces", { path: "/v1/traces", method: "POST", body: "{}" }],
];

const WIRES: Readonly<Record<string, (port: number) => RestClient>> = {
  "HTTP/1.1": http1Client,
  "HTTP/2": (port) => {
    const { client, close } = http2Client(port);
    onTestFinished(close);
    return client;
  },
};

describe.each(Object.keys(WIRES))("over %s", (wire) => {
  test("every request is measured once, with the status that it was answered and what its path matched", async () => {
    const { port, tokens, measured } = await serveActuator({ allowedHosts: ["127.0.0.1"] });
    const client = WIRES[wire]!(port);
    for (const [status, route, request, caller] of CASES) {
      const token = caller === "nobody" ? undefined : tokens[caller ?? "all"];
      const headers = { ...(token !== undefined && { Authorization: `Bearer ${token}` }), ...request.headers };
      const answer = await client({ ...request, headers });
      const attributes = {
        name: "http.server.request.duration",
        "http.request.method": request.method ?? "GET",
        ...(route !== undefined && { "http.route": route }),
        "http.response.status_code": answer.status,
        ...(answer.status >= 500 && { "error.type": `${answer.status}` }),
        "url.scheme": "http",
      };
      expect({ request, status: answer.status, measured: measured() }).toEqual({
        request,
        status,
        measured: [attributes],
      });
    }
  });

  test("what the client has already, and what is too often, are measured as 304 and 429", async () => {
    const { file, tokens } = tokensFor(PERMISSIONS);
    const access = { tokens: file, limits: { maxWritesPerMinute: 1 } };
    const { port, measured } = await serveActuator({ access });
    const client = WIRES[wire]!(port);
    const headers = { Authorization: `Bearer ${tokens.all}`, ...JSON_BODY };
    const write = { path: LOGGER, method: "POST", headers, body: "{}" };
    const graph = "/actuator/integrationgraph";
    const { etag } = (await client({ path: graph, headers })).headers;
    await client({ path: graph, headers: { ...headers, "If-None-Match": etag! } });
    await client(write);
    await client(write);
    expect(measured().map((attributes) => attributes["http.response.status_code"])).toEqual([200, 304, 204, 429]);
  });
});

test("what may only be read is told by 405 that somebody tries to write", async () => {
  const { port, tokens, measured } = await serveActuator({ readOnly: true });
  const headers = { Authorization: `Bearer ${tokens.all}`, ...JSON_BODY };
  await http1Client(port)({ path: LOGGER, method: "POST", headers, body: "{}" });
  expect(measured()).toMatchObject([{ "http.route": ONE, "http.response.status_code": 405 }]);
});

test("a proxy that is trusted says what the client speaks, and nobody else does", async () => {
  for (const trustedProxies of [["127.0.0.1"], []]) {
    const { port, measured } = await serveActuator({ trustedProxies });
    const headers = { "X-Forwarded-For": "192.0.2.1", "X-Forwarded-Proto": "https" };
    await http1Client(port)({ path: "/actuator/health", headers });
    expect(measured()).toMatchObject([{ "url.scheme": trustedProxies.length > 0 ? "https" : "http" }]);
  }
});

test("a page that asks if it may send spans is answered, and measured, as 204", async () => {
  const { port, measured } = await serveActuator({ cors: { origins: ["https://ops.example"] } });
  const headers = { Origin: "https://ops.example", "Access-Control-Request-Method": "POST" };
  const { status } = await http1Client(port)({ path: "/v1/traces", method: "OPTIONS", headers });
  expect(status).toBe(204);
  expect(measured()).toMatchObject([{ "http.request.method": "OPTIONS", "http.response.status_code": 204 }]);
});

test("an answer that somebody else has begun is cut off, and measured as a fault without a status", async () => {
  const { actuator, measured } = await serveActuator({ access: "loopback" });
  const server = http.createServer((request, response) => {
    response.flushHeaders();
    actuator.handler(request, response);
  });
  onTestFinished(() => void server.close());
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo;
  await http1Client(port)({ path: "/actuator/health" });
  expect(measured()).toEqual([
    {
      name: "http.server.request.duration",
      "http.request.method": "GET",
      "http.route": "/actuator/health",
      "error.type": "INTERNAL",
      "url.scheme": "http",
    },
  ]);
});

describe("whoever goes before the answer", () => {
  const leave: Readonly<Record<string, (port: number, head: Readonly<Record<string, string>>) => Promise<() => void>>> =
    {
      async "HTTP/1.1"(port, { ":method": method, ":path": path, ...headers }) {
        const socket = net.connect(port, "127.0.0.1");
        onTestFinished(() => void socket.destroy());
        await once(socket, "connect");
        const lines = Object.entries({ Host: "127.0.0.1", ...headers }).map(([name, value]) => `${name}: ${value}\r\n`);
        socket.write(`${method} ${path} HTTP/1.1\r\n${lines.join("")}\r\n`);
        return () => socket.destroy();
      },
      async "HTTP/2"(port, headers) {
        const session = http2.connect(`http://127.0.0.1:${port}`);
        onTestFinished(() => session.destroy());
        const stream = session.request(headers, { endStream: headers[":method"] === "GET" });
        stream.on("error", () => undefined);
        return () => stream.close(http2.constants.NGHTTP2_CANCEL);
      },
    };

  test.each(
    Object.keys(leave).flatMap((wire) => [[wire, LOGGER, ONE] as const, [wire, "/v1/traces", "/v1/traces"] as const]),
  )("with a body half sent over %s to %s, has no status and gave up", async (wire, path, route) => {
    const { actuator, port, tokens, held, measured } = await serveActuator();
    const gone = await leave[wire]!(port, {
      ":method": "POST",
      ":path": path,
      authorization: `Bearer ${tokens.all}`,
      "content-type": "application/json",
      "content-length": "100",
    });
    await eventually(() => held(wire) > 0, String);
    gone();
    const calls = () => actuator.metrics!.counters()[0]!.points;
    await eventually(() => calls().length > 0, String);
    expect(calls()).toMatchObject([{ attributes: { code: "CANCELLED" }, value: 1 }]);
    const attributes = { "http.request.method": "POST", "http.route": route, "url.scheme": "http" };
    expect(measured()).toEqual([{ name: "http.server.request.duration", ...attributes }]);
  });

  test.each(Object.keys(leave))("while a store is asked over %s, has no status", async (wire) => {
    const asked = Promise.withResolvers<void>();
    const found = Promise.withResolvers<never>();
    const sessions = storeOf(() => {
      asked.resolve();
      return found.promise;
    });
    const { port, tokens, held, measured, records } = await serveActuator({ sessions });
    const gone = await leave[wire]!(port, {
      ":method": "GET",
      ":path": "/actuator/sessions?username=eve",
      authorization: `Bearer ${tokens.all}`,
    });
    await asked.promise;
    gone();
    await eventually(() => held(wire) === 0, String);
    found.reject(new ActuatorError("UNAVAILABLE", "STORE", "no connection"));
    await eventually(() => records.length > 0, String);
    expect(records).toMatchObject([{ operation: "GET /sessions", result: "UNAVAILABLE" }]);
    const attributes = { "http.request.method": "GET", "http.route": SEARCH, "url.scheme": "http" };
    const fault = { "error.type": "UNAVAILABLE" };
    expect(measured()).toEqual([{ name: "http.server.request.duration", ...attributes, ...fault }]);
  });
});
