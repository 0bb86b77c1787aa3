import { describe, expect, test } from "vitest";
import type { RestRequest, RestResponse } from "../../support/rest-client.ts";
import { REST_HOSTS } from "../../support/rest-hosts.ts";
import { problemIn, type RestServer, serveRest } from "../../support/rest-server.ts";
import { JSON_TYPE, V3 } from "./overruled.ts";

/** Every path of the contract with what it can do, for an application with a logger `shop` and a session `s1` of alice. */
const ROUTES: readonly { readonly path: string; readonly get: number; readonly allow: string }[] = [
  { path: "/actuator", get: 200, allow: "GET, HEAD, OPTIONS" },
  { path: "/actuator/health", get: 200, allow: "GET, HEAD, OPTIONS" },
  { path: "/actuator/info", get: 200, allow: "GET, HEAD, OPTIONS" },
  { path: "/actuator/loggers", get: 200, allow: "GET, HEAD, OPTIONS" },
  { path: "/actuator/loggers/shop", get: 200, allow: "GET, POST, HEAD, OPTIONS" },
  { path: "/actuator/loggers/nope", get: 404, allow: "GET, POST, HEAD, OPTIONS" },
  { path: "/actuator/sessions?username=alice", get: 200, allow: "GET, HEAD, OPTIONS" },
  { path: "/actuator/sessions/s1", get: 200, allow: "GET, DELETE, HEAD, OPTIONS" },
  { path: "/actuator/sessions/nope", get: 404, allow: "GET, DELETE, HEAD, OPTIONS" },
  { path: "/actuator/integrationgraph", get: 200, allow: "GET, POST, HEAD, OPTIONS" },
];

const UNKNOWN_PATHS = [
  "/actuator/",
  "/actuator//",
  "/actuator/nope",
  "/actuator/loggers/",
  "/actuator/loggers//",
  "/actuator//loggers",
  "/actuator/loggers//shop",
  "/actuator/loggers/shop/",
  "/actuator/loggers/a/b",
  "/actuator/loggers.do",
  "/actuator/loggers.json",
  "/actuator/Loggers",
  "/actuator/loggers/;x=1",
  "/actuator/health/",
  "/actuator/health/liveness",
  "/actuator/info/x",
  "/actuator/integrationgraph/",
  "/actuator/integrationgraph/x",
  "/actuator/sessions/",
  "/actuator/sessions/a/b",
  "/actuator/../actuator/loggers",
  "/actuator/__proto__",
  "/actuator/constructor",
  "/actuator/{name}",
];

describe.each(Object.keys(REST_HOSTS))("in %s", (host) => {
  async function serve(): Promise<RestServer> {
    const server = await serveRest({}, host);
    server.loggers.setLevel("shop", "DEBUG");
    server.store.put({ id: "s1", username: "alice" });
    return server;
  }

  test.each(ROUTES)("GET $path answers $get", async ({ path, get }) => {
    const { status, headers, text } = await (await serve()).get(path);
    expect({ status, type: headers["content-type"] }).toEqual({ status: get, type: get === 200 ? V3 : undefined });
    expect(headers["content-length"]).toBe(String(text.length));
    if (get === 200) expect(JSON.parse(text)).toBeTypeOf("object");
    else expect(text).toBe("");
  });

  test.each(ROUTES)("HEAD $path answers as GET without a body", async ({ path }) => {
    const server = await serve();
    // Not compared: the time, and of the info the length, since its uptime may have got a digit longer in between.
    const comparable = ({ headers }: RestResponse) => {
      const { date: _, "content-length": length, ...rest } = headers;
      return path === "/actuator/info" ? rest : { ...rest, length };
    };
    const get = comparable(await server.get(path));
    const head = await server.send({ method: "HEAD", path });
    expect({ headers: comparable(head), text: head.text }).toEqual({ headers: get, text: "" });
  });

  test.each(ROUTES)("OPTIONS $path names $allow", async ({ path, allow }) => {
    const { status, headers, text } = await (await serve()).send({ method: "OPTIONS", path });
    expect({ status, allow: headers.allow, type: headers["content-type"], text }).toEqual({
      status: 200,
      allow,
      type: undefined,
      text: "",
    });
  });

  test.each(ROUTES)("a wrong method for $path is 405 with Allow", async ({ path, allow }) => {
    const { send } = await serve();
    for (const method of ["PUT", "PATCH", "POST", "DELETE", "TRACE"].filter((method) => !allow.includes(method))) {
      const answer = await send({ method, path });
      expect({ method, status: answer.status, allow: answer.headers.allow }).toEqual({ method, status: 405, allow });
      expect(answer.headers["content-type"]).toBe(V3);
      expect(problemIn(answer)).toMatchObject({ status: 405, error: "Method Not Allowed", path: path.split("?")[0] });
    }
  });

  test.each(UNKNOWN_PATHS)("%s is 404 with the error body, whatever the method", async (path) => {
    const { send } = await serve();
    for (const method of ["GET", "POST", "PUT", "DELETE", "OPTIONS", "TRACE"]) {
      const answer = await send({ method, path: `${path}?x=1` });
      expect({ method, status: answer.status }).toEqual({ method, status: 404 });
      expect(answer.headers["content-type"]).toBe(V3);
      expect(problemIn(answer)).toMatchObject({ status: 404, error: "Not Found", path });
    }
    expect(await send({ method: "HEAD", path })).toMatchObject({ status: 404, text: "" });
  });

  test("POST to a logger is 204 without a body", async () => {
    const { post, get } = await serve();
    const answer = await post("/actuator/loggers/new.one", { configuredLevel: "warn" });
    expect(answer).toMatchObject({ status: 204, text: "" });
    expect(answer.headers).not.toHaveProperty("content-type");
    expect(answer.headers).not.toHaveProperty("content-length");
    expect((await get("/actuator/loggers/new.one")).text).toBe('{"configuredLevel":"WARN","effectiveLevel":"WARN"}');
  });

  test("DELETE of a session is 204, whether it existed or not", async () => {
    const { send, get } = await serve();
    for (const id of ["s1", "s1", "nope"]) {
      expect(await send({ method: "DELETE", path: `/actuator/sessions/${id}` })).toMatchObject({
        status: 204,
        text: "",
      });
    }
    expect((await get("/actuator/sessions/s1")).status).toBe(404);
  });

  test("GET and HEAD change nothing", async () => {
    const server = await serve();
    const state = async () => [server.loggers.revision, server.graph.graph.revision, await server.store.findById("s1")];
    const before = await state();
    for (const { path } of ROUTES) {
      await server.get(path);
      await server.send({ method: "HEAD", path });
    }
    expect(await state()).toEqual(before);
    expect((await server.get("/actuator/loggers/nope")).status).toBe(404);
  });

  test("POST to the graph is 204 without a body", async () => {
    const { send } = await serve();
    expect(await send({ method: "POST", path: "/actuator/integrationgraph" })).toMatchObject({ status: 204, text: "" });
  });
});

describe("the checks come in the contract's order", () => {
  const text = { "Content-Type": "text/plain", Accept: "text/plain" };
  const json = { "Content-Type": "application/json", Accept: "text/plain" };
  test.each<readonly [string, RestRequest, number]>([
    ["path before method", { method: "PUT", path: "/actuator/nope" }, 404],
    ["path before the type of the body", { method: "POST", path: "/actuator/nope", headers: text, body: "{" }, 404],
    ["path before Accept", { path: "/actuator/nope", headers: text }, 404],
    ["an undecodable path before method", { method: "PUT", path: "/actuator/loggers/%ff" }, 400],
    [
      "method before the type of the body",
      { method: "PUT", path: "/actuator/loggers/a", headers: text, body: "{" },
      405,
    ],
    ["method before Accept", { method: "DELETE", path: "/actuator/loggers", headers: text }, 405],
    [
      "type of the body before the body",
      { method: "POST", path: "/actuator/loggers/a", headers: text, body: "{" },
      415,
    ],
    [
      "type before the length",
      { method: "POST", path: "/actuator/loggers/a", headers: text, body: "x".repeat(1e5) },
      415,
    ],
    ["Accept before a missing parameter", { path: "/actuator/sessions", headers: text }, 406],
    ["Accept before an unknown name", { path: "/actuator/loggers/nope", headers: text }, 406],
    ["body before the operation", { method: "POST", path: "/actuator/loggers/full", headers: json, body: "{" }, 400],
    ["the operation last", { method: "POST", path: "/actuator/loggers/full", headers: json, body: "{}" }, 507],
  ])("%s", async (_, request, status) => {
    const { send } = await serveRest({ loggers: { maxCreated: 0 } });
    expect((await send(request)).status).toBe(status);
  });
});

describe("a domain that is left out", () => {
  test.each([
    ["loggers", ["/actuator/loggers", "/actuator/loggers/ROOT"]],
    ["sessions", ["/actuator/sessions?username=alice", "/actuator/sessions/s1"]],
    ["integrationGraph", ["/actuator/integrationgraph"]],
  ])("has no routes and no place in the index: %s", async (endpoint, paths) => {
    const { get, send } = await serveRest({ endpoints: { [endpoint]: undefined } });
    for (const path of paths) {
      for (const method of ["GET", "POST", "DELETE", "OPTIONS"]) {
        expect({ method, ...problemIn(await send({ method, path })) }).toMatchObject({ method, status: 404 });
      }
    }
    const names = Object.keys(JSON.parse((await get("/actuator")).text)._links);
    expect(names.filter((name) => name.startsWith(endpoint.toLowerCase()))).toEqual([]);
    expect(names).toContain("health");
  });
});

describe("health", () => {
  test("is UP, and 503 OUT_OF_SERVICE while draining", async () => {
    const { get, health } = await serveRest();
    expect(await get("/actuator/health")).toMatchObject({ status: 200, text: '{"status":"UP"}' });
    health.status = "OUT_OF_SERVICE";
    const draining = await get("/actuator/health");
    expect(draining).toMatchObject({ status: 503, text: '{"status":"OUT_OF_SERVICE"}' });
    expect(draining.headers["content-type"]).toBe(V3);
    health.status = "UP";
    expect((await get("/actuator/health")).status).toBe(200);
  });
});

describe("info", () => {
  test("has the application's name, version and uptime in seconds", async () => {
    const application = { name: "shop", version: "1.2.3", startTime: Date.now() - 90_000 };
    const { get } = await serveRest({ endpoints: { application } });
    const info = JSON.parse((await get("/actuator/info")).text);
    expect(info).toEqual({ name: "shop", version: "1.2.3", uptime: expect.any(Number) });
    expect(Math.floor(info.uptime / 60)).toBe(1);
  });

  test("leaves out what is not configured", async () => {
    const { get } = await serveRest({ endpoints: { application: { startTime: Date.now() } } });
    expect(Object.keys(JSON.parse((await get("/actuator/info")).text))).toEqual(["uptime"]);
  });
});

describe("errors", () => {
  test.each([
    ["V3 by default", undefined, V3],
    ["as negotiated", "application/json;charset=utf-8", "application/json;charset=utf-8"],
    ["application/json where nothing was acceptable", "text/html", JSON_TYPE],
    ["application/json where Accept is malformed", "garbage", JSON_TYPE],
  ])("are answered as %s", async (_, accept, type) => {
    const { get, post } = await serveRest();
    const headers = accept === undefined ? {} : { Accept: accept };
    for (const answer of [
      await get("/actuator/nope", headers),
      await get("/actuator/loggers/%ff", headers),
      await post("/actuator/loggers/a", "{", { ...headers, "Content-Type": "application/json" }),
    ]) {
      expect(answer.headers["content-type"]).toBe(type);
      expect(problemIn(answer).message).toMatch(/^[A-Z].*\.$/);
    }
  });
});
