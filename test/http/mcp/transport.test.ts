import { once } from "node:events";
import http from "node:http";
import http2 from "node:http2";
import { connect } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { createActuator } from "../../../src/index.ts";
import { agentAt, call, ERAS, serveShop } from "../../support/mcp-client.ts";
import { http2Connect, http2Request } from "../../support/server-harness.ts";
import { until } from "../../support/until.ts";

const PING = '{"jsonrpc":"2.0","id":1,"method":"ping"}';
const HEADERS = { "content-type": "application/json", accept: "application/json, text/event-stream" };

test.each(ERAS)("a client of each protocol version is served (%s)", async (era) => {
  const { endpoint, tokens } = await serveShop();
  const agent = await agentAt(endpoint, tokens.agent, era);
  expect(agent.getServerVersion()).toMatchObject({ name: "shop" });
  expect(agent.getServerCapabilities()?.tools?.listChanged).toBe(false);
  expect(await call(agent, "get_logger", { name: "mail" })).toMatchObject({ logger: { name: "mail" } });
});

test("messages come over HTTP/2 as well, without a warning of Node.js", async () => {
  const warnings: Error[] = [];
  const note = (warning: Error) => warnings.push(warning);
  process.on("warning", note);
  onTestFinished(() => void process.off("warning", note));
  const { url, tokens } = await serveShop();
  const session = await http2Connect(url);
  onTestFinished(() => session.close());
  const path = { ":method": "POST", ":path": "/actuator/mcp", authorization: `Bearer ${tokens.agent}` };
  const answer = await http2Request(session, { ...path, ...HEADERS, body: PING });
  expect(answer.status).toBe(200);
  expect(answer.body.toString()).toContain('"result":{}');
  expect(warnings.filter(({ message }) => !message.includes("session ids"))).toEqual([]);
});

test("only one message of JSON is taken, by POST", async () => {
  const { endpoint, tokens, errors } = await serveShop();
  const send = async (init: RequestInit) => {
    const headers = { ...HEADERS, authorization: `Bearer ${tokens.agent}`, ...(init.headers as object) };
    const { status, headers: answered } = await fetch(endpoint, { method: "POST", ...init, headers });
    return [status, answered.get("allow")];
  };
  expect(await send({ body: PING })).toEqual([200, null]);
  expect(await send({ body: `[${PING}]` })).toEqual([400, null]);
  expect(await send({ body: "{" })).toEqual([400, null]);
  expect(await send({ body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "subscriptions/listen" }) })).toEqual([
    404,
    null,
  ]);
  expect(await send({ body: PING, headers: { "content-type": "text/plain" } })).toEqual([415, null]);
  expect(await send({ body: `"${"x".repeat(64 * 1024)}"` })).toEqual([413, null]);
  expect(await send({ method: "GET" })).toEqual([405, "POST"]);
  expect(await send({ method: "DELETE" })).toEqual([405, "POST"]);
  expect(errors).toEqual([]);
});

test("a caller must authenticate before anything of its message is read", async () => {
  const { endpoint, tokens, audited } = await serveShop();
  const send = (authorization?: string) =>
    fetch(endpoint, { method: "POST", headers: { ...HEADERS, ...(authorization && { authorization }) }, body: "{" });
  const missing = await send();
  expect([missing.status, missing.headers.get("www-authenticate")]).toEqual([401, expect.stringContaining("Bearer")]);
  expect((await send("Bearer wrong")).status).toBe(401);
  expect((await send(`Bearer ${tokens.deleter}`)).status).toBe(403);
  await until(() => audited.length === 3);
  expect(audited.map(({ result, protocol }) => [result, protocol])).toEqual([
    ["UNAUTHENTICATED", "mcp"],
    ["UNAUTHENTICATED", "mcp"],
    ["PERMISSION_DENIED", "mcp"],
  ]);
});

test("pages of other sites, foreign hosts and mounted handlers without access control are refused", async () => {
  const { endpoint, url, actuator } = await serveShop({ access: undefined });
  const send = (headers: Record<string, string>, to = endpoint) =>
    new Promise<number>((resolve, reject) => {
      const request = http.request(to, { method: "POST", headers: { ...HEADERS, ...headers } });
      request.on("response", (response) => resolve(response.resume().statusCode!)).on("error", reject);
      request.end(PING);
    });
  expect(await send({})).toBe(200);
  expect(await send({ origin: "https://evil.example" })).toBe(403);
  expect(await send({ origin: url })).toBe(200);
  expect(await send({ "sec-fetch-site": "cross-site" })).toBe(403);
  expect(await send({ host: "evil.example" })).toBe(403);
  expect(await send({ "x-forwarded-for": "192.0.2.1" })).toBe(403);
  const server = http.createServer(actuator.handler).listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  expect(await send({}, `http://127.0.0.1:${port}/actuator/mcp`)).toBe(403);
});

test("a mounted handler serves agents, below another path and over HTTP/2", async () => {
  const { actuator, tokens } = await serveShop({ basePath: "/manage/shop" });
  const server = http2.createServer(actuator.handler).listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await once(server, "listening");
  const session = await http2Connect(`http://127.0.0.1:${(server.address() as { port: number }).port}`);
  onTestFinished(() => session.close());
  const path = { ":method": "POST", ":path": "/manage/shop/mcp", authorization: `Bearer ${tokens.agent}` };
  expect((await http2Request(session, { ...path, ...HEADERS, body: PING })).status).toBe(200);
});

test("a body that does not come to its end holds nothing up", async () => {
  const { url, tokens, audited, endpoint } = await serveShop();
  const { port, hostname } = new URL(url);
  const socket = connect(Number(port), hostname);
  await once(socket, "connect");
  const head = ["POST /actuator/mcp HTTP/1.1", "Host: localhost", `Authorization: Bearer ${tokens.agent}`];
  socket.write([...head, "Content-Type: application/json", "Content-Length: 1000", "", "{"].join("\r\n"));
  expect(await call(await agentAt(endpoint, tokens.agent), "level_history")).toEqual({ changes: [], more: false });
  socket.destroy();
  expect(audited).toEqual([]);
});

test("calls are counted by tool, and never by a name of the client's", async () => {
  const { endpoint, tokens, url, actuator } = await serveShop({ metrics: true });
  const agent = await agentAt(endpoint, tokens.agent);
  await call(agent, "list_loggers");
  await agent.callTool({ name: "no_tool" }).catch(() => undefined);
  const headers = { authorization: `Bearer ${tokens.agent}` };
  const text = await (await fetch(`${url}/actuator/prometheus`, { headers })).text();
  expect(text).toContain('operation="mcp list_loggers"');
  expect(text).toContain('http_route="/actuator/mcp"');
  expect(text).not.toContain("no_tool");
  const operations = actuator.metrics!.counters()[0]!.points.map(({ attributes }) => attributes.operation);
  expect(operations).toContain("mcp initialize");
});

test("after the actuator is closed its handler refuses", async () => {
  const actuator = createActuator({ mcp: true, audit: false, access: "loopback" });
  const server = http.createServer(actuator.handler).listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await once(server, "listening");
  await actuator.close();
  const { port } = server.address() as { port: number };
  const answer = await fetch(`http://127.0.0.1:${port}/actuator/mcp`, { method: "POST", headers: HEADERS, body: PING });
  expect(answer.status).toBe(503);
});
