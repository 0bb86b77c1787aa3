import { once } from "node:events";
import http from "node:http";
import http2 from "node:http2";
import type { AddressInfo, Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import express from "express";
import fastify from "fastify";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import type { ActuatorHandler } from "../../src/actuator.ts";
import { type ActuatorOptions, createActuator, integrationGraph } from "../../src/index.ts";
import { http2Client, type RestRequest } from "../support/rest-client.ts";
import { tokensFor } from "../support/tokens.ts";

// The rule: the actuator answers only whom the owner of the application said. Without a word of the owner, that is this machine, and only
// where no proxy for others is to be expected: at a port of the actuator's own.

type Ask = (request: RestRequest) => Promise<{ readonly status: number; readonly text: string }>;

/** The ways in, each of which sees a direct request from this machine. */
const MOUNTS: Readonly<Record<string, (handler: ActuatorHandler) => Server | Promise<Server>>> = {
  "a server of node:http": (handler) => http.createServer((req, res) => handler(req, res, () => res.end())),
  "a server of node:http2": (handler) => http2.createServer((req, res) => handler(req, res)) as unknown as Server,
  Express: (handler) => http.createServer(express().use(handler)),
  "an Express router below /manage": (handler) => http.createServer(express().use("/manage", handler).use(handler)),
  "a hook of Fastify": async (handler) => {
    const app = fastify();
    app.addHook("onRequest", (request, reply, next) => handler(request.raw, reply.raw, next));
    await app.ready();
    return app.server;
  },
  "Fastify's serverFactory": async (handler) => {
    const app = fastify({
      serverFactory: (next) => http.createServer((req, res) => handler(req, res, () => next(req, res))),
    });
    await app.ready();
    return app.server;
  },
  "a Unix socket of the application": (handler) => http.createServer(handler),
};
const OWN = ["a port of its own", "a Unix socket of its own"] as const;
type Way = keyof typeof MOUNTS | (typeof OWN)[number];

const socketPath = () => join(tmpdir(), `actuator-${process.pid}-${Math.random().toString(36).slice(2)}.sock`);

async function reach(way: Way, options: ActuatorOptions = {}) {
  vi.spyOn(console, "error").mockImplementation(() => {});
  const said: string[] = [];
  const records: { readonly address?: string; readonly reason?: string }[] = [];
  const actuator = createActuator({
    loggers: { logLevelChanges: false },
    integrationGraph: integrationGraph({ app: "shop" }),
    otlp: true,
    audit: (record) => void records.push(record),
    onError: (error, context) => void said.push(`${context}: ${(error as Error).message}`),
    ...options,
  });
  onTestFinished(() => actuator.close({ deadlineMs: 0 }));
  const isSocket = way.includes("Unix");
  const path = socketPath();
  let port = 0;
  const mount = MOUNTS[way];
  if (mount === undefined) {
    ({ port } = await actuator.listen(isSocket ? { path } : { port: 0 }));
  } else {
    const server = await mount(actuator.handler);
    await once(isSocket ? server.listen(path) : server.listen(0, "127.0.0.1"), "listening");
    onTestFinished(() => void server.close());
    if (!isSocket) ({ port } = server.address() as AddressInfo);
  }
  if (way === "a server of node:http2") {
    const { client, close } = http2Client(port);
    onTestFinished(close);
    return { actuator, said, records, ask: client as Ask };
  }
  const ask: Ask = async ({ method = "GET", path: target, headers = {}, body }) => {
    const where = isSocket ? { socketPath: path } : { port, host: "127.0.0.1" };
    const request = http.request({ ...where, method, path: target, headers, agent: false }).end(body);
    const [response] = (await once(request, "response")) as [http.IncomingMessage];
    return { status: response.statusCode!, text: (await response.toArray()).join("") };
  };
  return { actuator, said, records, ask };
}

const json = { "Content-Type": "application/json" };
const POST_LEVEL = {
  method: "POST",
  path: "/actuator/loggers/orders",
  headers: json,
  body: '{"configuredLevel":"OFF"}',
};

/** An operation of each face, with its status for a caller who may call it. */
const GUARDED: readonly (readonly [RestRequest, number])[] = [
  [{ path: "/actuator" }, 200],
  [{ path: "/actuator/info" }, 200],
  [{ path: "/actuator/loggers" }, 200],
  [{ path: "/actuator/openapi.json" }, 200],
  [POST_LEVEL, 204],
  [{ method: "POST", path: "/actuator.v3.LoggersService/ListLoggers", headers: json, body: "{}" }, 200],
  [{ method: "POST", path: "/v1/traces", headers: json, body: "{}" }, 200],
];
const HEALTH: readonly RestRequest[] = [
  { path: "/actuator/health" },
  { method: "POST", path: "/grpc.health.v1.Health/Check", headers: json, body: "{}" },
];

async function statuses(ask: Ask, headers: Record<string, string> = {}) {
  const all = [...GUARDED.map(([request]) => request), ...HEALTH];
  const answers = all.map((request) => ask({ ...request, headers: { ...request.headers, ...headers } }));
  return (await Promise.all(answers)).map(({ status }) => status);
}

const OPEN = [...GUARDED.map(([, status]) => status), 200, 200];
const HEALTH_ONLY = [...GUARDED.map(() => 403), 200, 200];
const NOTHING = GUARDED.map(() => 403).concat(403, 403);

describe.each(Object.keys(MOUNTS))("mounted in %s", (way) => {
  test("it answers health and nothing else until the owner says whom it may answer, and tells how", async () => {
    const { actuator, ask, said, records } = await reach(way);
    expect(await statuses(ask)).toEqual(HEALTH_ONLY);
    expect(actuator.loggers!.get("orders")).toBeUndefined();
    expect((await ask(POST_LEVEL)).text).toMatch(/option access.*access: \\"loopback\\"/);
    expect((await ask(GUARDED[5]![0])).text).toMatch(/"permission_denied".*access: \\"loopback\\"/);
    expect(JSON.parse((await ask(HEALTH[0]!)).text)).toEqual({ status: "UP" });
    expect(said).toEqual([expect.stringMatching(/^handler: .*access: "loopback"/)]);
    expect(records[0]).toMatchObject({ reason: "ACCESS_NOT_CONFIGURED" });
  });

  test('with access: "loopback" it answers this machine', async () => {
    const { ask, said } = await reach(way, { access: "loopback" });
    expect(await statuses(ask)).toEqual(OPEN);
    expect(said).toEqual([]);
  });

  test("with tokens it answers callers that have one", async () => {
    const { file, tokens } = tokensFor({ all: { permissions: ["*"] } });
    const { ask, said } = await reach(way, { access: { tokens: file } });
    expect(await statuses(ask)).toEqual([...GUARDED.map(() => 401), 200, 200]);
    expect(await statuses(ask, { Authorization: `Bearer ${tokens.all}` })).toEqual(OPEN);
    expect(said).toEqual([]);
  });
});

test.each([{}, { limits: { maxWritesPerMinute: 10 } }, { anonymous: ["*"] as const }])(
  "access %j requires no credentials, so a mounted handler stays closed",
  async (access) => {
    const { ask } = await reach("a server of node:http", { access });
    expect(await statuses(ask)).toEqual(HEALTH_ONLY);
  },
);

test.each(OWN)("%s answers this machine, and says at the start who that is", async (way) => {
  const { ask, said } = await reach(way);
  const [line] = vi.mocked(console.error).mock.calls[0] as [string];
  expect(JSON.parse(line)).toMatchObject({
    level: "info",
    msg: "listening without access control",
    url: expect.stringMatching(/^(unix:|http:\/\/127\.0\.0\.1:)/),
    reachedBy: expect.stringMatching(/^every program (on this machine, and every client of a proxy|.* \(mode 0600\))/),
  });
  expect(await statuses(ask)).toEqual(OPEN);
  expect(said).toEqual([]);
});

test.each(["loopback", { anonymous: ["*", "logs:read"] }] as const)(
  "access %j accepts who can reach the port, so nothing is said",
  async (access) => {
    const { ask } = await reach("a port of its own", { access });
    expect(await statuses(ask)).toEqual(OPEN);
    expect(vi.mocked(console.error).mock.calls).toEqual([]);
  },
);

const FORWARDING = [
  ...["Forwarded", "Via", "X-Real-IP", "X-Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto"],
  ...["X-Forwarded-Port", "X-Forwarded-Server", "X-Forwarded-Ssl", "X-Forwarded-Prefix", "X-Forwarded-Scheme"],
  ...["X-Forwarded-By", "X-Forwarded-Uri", "X-Forwarded-Client-Cert", "X-Original-URL", "X-Original-Forwarded-For"],
  ...["X-Client-IP", "X-Cluster-Client-IP", "Client-IP", "Front-End-Https", "X-Scheme", "X-ProxyUser-Ip"],
  ...["CF-Connecting-IP", "CF-Ray", "CF-Visitor", "CDN-Loop", "True-Client-IP", "Fastly-Client-IP", "X-Varnish"],
  ...["X-Envoy-External-Address", "X-Envoy-Internal", "X-Envoy-Attempt-Count", "X-Envoy-Original-Path"],
  ...["X-Azure-ClientIP", "X-ARR-SSL", "X-AppEngine-User-IP", "CloudFront-Viewer-Address", "X-Amz-Cf-Id"],
];

describe.each(FORWARDING)("a request that a proxy marked with %s", (name) => {
  test.each<readonly [Way, ActuatorOptions]>([
    ["a port of its own", {}],
    ["a Unix socket of its own", {}],
    ["a port of its own", { access: "loopback" }],
    ["a port of its own", { trustedProxies: ["10.0.0.0/8"] }],
    ["a server of node:http", {}],
    ["Express", { access: "loopback" }],
  ])("is refused at %s with %j", async (way, options) => {
    const { ask } = await reach(way, options);
    expect(await statuses(ask, { [name]: "127.0.0.1" })).toEqual(NOTHING);
  });

  test("is answered for its token, and the header of an unknown proxy is ignored", async () => {
    const { file, tokens } = tokensFor({ all: { permissions: ["*"] } });
    const { ask, records } = await reach("Express", { access: { tokens: file } });
    expect(await statuses(ask, { [name]: "203.0.113.7", Authorization: `Bearer ${tokens.all}` })).toEqual(OPEN);
    expect(records.map(({ address }) => address)).toEqual(["127.0.0.1"]);
  });
});

test.each(["traceparent", "X-Request-Id", "X-B3-TraceId", "X-Cloud-Trace-Context", "Max-Forwards", "X-Forward"])(
  "%s is no sign of a proxy",
  async (name) => {
    const { ask } = await reach("a port of its own");
    expect(await statuses(ask, { [name]: "1" })).toEqual(OPEN);
  },
);

describe.each<readonly [Way, ActuatorOptions]>([
  ["a port of its own", {}],
  ["Express", { access: "loopback" }],
])("the host that a request names, at %s with %j", (way, options) => {
  test.each<readonly [string, boolean]>([
    ["localhost", true],
    ["127.0.0.1:3000", true],
    ["[::1]:3000", true],
    ["shop.localhost", true],
    ["shop.example", false],
    ["shop.example:80", false],
    ["192.0.2.1", false],
    ["0.0.0.0", false],
    ["localhost.evil.example", false],
  ])("%s: %s", async (host, isAnswered) => {
    const { ask } = await reach(way, options);
    const guarded = (await statuses(ask, { Host: host })).slice(0, GUARDED.length);
    expect(guarded).toEqual(GUARDED.map(([, status]) => (isAnswered ? status : 403)));
  });
});

test.each([undefined, "loopback"] as const)(
  "probes name the address of this machine: a mounted handler with access %j answers their health, and no more",
  async (access) => {
    const { ask } = await reach("Express", { access, health: { checks: { database: () => "UP" as never } } });
    expect(await statuses(ask, { Host: "10.1.2.3:3000" })).toEqual(HEALTH_ONLY);
    const { text } = await ask({ path: "/actuator/health", headers: { Host: "10.1.2.3:3000" } });
    expect(JSON.parse(text)).not.toHaveProperty("components");
  },
);

describe("a page, by the Origin that its browser sends, even without Sec-Fetch-Site", () => {
  const page = "https://admin.example";
  const writes: readonly RestRequest[] = [
    POST_LEVEL,
    { method: "POST", path: "/actuator/integrationgraph", headers: {} },
    { method: "DELETE", path: "/actuator/sessions/1", headers: {} },
    {
      method: "POST",
      path: "/actuator.v3.LoggersService/SetLoggerLevel",
      headers: json,
      body: '{"name":"a","level":"LEVEL_OFF"}',
    },
  ];
  const asked = async (ask: Ask, headers: Record<string, string>) => {
    const answers = writes.map((request) => ask({ ...request, headers: { ...request.headers, ...headers } }));
    return (await Promise.all(answers)).map(({ status }) => status !== 403);
  };

  test.each<readonly [string, Record<string, string>, ActuatorOptions, boolean]>([
    ["no page", {}, {}, true],
    ["its own page", { Host: "localhost:9001", Origin: "http://localhost:9001" }, {}, true],
    ["its own page, behind a proxy that ends TLS", { Host: "localhost", Origin: "https://localhost" }, {}, true],
    ["its own page, with the default port", { Host: "localhost:443", Origin: "https://localhost" }, {}, true],
    ["another port", { Host: "localhost:9001", Origin: "http://localhost:3000" }, {}, false],
    ["another site", { Origin: page }, {}, false],
    ["another site below its name", { Host: "localhost", Origin: "https://localhost.evil.example" }, {}, false],
    ["a sandboxed frame", { Origin: "null" }, {}, false],
    ["a file", { Origin: "file://" }, {}, false],
    ["no origin", { Origin: "admin.example" }, {}, false],
    ["a page that cors allows", { Origin: page }, { cors: { origins: [page] } }, true],
    ["a page beside one that cors allows", { Origin: "https://x.example" }, { cors: { origins: [page] } }, false],
    ["the page of its Spring Boot Admin", { Origin: page }, { name: "shop", admin: { url: `${page}/sba` } }, true],
    ["a page whose browser says cross-site", { Origin: page, "Sec-Fetch-Site": "cross-site" }, {}, false],
    ["a page whose server passed it on", { Origin: page, "Sec-Fetch-Site": "same-origin" }, {}, true],
  ])("%s", async (_, headers, options, isAnswered) => {
    const { ask } = await reach("Express", { access: "loopback", ...options });
    expect(await asked(ask, headers)).toEqual(writes.map(() => isAnswered));
  });

  test("a token does not make another site's page welcome", async () => {
    const { file, tokens } = tokensFor({ all: { permissions: ["*"] } });
    const { ask } = await reach("a port of its own", { access: { tokens: file } });
    const headers = { Authorization: `Bearer ${tokens.all}` };
    expect(await asked(ask, { ...headers, Origin: page })).toEqual(writes.map(() => false));
    expect(await asked(ask, headers)).toEqual(writes.map(() => true));
  });
});
