import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import http from "node:http";
import type { DescMethod } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import { Code, ConnectError, createClient, type Transport } from "@connectrpc/connect";
import { createAsyncIterable } from "@connectrpc/connect/protocol";
import { describe, expect, onTestFinished, test } from "vitest";
import { PERMISSIONS, type Permission } from "../../../src/access/permission.ts";
import { IntegrationGraphService } from "../../../src/gen/actuator/v3/integration_graph_pb.ts";
import { LoggersService } from "../../../src/gen/actuator/v3/loggers_pb.ts";
import { LogsService } from "../../../src/gen/actuator/v3/logs_pb.ts";
import { SessionsService } from "../../../src/gen/actuator/v3/sessions_pb.ts";
import { Health } from "../../../src/gen/grpc/health/v1/health_pb.ts";
import { ServerReflection } from "../../../src/gen/grpc/reflection/v1/reflection_pb.ts";
import { TraceService } from "../../../src/gen/opentelemetry/proto/collector/trace/v1/trace_service_pb.ts";
import { type ActuatorOptions, createActuator, integrationGraph, memorySessions } from "../../../src/index.ts";
import { transportOver, WIRES } from "../../support/rpc-harness.ts";
import { type TokenGrant, tokensFor } from "../../support/tokens.ts";

const SERVICES = [
  LoggersService,
  LogsService,
  SessionsService,
  IntegrationGraphService,
  TraceService,
  ServerReflection,
  Health,
];

/** What each method needs, said a second time, by somebody who reads the contract and not the code. */
const NEEDS: Readonly<Record<string, readonly Permission[]>> = {
  ListLoggers: ["loggers:read"],
  GetLogger: ["loggers:read"],
  WatchLoggers: ["loggers:read"],
  ListLevelChanges: ["loggers:read"],
  SetLoggerLevel: ["loggers:write"],
  ClearLoggerLevel: ["loggers:write"],
  RestoreLoggerLevel: ["loggers:write"],
  RestoreAllLoggerLevels: ["loggers:write"],
  HoldLoggerLevel: ["loggers:write"],
  MeasureLoggers: ["loggers:write"],
  WatchLogs: ["logs:read"],
  // Without a user name, as here: everybody.
  ListSessions: ["sessions:list"],
  GetSession: ["sessions:read"],
  DeleteSession: ["sessions:delete"],
  DeleteUserSessions: ["sessions:delete"],
  GetIntegrationGraph: ["graph:read"],
  WatchIntegrationGraph: ["graph:read"],
  RebuildIntegrationGraph: ["graph:write"],
  Export: ["graph:write"],
  ServerReflectionInfo: ["info:read"],
  Check: [],
  List: [],
  Watch: [],
};

/** The same for REST, with a request that is fit for each. */
const ROUTES: readonly (readonly [method: string, path: string, needs: readonly Permission[], body?: string])[] = [
  ["GET", "", ["info:read"]],
  ["GET", "/info", ["info:read"]],
  ["GET", "/prometheus", ["info:read"]],
  ["GET", "/openapi.json", ["info:read"]],
  ["GET", "/health", []],
  ["GET", "/health/liveness", []],
  ["GET", "/loggers", ["loggers:read"]],
  ["GET", "/loggers/ROOT", ["loggers:read"]],
  ["POST", "/loggers/orders", ["loggers:write"], '{"configuredLevel":"WARN"}'],
  ["GET", "/sessions?username=ada", ["sessions:read"]],
  ["GET", "/sessions/x", ["sessions:read"]],
  ["DELETE", "/sessions/x", ["sessions:delete"]],
  ["GET", "/integrationgraph", ["graph:read"]],
  ["POST", "/integrationgraph", ["graph:write"]],
];

async function serveGuarded<Name extends string>(
  grants: Readonly<Record<Name, TokenGrant>>,
  { maxFailuresPerMinute, ...options }: Partial<ActuatorOptions> & { maxFailuresPerMinute?: number } = {},
) {
  const { file, tokens } = tokensFor(grants);
  const store = memorySessions();
  store.put({ username: "ada" });
  const actuator = createActuator({
    access: { tokens: file, limits: { maxFailuresPerMinute } },
    loggers: { groups: { web: ["http.in", "http.out"] } },
    sessions: store,
    integrationGraph: integrationGraph({ app: "shop" }),
    otlp: true,
    metrics: true,
    onError: () => undefined,
    ...options,
  });
  onTestFinished(() => actuator.close({ deadlineMs: 0 }));
  const { url } = await actuator.listen({ port: 0 });
  return { actuator, url, tokens };
}

/** Calls a method with an empty message; streams are read to their first message. Resolves to the code, or undefined for success. */
async function codeOf(transport: Transport, method: DescMethod, token: string | undefined): Promise<Code | undefined> {
  const header = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const message = create(method.input);
  const end = new AbortController();
  try {
    if (method.methodKind === "unary") {
      await transport.unary(method as never, end.signal, 5_000, header, message);
    } else {
      const response = await transport.stream(
        method as never,
        end.signal,
        5_000,
        header,
        createAsyncIterable([message as never]),
      );
      await response.message[Symbol.asyncIterator]().next();
    }
    return undefined;
  } catch (error) {
    return ConnectError.from(error).code;
  } finally {
    end.abort();
  }
}

const refusals: readonly (Code | undefined)[] = [Code.PermissionDenied, Code.Unauthenticated];

test("every method of every service is in the list here", () => {
  const names = SERVICES.flatMap(({ methods }) => methods.map(({ name }) => name));
  expect(names.toSorted()).toEqual(Object.keys(NEEDS).toSorted());
});

describe.each(WIRES)("over $protocol, HTTP/$httpVersion", (wire) => {
  test.each(PERMISSIONS)("%s opens what it says and nothing else", async (permission) => {
    const { url, tokens } = await serveGuarded({ one: { permissions: [permission] } });
    const transport = transportOver(wire, url);
    for (const method of SERVICES.flatMap(({ methods }) => methods)) {
      // Both directions at once need HTTP/2.
      if (method.methodKind === "bidi_streaming" && wire.httpVersion === "1.1") continue;
      const needs = NEEDS[method.name]!;
      const code = await codeOf(transport, method, tokens.one);
      const isOpen = needs.length === 0 || needs.includes(permission);
      expect([method.name, refusals.includes(code)], String(code)).toEqual([method.name, !isOpen]);
      if (!isOpen) expect(code).toBe(Code.PermissionDenied);
    }
  });

  test("nobody and somebody unknown are asked who they are", async () => {
    const { url } = await serveGuarded({ one: { permissions: ["*"] } });
    const transport = transportOver(wire, url);
    for (const method of SERVICES.flatMap(({ methods }) => methods)) {
      if (method.methodKind === "bidi_streaming" && wire.httpVersion === "1.1") continue;
      const expected = NEEDS[method.name]!.length === 0 ? undefined : Code.Unauthenticated;
      const stranger = await codeOf(transport, method, undefined);
      expect([method.name, stranger === Code.Unauthenticated]).toEqual([method.name, expected !== undefined]);
    }
    const wrong = `ca_000000000000_${"x".repeat(43)}`;
    expect(await codeOf(transport, LoggersService.method.listLoggers, wrong)).toBe(Code.Unauthenticated);
  });

  test("read-only: what changes something is refused, and nothing changed", async () => {
    const { actuator, url, tokens } = await serveGuarded({ all: { permissions: ["*"] } }, { readOnly: true });
    const transport = transportOver(wire, url);
    for (const method of [...LoggersService.methods, ...SessionsService.methods, ...IntegrationGraphService.methods]) {
      const isWrite = NEEDS[method.name]!.some((permission) => !/:(read|list)$/.test(permission));
      const code = await codeOf(transport, method, tokens.all);
      expect([method.name, code === Code.PermissionDenied]).toEqual([method.name, isWrite]);
    }
    expect(actuator.loggers!.revision).toBe(actuator.loggers!.list().revision);
    expect(await codeOf(transport, TraceService.method.export, tokens.all)).toBeUndefined();
  });
});

describe("over REST", () => {
  let url: string;

  function send([method, path, , body]: (typeof ROUTES)[number], authorization = ""): Promise<Response> {
    const headers = new Headers();
    if (authorization !== "") headers.set("authorization", authorization);
    if (body !== undefined) headers.set("content-type", "application/json");
    return fetch(`${url}/actuator${path}`, { method, headers, ...(body !== undefined && { body }) });
  }

  test.each(PERMISSIONS)("%s opens what it says and nothing else", async (permission) => {
    const served = await serveGuarded({ one: { permissions: [permission] } });
    url = served.url;
    for (const route of ROUTES) {
      const [method, path, needs] = route;
      for (const authorization of [
        `Bearer ${served.tokens.one}`,
        `Basic ${Buffer.from(`one:${served.tokens.one}`).toString("base64")}`,
      ]) {
        const { status } = await send(route, authorization);
        const isOpen = needs.length === 0 || needs.includes(permission);
        expect([method, path, status === 403], String(status)).toEqual([method, path, !isOpen]);
        expect(status).not.toBe(401);
      }
    }
  });

  test("nobody and somebody unknown are asked who they are, before anything is said of the body", async () => {
    const served = await serveGuarded({ one: { permissions: ["*"] } }, { maxFailuresPerMinute: 1_000 });
    url = served.url;
    for (const route of ROUTES) {
      const [method, path, needs] = route;
      for (const authorization of ["", "Bearer nonsense", "Basic YTpi", "Negotiate x"]) {
        const response = await send(method === "POST" ? [method, path, needs, "{"] : route, authorization);
        expect([method, path, response.status === 401]).toEqual([method, path, needs.length > 0]);
        if (needs.length === 0) continue;
        expect(response.headers.get("www-authenticate")).toBe(
          'Bearer realm="actuator", Basic realm="actuator", charset="UTF-8"',
        );
        expect(Object.keys((await response.json()) as object)).toEqual([
          "timestamp",
          "status",
          "error",
          "message",
          "path",
        ]);
      }
    }
  });

  test("paths and methods that are not there are told to everybody, as ever", async () => {
    const served = await serveGuarded({ one: { permissions: ["*"] } });
    url = served.url;
    expect((await send(["GET", "/nothing", []])).status).toBe(404);
    const wrong = await send(["DELETE", "/loggers", []]);
    expect([wrong.status, wrong.headers.get("allow")]).toEqual([405, "GET, HEAD, OPTIONS"]);
    expect((await send(["OPTIONS", "/loggers", []])).status).toBe(200);
  });

  test("read-only: the methods that change something are not there", async () => {
    const served = await serveGuarded({ all: { permissions: ["*"] } }, { readOnly: true });
    url = served.url;
    for (const route of ROUTES.filter(([method]) => method !== "GET")) {
      const response = await send(route, `Bearer ${served.tokens.all}`);
      expect([response.status, response.headers.get("allow")]).toEqual([405, "GET, HEAD, OPTIONS"]);
      expect(await response.text()).toContain("read-only");
    }
    expect(served.actuator.loggers!.get("orders")).toBeUndefined();
    expect((await served.actuator.sessions!.findByUsername("ada")).sessions).toHaveLength(1);
  });
});

describe("a token for some loggers", () => {
  const grants = { some: { permissions: ["loggers:*"], loggers: ["http", "orders.payment"] } } as const;

  test.each([
    ["http", true],
    ["http.in.parser", true],
    ["web", true],
    ["orders.payment", true],
    ["httpd", false],
    ["orders", false],
    ["ROOT", false],
    ["root", false],
  ])("%s: %s", async (name, isAllowed) => {
    const { actuator, url, tokens } = await serveGuarded(grants);
    const headers = { authorization: `Bearer ${tokens.some}`, "content-type": "application/json" };
    const before = actuator.loggers!.revision;
    const rest = await fetch(`${url}/actuator/loggers/${name}`, {
      method: "POST",
      headers,
      body: '{"configuredLevel":"ERROR"}',
    });
    expect(rest.status).toBe(isAllowed ? 204 : 403);
    const service = `${url}/actuator.v3.LoggersService`;
    for (const method of ["SetLoggerLevel", "ClearLoggerLevel", "RestoreLoggerLevel"]) {
      const body = JSON.stringify({ name, ...(method === "SetLoggerLevel" && { level: "LEVEL_ERROR" }) });
      const { status } = await fetch(`${service}/${method}`, { method: "POST", headers, body });
      expect([method, status]).toEqual([method, isAllowed ? 200 : status === 404 ? 404 : 403]);
    }
    if (!isAllowed) expect(actuator.loggers!.revision).toBe(before);
    else expect(actuator.loggers!.history({ limit: 1 })[0]!.override?.actor).toBe("some");
  });

  test("does not restore all, nor a group that reaches beyond", async () => {
    const { url, tokens } = await serveGuarded(grants, {
      loggers: { groups: { mixed: ["http.in", "router"], all: ["http.*"], more: ["orders.*"] } },
    });
    const headers = { authorization: `Bearer ${tokens.some}`, "content-type": "application/json" };
    const statusOf = async (path: string, body: object) =>
      (await fetch(`${url}${path}`, { method: "POST", headers, body: JSON.stringify(body) })).status;
    expect(await statusOf("/actuator.v3.LoggersService/RestoreAllLoggerLevels", {})).toBe(403);
    expect(await statusOf("/actuator/loggers/mixed", { configuredLevel: "WARN" })).toBe(403);
    expect(await statusOf("/actuator/loggers/more", { configuredLevel: "WARN" })).toBe(403);
    expect(await statusOf("/actuator/loggers/all", { configuredLevel: "WARN" })).toBe(204);
  });
});

describe("sessions of one user or of everybody", () => {
  test.each([
    ["sessions:read", "ada", 200],
    ["sessions:read", "", 403],
    ["sessions:list", "", 200],
    ["sessions:list", "ada", 403],
  ] as const)("%s, username %j: %i", async (permission, username, expected) => {
    const { url, tokens } = await serveGuarded({ one: { permissions: [permission] } });
    const { status } = await fetch(`${url}/actuator.v3.SessionsService/ListSessions`, {
      method: "POST",
      headers: { authorization: `Bearer ${tokens.one}`, "content-type": "application/json" },
      body: JSON.stringify({ username }),
    });
    expect(status).toBe(expected);
  });
});

test("a watch ends soon after its token is revoked, and others go on", async () => {
  const { file, tokens } = tokensFor({ ada: { permissions: ["*"] }, bob: { permissions: ["*"] } });
  const actuator = createActuator({ access: { tokens: file }, loggers: {}, audit: false, onError: () => undefined });
  onTestFinished(() => actuator.close({ deadlineMs: 0 }));
  const { url } = await actuator.listen({ port: 0 });
  const client = createClient(LoggersService, transportOver({ protocol: "gRPC", httpVersion: "2" }, url));
  const watch = (token: string) =>
    client.watchLoggers({}, { headers: { authorization: `Bearer ${token}` } })[Symbol.asyncIterator]();
  const [ada, bob] = [watch(tokens.ada), watch(tokens.bob)];
  await Promise.all([ada.next(), bob.next()]);
  const document = JSON.parse(readFileSync(file, "utf8"));
  const left = document.tokens.filter(({ name }: { name: string }) => name !== "ada");
  writeFileSync(file, JSON.stringify({ ...document, tokens: left }));
  await expect(ada.next()).rejects.toMatchObject({ code: Code.Unauthenticated });
  actuator.loggers!.setLevel("orders", "WARN");
  expect((await bob.next()).done).toBe(false);
});

test("who is refused is refused before a body is read", async () => {
  const { url, tokens } = await serveGuarded({ reader: { permissions: ["loggers:read"] } });
  for (const path of ["/actuator/loggers/orders", "/actuator.v3.LoggersService/SetLoggerLevel", "/v1/traces"]) {
    const request = http.request(`${url}${path}`, {
      method: "POST",
      agent: false,
      headers: { authorization: `Bearer ${tokens.reader}`, "content-type": "application/json" },
    });
    // A body that never comes: whoever waits for it does not answer.
    request.flushHeaders();
    const [response] = (await once(request, "response")) as [http.IncomingMessage];
    expect([path, response.statusCode]).toEqual([path, 403]);
    request.destroy();
  }
});
