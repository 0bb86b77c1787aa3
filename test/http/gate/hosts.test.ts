import { describe, expect, onTestFinished, test } from "vitest";
import { type ActuatorOptions, createActuator, integrationGraph, memorySessions } from "../../../src/index.ts";
import { http1Client } from "../../support/rest-client.ts";
import { http2Connect, http2Request } from "../../support/server-harness.ts";
import { tokensFor } from "../../support/tokens.ts";

async function serveShop(options: ActuatorOptions = {}) {
  const graph = integrationGraph({ app: "shop" });
  const actuator = createActuator({
    loggers: {},
    sessions: memorySessions(),
    integrationGraph: graph,
    otlp: true,
    onError: () => undefined,
    ...options,
  });
  onTestFinished(() => actuator.close({ deadlineMs: 0 }));
  return { actuator, graph, ...(await actuator.listen({ port: 0 })) };
}

const json = { "Content-Type": "application/json" };
const own = [
  "localhost",
  "LOCALHOST:1",
  "127.0.0.1",
  "127.8.8.8:80",
  "[::1]:9001",
  "shop.localhost:9001",
  "localhost.",
];
const foreign = [
  "evil.example",
  "evil.example:9001",
  "127.0.0.1.evil.example",
  "localhost.evil.example",
  "10.0.0.1",
  "[::2]",
  "0.0.0.0",
  "",
  "localhost@evil.example",
  "evil.example#localhost",
  "127.0.0.1, evil.example",
];

/** A request to each face that needs nothing but its Host. */
const paths = [
  ["GET", "/actuator/loggers", undefined],
  ["GET", "/actuator", undefined],
  ["POST", "/actuator.v3.LoggersService/ListLoggers", "{}"],
  ["POST", "/v1/traces", "{}"],
] as const;

describe("without access control, requests name this machine", () => {
  test.each(own)("%j is one of its names", async (host) => {
    const { port } = await serveShop();
    for (const [method, path, body] of paths) {
      const { status } = await http1Client(port)({
        method,
        path,
        headers: { ...json, Host: host },
        ...(body && { body }),
      });
      expect([path, status]).toEqual([path, 200]);
    }
  });

  test.each(foreign)("%j is not", async (host) => {
    const { port, url } = await serveShop();
    for (const [method, path, body] of paths) {
      const { status, text } = await http1Client(port)({
        method,
        path,
        headers: { ...json, Host: host },
        ...(body && { body }),
      });
      expect([path, [400, 403].includes(status)], text).toEqual([path, true]);
      expect(text).not.toContain("ROOT");
    }
    const session = await http2Connect(url);
    onTestFinished(() => session.destroy());
    if (!/^[\w.:[\]]+$/.test(host)) return;
    const answer = await http2Request(session, { ":path": "/actuator/loggers", ":authority": host });
    expect(answer.status).toBe(403);
  });

  test("an absolute target does not speak for another host", async () => {
    const { port } = await serveShop();
    const { status } = await http1Client(port)({
      path: "http://evil.example/actuator/loggers",
      headers: { Host: "localhost" },
    });
    expect(status).toBe(403);
  });

  test.each([
    ["Forwarded", "for=127.0.0.1"],
    ["X-Forwarded-For", "127.0.0.1"],
    ["X-Forwarded-Host", "localhost"],
    ["X-Forwarded-Proto", "http"],
    ["X-Real-IP", "127.0.0.1"],
    ["Via", "1.1 edge"],
  ])("what a proxy passes on is nobody of this machine: %s", async (header, value) => {
    for (const options of [{}, { trustedProxies: ["10.0.0.0/8"] }]) {
      const { port } = await serveShop(options);
      for (const [method, path, body] of paths) {
        const headers = { ...json, [header]: value };
        const { status } = await http1Client(port)({ method, path, headers, ...(body && { body }) });
        expect([path, status]).toEqual([path, 403]);
      }
    }
  });

  test("a trusted proxy says for whom: another machine is refused, this one is not", async () => {
    const { port } = await serveShop({ trustedProxies: ["127.0.0.1"] });
    const statusFor = async (address: string) =>
      (await http1Client(port)({ path: "/actuator/info", headers: { "X-Forwarded-For": address } })).status;
    expect([await statusFor("203.0.113.7"), await statusFor("127.0.0.1")]).toEqual([403, 200]);
  });

  test.each<Record<string, string>>([
    // What the proxy adds, and what the client sent along for it to hand on.
    { "X-Forwarded-For": "203.0.113.7", Forwarded: "for=127.0.0.1" },
    { "X-Forwarded-For": "203.0.113.7", Forwarded: "for=192.0.2.1" },
    { "X-Forwarded-For": "127.0.0.1", Forwarded: "for=203.0.113.7" },
    // What RFC 7239 has proxies write that name nobody.
    { Forwarded: "for=_hidden" },
    { Forwarded: "for=unknown" },
    { Forwarded: "proto=https" },
    { "X-Forwarded-For": "unknown" },
    { "X-Forwarded-For": "" },
  ])("a trusted proxy on this machine that says not for whom passes nobody on as this machine: %j", async (headers) => {
    const { port } = await serveShop({ trustedProxies: ["127.0.0.1"] });
    for (const [method, path, body] of paths) {
      const { status } = await http1Client(port)({
        method,
        path,
        headers: { ...json, ...headers },
        ...(body && { body }),
      });
      expect([path, status]).toEqual([path, 403]);
    }
  });
});

describe("allowedHosts", () => {
  test.each([
    [["actuator.example"], "actuator.example", 200],
    [["actuator.example"], "ACTUATOR.example.:8443", 200],
    [["actuator.example"], "x.actuator.example", 403],
    [["actuator.example"], "localhost", 403],
    [["*.example"], "a.b.example:1", 200],
    [["*.example"], "example", 403],
    [["*.example"], "evilexample", 403],
    [["[::1]", "10.0.0.1"], "[::1]:9001", 200],
    [["[::1]", "10.0.0.1"], "10.0.0.1:9001", 200],
    [["*"], "whatever.test", 200],
  ])("%j, Host %j: %i", async (allowedHosts, host, expected) => {
    const { port } = await serveShop({ allowedHosts });
    const { status } = await http1Client(port)({ path: "/actuator/loggers", headers: { Host: host } });
    expect(status).toBe(expected);
  });

  test("with access control any host may be named, unless they are listed", async () => {
    const { file, tokens } = tokensFor({ all: { permissions: ["*"] } });
    const headers = { Host: "actuator.example", Authorization: `Bearer ${tokens.all}` };
    const { port } = await serveShop({ access: { tokens: file } });
    expect((await http1Client(port)({ path: "/actuator/loggers", headers })).status).toBe(200);
    const other = await serveShop({ access: { tokens: file }, allowedHosts: ["localhost"] });
    expect((await http1Client(other.port)({ path: "/actuator/loggers", headers })).status).toBe(403);
  });

  test.each(["", "a b", "https://a.example", "a.example:80", "*x.example", "a.*"])("%j is no host", (host) => {
    expect(() => createActuator({ allowedHosts: [host] })).toThrow(/allowedHosts entry 0 must be a host name/);
  });
});

describe("pages of other sites change nothing", () => {
  const origin = "https://evil.example";
  const rest = "/actuator/integrationgraph";
  const crossSite = { ...json, "Sec-Fetch-Site": "cross-site" };
  const form = { "Content-Type": "application/x-www-form-urlencoded" };
  const refused: readonly { path: string; headers: Record<string, string>; body?: string }[] = [
    { path: rest, headers: { Origin: origin } },
    { path: rest, headers: { Origin: "null" } },
    { path: rest, headers: { Origin: origin, ...form } },
    { path: rest, headers: { Origin: origin, ...form, "Transfer-Encoding": "chunked" } },
    { path: rest, headers: { Origin: origin, "Content-Length": "00" } },
    { path: rest, headers: { "Sec-Fetch-Site": "cross-site" } },
    { path: rest, headers: { "Sec-Fetch-Site": "same-site" } },
    { path: "/actuator/loggers/orders", headers: crossSite, body: '{"configuredLevel":"OFF"}' },
    { path: "/actuator.v3.LoggersService/SetLoggerLevel", headers: crossSite, body: '{"name":"a","level":1}' },
    { path: "/actuator.v3.IntegrationGraphService/RebuildIntegrationGraph", headers: crossSite, body: "{}" },
  ];

  test.each(refused)("POST $path with $headers is refused", async ({ path, headers, body }) => {
    const { actuator, port } = await serveShop();
    const { revision } = actuator.loggers!;
    const rebuilt = actuator.integrationGraph!.snapshot();
    const { status, text } = await http1Client(port)({ method: "POST", path, headers, ...(body && { body }) });
    expect([status, /site/.test(text)]).toEqual([403, true]);
    expect(actuator.loggers!.revision).toBe(revision);
    expect(actuator.integrationGraph!.snapshot()).toEqual(rebuilt);
  });

  test("not even where the browser remembers a password", async () => {
    const { file, tokens } = tokensFor({ all: { permissions: ["*"] } });
    const { port } = await serveShop({ access: { tokens: file } });
    const basic = `Basic ${Buffer.from(`all:${tokens.all}`).toString("base64")}`;
    const post = async (headers: Record<string, string>) =>
      (await http1Client(port)({ method: "POST", path: "/actuator/integrationgraph", headers })).status;
    expect(await post({ Authorization: basic })).toBe(204);
    expect(await post({ Authorization: basic, "Sec-Fetch-Site": "cross-site" })).toBe(403);
    expect(await post({ Authorization: basic, Origin: origin })).toBe(403);
  });

  test.each<Record<string, string>>([
    { "Sec-Fetch-Site": "same-origin" },
    { "Sec-Fetch-Site": "none" },
    // What Spring Boot Admin passes on of its own page.
    { Origin: "https://admin.example", Referer: "https://admin.example/", "Sec-Fetch-Site": "same-origin" },
  ])("a monitoring server that passes on %j sets a level", async (headers) => {
    const { actuator, port } = await serveShop();
    const { status } = await http1Client(port)({
      method: "POST",
      path: "/actuator/loggers/orders",
      headers: { ...json, ...headers },
      body: '{"configuredLevel":"DEBUG"}',
    });
    expect(status).toBe(204);
    expect(actuator.loggers!.get("orders")).toMatchObject({ configuredLevel: "DEBUG" });
  });
});
