import { once } from "node:events";
import http, { type RequestListener } from "node:http";
import { createGzip, type Gzip } from "node:zlib";
import { createClient } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";
import express from "express";
import { expect, onTestFinished, test } from "vitest";
import { LoggersService } from "../../../src/gen/actuator/v3/loggers_pb.ts";
import { directPath } from "../../../src/http/rpc/direct/switch.ts";
import { createRpcHandler } from "../../../src/http/rpc/handler.ts";
import { Loggers } from "../../../src/loggers/loggers.ts";
import { Health as HealthStatus } from "../../../src/operations/health/health.ts";
import { OPEN_GATE } from "../../support/open-gate.ts";
import { libraryOf, transportOver, WIRES } from "../../support/rpc-harness.ts";
import { http1Request } from "../../support/server-harness.ts";

async function serveIn(application: RequestListener): Promise<string> {
  const server = http.createServer(application).listen(0, "127.0.0.1");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  await once(server, "listening");
  return `http://127.0.0.1:${(server.address() as { port: number }).port}`;
}

function mountable() {
  const errors: unknown[] = [];
  const endpoints = { application: { startTime: 0 }, health: new HealthStatus(), loggers: new Loggers() };
  const rpc = createRpcHandler(endpoints, { gate: OPEN_GATE, onError: (error) => void errors.push(error) });
  const middleware: express.RequestHandler = (req, res, next) => {
    if (!rpc.handle(req, res)) next();
  };
  return { errors, middleware };
}

const clientOf = (baseUrl: string) =>
  createClient(LoggersService, createConnectTransport({ baseUrl, httpVersion: "1.1" }));

test("an Express application passes on what is no RPC, and sees its URL unchanged", async () => {
  const { middleware } = mountable();
  const application = express().use(middleware);
  application.get("/hello", (req, res) => void res.send(`hello ${req.url}`));
  const url = await serveIn(application);
  expect((await http1Request(`${url}/hello?a=1`)).body).toBe("hello /hello?a=1");
  expect((await clientOf(url).getLogger({ name: "ROOT" })).result.case).toBe("logger");
});

test("a mount path may hold a part of the path of a method", async () => {
  const { middleware } = mountable();
  const url = await serveIn(express().use("/actuator.v3.LoggersService", middleware));
  expect((await clientOf(url).getLogger({ name: "ROOT" })).result.case).toBe("logger");
});

test("a mount path may stand before the paths of all methods", async () => {
  const { middleware } = mountable();
  const url = await serveIn(express().use("/management", middleware));
  expect((await clientOf(`${url}/management`).getLogger({ name: "ROOT" })).result.case).toBe("logger");
});

test.each([
  ["at the root", undefined, "/actuator/rpc"],
  ["mounted at the base path", "/actuator", "/actuator/rpc"],
  ["mounted above the base path", "/manage", "/manage/actuator/rpc"],
])("calls are answered below the base path: %s", async (_, mount, path) => {
  const { middleware } = mountable();
  const url = await serveIn(mount === undefined ? express().use(middleware) : express().use(mount, middleware));
  expect((await clientOf(url + path).getLogger({ name: "ROOT" })).result.case).toBe("logger");
  expect((await http1Request(`${url}${path}/other.Service/Method`, { method: "POST" })).status).toBe(404);
});

test.each(WIRES.filter(({ httpVersion }) => httpVersion === "1.1"))(
  "a body parser may have read the request before ($protocol)",
  async (wire) => {
    const { middleware, errors } = mountable();
    const parsers = [express.json(), express.raw({ type: "application/*" })];
    const url = await serveIn(express().use(...parsers, middleware));
    const { result } = await createClient(LoggersService, transportOver(wire, url)).getLogger({ name: "ROOT" });
    expect(result).toMatchObject({ case: "logger", value: { name: "ROOT" } });
    expect(errors).toEqual([]);
  },
);

/** Puts gzip into answers as Express's `compression` does: listeners for "drain" go to the stream that compresses. */
function compressed(res: http.ServerResponse, gzip: Gzip): http.ServerResponse {
  const on = res.on.bind(res);
  const write = res.write.bind(res);
  gzip.on("data", (chunk) => write(chunk) || gzip.pause());
  on("drain", () => gzip.resume());
  const onDrain = (event: string, listener: () => void) =>
    event === "drain" ? gzip.on(event, listener) : on(event, listener);
  return Object.assign(res, {
    on: onDrain,
    write: (chunk: Buffer) => gzip.write(chunk),
    flush: () => gzip.flush(),
  });
}

// connect's path leaves a listener for each large event, and loses such a body.
if (directPath.enabled) {
  test("a watch through middleware that compresses leaves no listeners behind", async () => {
    const loggers = new Loggers();
    loggers.attach(libraryOf(Array.from({ length: 1_000 }, (_, index) => `application.${"x".repeat(50)}${index}`)));
    const endpoints = { application: { startTime: 0 }, health: new HealthStatus(), loggers };
    const rpc = createRpcHandler(endpoints, { gate: OPEN_GATE, onError: () => {} });
    const gzip = createGzip();
    const url = await serveIn((req, res) => void rpc.handle(req, compressed(res, gzip)));
    const headers = { "content-type": "application/connect+json" };
    const req = http.request(`${url}/actuator.v3.LoggersService/WatchLoggers`, {
      method: "POST",
      headers,
      agent: false,
    });
    req.end(Buffer.concat([Buffer.of(0, 0, 0, 0, 2), Buffer.from("{}")]));
    const [res] = (await once(req, "response")) as [http.IncomingMessage];
    onTestFinished(() => void req.destroy());
    for (let round = 0; round < 20; round++) {
      // Before what causes it: the answer may reach the client later.
      const drained = once(gzip, "drain");
      loggers.setLevel("ROOT", round % 2 === 0 ? "DEBUG" : "INFO");
      await once(res, "data");
      await drained;
    }
    expect(gzip.listenerCount("drain")).toBeLessThanOrEqual(1);
  });

  test("middleware may listen to the body, also of the first call", async () => {
    const { middleware } = mountable();
    const heard: number[] = [];
    const meter: express.RequestHandler = (req, _, next) => {
      req.on("data", ({ length }) => void heard.push(length));
      next();
    };
    const client = clientOf(await serveIn(express().use(meter, middleware)));
    for (const name of ["ROOT", "ROOT"]) expect((await client.getLogger({ name })).result.case).toBe("logger");
    expect(heard).toEqual([6, 6]);
  });
}

test("a request that connect cannot take is 500 and told to onError", async () => {
  const { middleware, errors } = mountable();
  const url = await serveIn(express().use(express.json({ type: "*/*" }), middleware));
  const headers = { "content-type": "application/connect+json" };
  const answer = await http1Request(`${url}/grpc.health.v1.Health/Watch`, { method: "POST", headers, body: "{}" });
  expect(answer.status).toBe(500);
  expect(errors).toHaveLength(1);
});
