import { once } from "node:events";
import http from "node:http";
import http2 from "node:http2";
import type { AddressInfo, Server } from "node:net";
import { Code, createClient } from "@connectrpc/connect";
import express from "express";
import fastify from "fastify";
import { describe, expect, onTestFinished, test } from "vitest";
import type { ActuatorHandler } from "../src/actuator.ts";
import { Level } from "../src/gen/actuator/v3/level_pb.ts";
import { LoggersService } from "../src/gen/actuator/v3/loggers_pb.ts";
import { Health, HealthCheckResponse_ServingStatus as Status } from "../src/gen/grpc/health/v1/health_pb.ts";
import { createActuator } from "../src/index.ts";
import { transportOver, WIRES, type Wire } from "./support/rpc-harness.ts";
import { eventually, http1Request, http2Connect, http2Request, rawClient } from "./support/server-harness.ts";

const json = { "content-type": "application/json" };
// gRPC needs HTTP/2: connect-node's client speaks it, whatever version it is told.
const overHttp1 = WIRES.filter(({ httpVersion, protocol }) => httpVersion === "1.1" && protocol !== "gRPC");
const overHttp2 = WIRES.filter(({ httpVersion }) => httpVersion === "2");

/** The ways into a server of the application's own. Each application answers `/` and POST `/echo` itself. */
const mounts: Record<
  string,
  { wires: readonly Wire[]; start: (handler: ActuatorHandler) => Promise<Server> | Server }
> = {
  "http.Server, as its listener": {
    wires: overHttp1,
    start: (handler) => http.createServer((req, res) => handler(req, res, () => application(req, res))),
  },
  "http.Server, in front of a listener for every request": {
    wires: overHttp1,
    start(handler) {
      const server = http.createServer();
      server.on("request", (req, res) => handler(req, res, () => application(req, res)));
      return server;
    },
  },
  "http2.Server": {
    wires: overHttp2,
    start: (handler) =>
      http2.createServer((req, res) => handler(req, res, () => application(req as never, res as never))) as never,
  },
  "Express 5, before body parsers": {
    wires: overHttp1,
    start(handler) {
      const app = express();
      app.use(handler);
      app.use(express.json());
      app.get("/", (_, res) => void res.send("the application"));
      app.post("/echo", (req, res) => void res.json(req.body));
      return http.createServer(app);
    },
  },
  "Express 5, in a router": {
    wires: overHttp1,
    start(handler) {
      const app = express();
      app.use(express.Router().use(handler));
      app.get("/", (_, res) => void res.send("the application"));
      app.post("/echo", express.json(), (req, res) => void res.json(req.body));
      return http.createServer(app);
    },
  },
  "Fastify 5, as a hook": {
    wires: overHttp1,
    async start(handler) {
      const app = fastify();
      app.addHook("onRequest", (request, reply, next) => handler(request.raw, reply.raw, next));
      app.get("/", () => "the application");
      app.post("/echo", (request) => request.body);
      await app.ready();
      return app.server;
    },
  },
  "Fastify 5, before it, through serverFactory": {
    wires: overHttp1,
    async start(handler) {
      const app = fastify({
        serverFactory: (listener) => http.createServer((req, res) => handler(req, res, () => listener(req, res))),
      });
      app.get("/", () => "the application");
      app.post("/echo", (request) => request.body);
      await app.ready();
      return app.server;
    },
  },
};

function application(req: http.IncomingMessage, res: http.ServerResponse): void {
  if (req.url === "/") res.end("the application");
  else if (req.url === "/echo") req.pipe(res);
  else res.writeHead(404).end("not the application's");
}

async function mounted(start: (typeof mounts)[string]["start"]) {
  const actuator = createActuator({
    access: "loopback",
    loggers: { groups: { web: ["http"] }, logLevelChanges: false },
  });
  const server = await start(actuator.handler);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(async () => {
    await actuator.close();
    server.close();
    if ("closeAllConnections" in server) (server as http.Server).closeAllConnections();
  });
  const { port } = server.address() as AddressInfo;
  return { actuator, port, url: `http://127.0.0.1:${port}` };
}

/** One request, over whichever version the server speaks. */
function request(url: string, http1: boolean, options: { method?: string; headers?: object; body?: string } = {}) {
  if (http1) return http1Request(url, { agent: false, ...(options as http.RequestOptions) });
  return overPriorKnowledge(url, options);
}

async function overPriorKnowledge(url: string, { method = "GET", headers, body }: Parameters<typeof request>[2] & {}) {
  const { origin, pathname } = new URL(url);
  const all = { ":method": method, ":path": pathname, ...headers, ...(body !== undefined && { body }) };
  return http2Request(await http2Connect(origin), all);
}

describe.each(Object.entries(mounts))("mounted in %s", (_, { wires, start }) => {
  const http1 = wires === overHttp1;

  test("REST answers, and a level can be set", async () => {
    const { actuator, url } = await mounted(start);
    const index = JSON.parse((await request(`${url}/actuator`, http1)).body);
    expect(index._links.self.href).toBe(`${url}/actuator`);
    const body = '{"configuredLevel":"warn"}';
    const posted = await request(`${url}/actuator/loggers/shop.cart`, http1, { method: "POST", headers: json, body });
    expect(posted.status).toBe(204);
    expect(actuator.loggers!.get("shop.cart")).toMatchObject({ configuredLevel: "WARN" });
    expect((await request(`${url}/actuator/nothing`, http1)).status).toBe(404);
  });

  test.each(wires)("RPC answers over $protocol, a stream included", async (wire) => {
    const { actuator, url } = await mounted(start);
    const transport = transportOver(wire, url);
    const client = createClient(LoggersService, transport);
    await client.setLoggerLevel({ name: "shop.cart", level: Level.TRACE });
    expect(actuator.loggers!.get("shop.cart")).toMatchObject({ configuredLevel: "TRACE" });
    await expect(client.getLogger({ name: "nobody" })).rejects.toMatchObject({ code: Code.NotFound });

    const seen: unknown[] = [];
    const watching = (async () => {
      for await (const { status } of createClient(Health, transport).watch({})) seen.push(status);
    })().catch((error) => seen.push(Code[error.code]));
    await eventually(
      () => seen.length === 1,
      () => "no answer to the watch",
    );
    await actuator.close();
    await watching;
    expect(seen).toEqual([Status.SERVING, Status.NOT_SERVING, "Unavailable"]);
  });

  test("everything else is the application's", async () => {
    const { url } = await mounted(start);
    expect((await request(url, http1)).body).toBe("the application");
    const echo = await request(`${url}/echo`, http1, { method: "POST", headers: json, body: '{"a":[1,2]}' });
    expect(echo.body).toBe('{"a":[1,2]}');
    for (const path of ["/nothing", "/actuators", "/actuator.v2.Foo/Bar", "/grpc"]) {
      const { status, headers } = await request(url + path, http1);
      expect(status).toBe(404);
      expect(headers["content-type"] ?? "").not.toContain("actuator");
    }
  });
});

const ofHttp1 = Object.entries(mounts).filter(([, { wires }]) => wires === overHttp1);

test.each(ofHttp1)("a Host that is none ends nothing in %s", async (_, { start }) => {
  const { port, url } = await mounted(start);
  for (const host of ["[", "a b", "::::", "%", "", "x:99999999", "<script>", "//"]) {
    for (const path of ["/actuator", "/actuator.v3.LoggersService/GetLogger"]) {
      const client = await rawClient(port);
      client.socket.write(`POST ${path} HTTP/1.1\r\nHost: ${host}\r\nContent-Type: application/json\r\n`);
      client.socket.write("Content-Length: 2\r\nConnection: close\r\n\r\n{}");
      expect(await client.closed).toMatch(/^HTTP\/1\.1 4\d\d /);
    }
  }
  expect((await request(`${url}/actuator/health`, true)).status).toBe(200);
});

describe("in Express, after somebody has read the body", () => {
  const behind = (middleware: express.RequestHandler) => (handler: ActuatorHandler) =>
    http.createServer(express().use(middleware, handler));
  const connectJson = transportOver.bind(undefined, { protocol: "Connect JSON", httpVersion: "1.1" });

  test.each([
    ["express.json()", express.json()],
    ["express.raw()", express.raw({ type: () => true })],
  ] as const)("%s: REST and RPC take what it left", async (_, middleware) => {
    const { actuator, url } = await mounted(behind(middleware));
    const body = '{"configuredLevel":"warn"}';
    const answer = await request(`${url}/actuator/loggers/a`, true, { method: "POST", headers: json, body });
    expect(answer.status).toBe(204);
    expect(actuator.loggers!.get("a")).toMatchObject({ configuredLevel: "WARN" });
    await createClient(LoggersService, connectJson(url)).setLoggerLevel({ name: "a", level: Level.ERROR });
    expect(actuator.loggers!.get("a")).toMatchObject({ configuredLevel: "ERROR" });
  });

  test("nothing left of it: an answer, not silence, and nothing changed", async () => {
    const errors: string[] = [];
    const actuator = createActuator({
      access: "loopback",
      loggers: {},
      onError: (error) => errors.push(String(error)),
    });
    const { url } = await mounted(() =>
      behind((req, _, next) => void req.resume().once("end", next))(actuator.handler),
    );
    const body = '{"configuredLevel":"warn"}';
    const answer = await request(`${url}/actuator/loggers/a`, true, { method: "POST", headers: json, body });
    expect(answer.status).toBe(500);
    expect(errors).toEqual([expect.stringContaining("read the body")]);
    await expect(
      createClient(LoggersService, connectJson(url)).setLoggerLevel({ name: "a", level: Level.ERROR }),
    ).rejects.toMatchObject({ code: expect.any(Number) });
    expect(actuator.loggers!.get("a")).toBeUndefined();
  });
});

test("in Fastify, a hook of the application in front decides who gets to the actuator", async () => {
  const { url } = await mounted(async (handler) => {
    const app = fastify();
    app.addHook("onRequest", async (request, reply) => {
      if (request.headers.authorization !== "Bearer let-me-in") return reply.code(401).send();
    });
    app.addHook("onRequest", (request, reply, next) => handler(request.raw, reply.raw, next));
    await app.ready();
    return app.server;
  });
  const headers = { authorization: "Bearer let-me-in" };
  expect((await request(`${url}/actuator/health`, true)).status).toBe(401);
  expect((await request(`${url}/actuator/health`, true, { headers })).status).toBe(200);
});
