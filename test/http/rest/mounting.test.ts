import { once } from "node:events";
import http from "node:http";
import type { AddressInfo } from "node:net";
import express, { type RequestHandler } from "express";
import fastify from "fastify";
import { describe, expect, onTestFinished, test } from "vitest";
import { Sessions } from "../../../src/sessions/sessions.ts";
import { restApplication } from "../../support/rest-application.ts";
import { exchangeBytes, http1Client, type RestClient } from "../../support/rest-client.ts";
import { REST_HOSTS, type RestHost, serveHttp1 } from "../../support/rest-hosts.ts";
import { problemIn, serveRest } from "../../support/rest-server.ts";

const OUTSIDE = ["/", "/x", "/actuators", "/actuator.json", "/actuator;x=1", "/ACTUATOR", "/x/actuator", "/x#y", "*"];

async function served(host: Promise<RestHost>): Promise<RestClient> {
  const { client, close } = await host;
  onTestFinished(close);
  return client;
}

describe("a path outside the base path", () => {
  test.each(["node:http", "node:http2"])("is 404 with the error body in %s", async (host) => {
    const { send } = await serveRest({}, host);
    for (const path of OUTSIDE.filter((path) => !path.includes("#") && path !== "*")) {
      expect(problemIn(await send({ path: `${path}?a=b` }))).toMatchObject({ status: 404, path });
    }
  });

  test("belongs to the application in node:http", async () => {
    const { gateway } = restApplication();
    const send = await served(
      serveHttp1((request, response) => gateway(request, response, () => response.end("the application"))),
    );
    for (const path of OUTSIDE) expect((await send({ path, method: "OPTIONS" })).text).toBe("the application");
    expect((await send({ path: "/actuator/health" })).text).toBe('{"status":"UP"}');
    expect((await send({ path: "/actuator/nope" })).status).toBe(404);
  });

  test("belongs to the application in Express", async () => {
    const { gateway } = restApplication();
    const application = express();
    application.use(gateway);
    application.get("/x", (_, response) => void response.send("the application"));
    const send = await served(serveHttp1(application));
    expect((await send({ path: "/x" })).text).toBe("the application");
    expect((await send({ path: "/y" })).text).toContain("Cannot GET /y");
    expect(problemIn(await send({ path: "/actuator/y" }))).toMatchObject({ status: 404 });
  });

  test.each([
    ["at its base path", "/actuator", "/actuator"],
    ["below a path of the application", "/manage", "/manage/actuator"],
  ])("is the application's in Express, mounted %s", async (_, mount, base) => {
    const { gateway } = restApplication();
    const application = express();
    application.use(mount, gateway);
    const send = await served(serveHttp1(application));
    expect((await send({ path: `${base}/health` })).text).toBe('{"status":"UP"}');
    const { _links: links } = JSON.parse((await send({ path: base })).text);
    expect(new URL(links.loggers.href).pathname).toBe(`${base}/loggers`);
    expect((await send({ path: "/y" })).text).toContain("Cannot GET /y");
  });

  test("belongs to the application in Fastify", async () => {
    const { gateway } = restApplication();
    const application = fastify();
    application.addHook("onRequest", (request, reply, done) => gateway(request.raw, reply.raw, done));
    application.post("/x", (request) => ({ got: request.body }));
    await application.ready();
    const send = await served(serveHttp1(application.routing));
    const headers = { "Content-Type": "application/json" };
    expect((await send({ method: "POST", path: "/x", headers, body: '{"a":1}' })).text).toContain('{"got":{"a":1}}');
    expect((await send({ path: "/y" })).text).toContain("Route GET:/y not found");
    expect(problemIn(await send({ path: "/actuator/y" }))).toMatchObject({ status: 404 });
  });
});

test("Express may mount the gateway under its own path", async () => {
  const { gateway } = restApplication();
  const application = express();
  application.use("/actuator", gateway);
  const send = await served(serveHttp1(application));
  expect((await send({ path: "/actuator/loggers/ROOT" })).status).toBe(200);
  expect((await send({ path: "/actuator/loggers/ROOT?x=1" })).status).toBe(200);
});

describe("after a body parser of Express", () => {
  const PARSERS: Readonly<Record<string, RequestHandler>> = {
    json: express.json({ strict: false, type: () => true }),
    text: express.text({ type: () => true }),
    raw: express.raw({ type: () => true }),
  };

  test.each(Object.keys(PARSERS))("the gateway takes what %s has read", async (parser) => {
    const { gateway, loggers } = restApplication();
    const application = express();
    application.use(PARSERS[parser]!, gateway);
    const send = await served(serveHttp1(application));
    const headers = { "Content-Type": "application/json" };
    const post = (body: string) => send({ method: "POST", path: "/actuator/loggers/a", headers, body });
    expect((await post('{"configuredLevel":"warn"}')).status).toBe(204);
    expect(loggers.get("a")).toMatchObject({ configuredLevel: "WARN" });
    expect((await post('{"configuredLevel":"nope"}')).status).toBe(400);
    expect((await post("[]")).status).toBe(400);
    expect((await post("null")).status).toBe(204);
    expect(loggers.get("a")).toMatchObject({ configuredLevel: undefined });
    expect((await send({ method: "POST", path: "/actuator/loggers/a", headers })).status).toBe(204);
    const rebuild = (type: string) => {
      return send({
        method: "POST",
        path: "/actuator/integrationgraph",
        headers: { "Content-Type": type },
        body: "{}",
      });
    };
    expect((await rebuild("application/json")).status).toBe(204);
    expect((await rebuild("text/plain")).status).toBe(415);
  });

  test("a body that somebody swallowed is reported, and clears nothing", async () => {
    const { gateway, loggers, reported } = restApplication();
    loggers.setLevel("a", "WARN");
    const application = express();
    application.use((request, _, next) => void request.resume().on("end", next), gateway);
    const { port, close } = await serveHttp1(application);
    onTestFinished(close);
    const head =
      "POST /actuator/loggers/a HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: application/json\r\n";
    for (const body of ["Content-Length: 2\r\n\r\n{}", "Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n"]) {
      expect((await exchangeBytes(port, head + body)).status).toBe(500);
    }
    const error = { message: expect.stringContaining("request.body") };
    expect(reported).toMatchObject([{ error }, { error }]);
    expect(loggers.get("a")).toMatchObject({ configuredLevel: "WARN" });
  });
});

test("a server that minds bodies where none may be is not disturbed", async () => {
  const { gateway } = restApplication();
  const server = http.createServer({ rejectNonStandardBodyWrites: true }, gateway).listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await once(server, "listening");
  const send = http1Client((server.address() as AddressInfo).port);
  expect(await send({ method: "HEAD", path: "/actuator/loggers" })).toMatchObject({ status: 200, text: "" });
  expect((await send({ method: "HEAD", path: "/actuator/nope" })).status).toBe(404);
});

test("HTTP/2 answers carry no connection header and no upper case", async () => {
  const { send } = await serveRest({}, "node:http2");
  const { headers } = await send({ path: "/actuator/loggers" });
  expect(headers).not.toHaveProperty("connection");
  expect(headers["content-type"]).toBeDefined();
});

test.each(Object.keys(REST_HOSTS))("an answer comes before anything else runs, in %s", async (host) => {
  const { gateway } = restApplication();
  let finished: boolean | undefined;
  const observed: typeof gateway = (request, response, next) => {
    gateway(request, response, next);
    finished = response.writableEnded;
  };
  const send = await served(REST_HOSTS[host]!(observed));
  for (const path of ["/actuator/loggers", "/actuator/loggers/ROOT", "/actuator/health", "/actuator/nope"]) {
    finished = undefined;
    await send({ path });
    expect({ path, finished }).toEqual({ path, finished: true });
  }
});

test.each(["node:http", "node:http2"])(
  "a caller who is gone before the answer is nobody's error, in %s",
  async (host) => {
    const asked = Promise.withResolvers<void>();
    const found = Promise.withResolvers<undefined>();
    const findById = () => {
      asked.resolve();
      return found.promise;
    };
    const sessions = new Sessions({ kind: "test", findById, delete: async () => false }, { ids: "raw" });
    const { gateway, reported } = restApplication({ endpoints: { sessions } });
    const gone = Promise.withResolvers<void>();
    const { client, close } = await REST_HOSTS[host]!((request, response, next) => {
      response.on("close", gone.resolve);
      gateway(request, response, next);
    });
    onTestFinished(close);
    const lost = client({ path: "/actuator/sessions/x" }).catch(() => undefined);
    await asked.promise;
    close();
    await gone.promise;
    found.resolve(undefined);
    await new Promise((resolve) => setImmediate(resolve));
    expect(reported).toEqual([]);
    await lost;
  },
);
