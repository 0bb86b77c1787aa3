import { cors as connectCors, createClient } from "@connectrpc/connect";
import { describe, expect, onTestFinished, test } from "vitest";
import { LoggersService } from "../../../src/gen/actuator/v3/loggers_pb.ts";
import { type ActuatorOptions, createActuator } from "../../../src/index.ts";
import { http1Client } from "../../support/rest-client.ts";
import {
  bodyOf,
  exchange,
  headersOf,
  messageIn,
  overEach,
  type Sent,
  UNARY_FORMATS,
} from "../../support/rpc-exchange.ts";
import { transportOver, WIRES } from "../../support/rpc-harness.ts";

const page = "https://admin.example";

async function serveWith(origins: readonly (string | RegExp)[] | undefined, options: ActuatorOptions = {}) {
  const actuator = createActuator({
    loggers: {},
    ...(origins && { cors: { origins } }),
    ...options,
  });
  onTestFinished(() => actuator.close({ deadlineMs: 0 }));
  const { port, url } = await actuator.listen({ port: 0 });
  return { actuator, url, send: http1Client(port) };
}

const preflight = {
  Origin: page,
  "Access-Control-Request-Method": "POST",
  "Access-Control-Request-Headers": "content-type",
};

describe("without origins", () => {
  test("no page is told that it may call", async () => {
    const { send } = await serveWith(undefined);
    for (const path of ["/actuator/loggers", "/actuator.v3.LoggersService/ListLoggers"]) {
      const { status, headers } = await send({ method: "OPTIONS", path, headers: preflight });
      expect(Object.keys(headers).filter((name) => name.startsWith("access-control"))).toEqual([]);
      expect(status).toBe(path.startsWith("/actuator/") ? 200 : 405);
    }
  });
});

describe("origins", () => {
  test.each<readonly [readonly (string | RegExp)[], string, boolean]>([
    [[page], page, true],
    [[page], "https://ADMIN.example", true],
    [[page], "http://admin.example", false],
    [[page], "https://admin.example:8443", false],
    [[page], "https://admin.example.evil.test", false],
    [[page], "https://evil.test/https://admin.example", false],
    [[page], "null", false],
    [["https://*.example"], "https://a.b.example", true],
    [["https://*.example"], "https://example", false],
    [["https://*.example"], "https://evilexample", false],
    [["https://*.example"], "https://a.example.evil.test", false],
    [[/https:\/\/pr-\d+\.example/], "https://pr-12.example", true],
    [[/https:\/\/pr-\d+\.example/], "https://pr-12.example.evil.test", false],
    [[/https:\/\/pr-\d+\.example/g], "https://pr-12.example", true],
  ])("%j, %s: %s", async (origins, origin, isAllowed) => {
    const { send } = await serveWith(origins);
    for (let time = 0; time < 2; time++) {
      const { status, headers } = await send({ path: "/actuator/loggers", headers: { Origin: origin } });
      expect(status).toBe(200);
      expect(headers["access-control-allow-origin"]).toBe(isAllowed ? origin : undefined);
      expect(headers["access-control-allow-credentials"]).toBeUndefined();
      expect(headers.vary).toBe("Origin, Accept");
    }
  });

  test.each([[[]], [["*"]], [["admin.example"]], [["https://a.example/path"]], [["ftp://a.example"]]])(
    "%j are none",
    (origins) => {
      expect(() => createActuator({ cors: { origins } })).toThrow(
        /createActuator\.cors\.origins (?:must be|entry 0 must be)/,
      );
    },
  );
});

describe("preflight", () => {
  test.each([
    ["/actuator/loggers/orders", 200],
    ["/actuator.v3.LoggersService/SetLoggerLevel", 204],
    ["/grpc.health.v1.Health/Check", 204],
  ])("%s: %i, with what a page may send", async (path, expected) => {
    const { send } = await serveWith([page]);
    const { status, headers } = await send({ method: "OPTIONS", path, headers: preflight });
    expect(status).toBe(expected);
    expect(headers["access-control-allow-origin"]).toBe(page);
    const allowed = headers["access-control-allow-headers"]!.toLowerCase().split(", ");
    for (const name of [...connectCors.allowedHeaders, "Authorization"]) expect(allowed).toContain(name.toLowerCase());
    const methods = headers["access-control-allow-methods"]!.split(", ");
    for (const method of [...connectCors.allowedMethods, "DELETE"]) expect(methods).toContain(method);
    expect(Number(headers["access-control-max-age"])).toBeGreaterThan(0);
    expect(headers["access-control-allow-credentials"]).toBeUndefined();
  });

  test("allows further headers that are configured, and no others", async () => {
    const { send } = await serveWith(undefined, { cors: { origins: [page], headers: ["X-Api-Key", "traceparent"] } });
    const { headers } = await send({ method: "OPTIONS", path: "/actuator/loggers", headers: preflight });
    const allowed = headers["access-control-allow-headers"]!.split(", ");
    expect(allowed.slice(-2)).toEqual(["X-Api-Key", "traceparent"]);
    expect(allowed).toContain("Authorization");
  });

  test.each([["*"], ["X Api"], [""], ["X-A\r\nX-B"], [7]])("%j is no header to configure", (name) => {
    const headers = [name] as string[];
    expect(() => createActuator({ cors: { origins: [page], headers } })).toThrow(/cors\.headers.*must be the name/);
  });

  test.each([
    ["/actuator/nothing", 404],
    ["/actuator/heapdump", 404],
    ["/nothing", 404],
    ["/actuator.v3.LoggersService/Nothing", 404],
  ])("%s, which is not there: %i", async (path, expected) => {
    const { send } = await serveWith([page]);
    expect((await send({ method: "OPTIONS", path, headers: preflight })).status).toBe(expected);
  });

  test("of a page that may not call is no yes", async () => {
    const { send } = await serveWith([page]);
    const headers = { ...preflight, Origin: "https://evil.test" };
    expect((await send({ method: "OPTIONS", path: "/actuator.v3.LoggersService/ListLoggers", headers })).status).toBe(
      405,
    );
    const rest = await send({ method: "OPTIONS", path: "/actuator/loggers", headers });
    expect(rest.headers["access-control-allow-origin"]).toBeUndefined();
  });
});

test("a page that may call changes a level, and reads what went wrong", async () => {
  const { actuator, url, send } = await serveWith([page]);
  const headers = { Origin: page, "Sec-Fetch-Site": "cross-site", "Content-Type": "application/json" };
  const path = "/actuator/loggers/orders";
  const { status } = await send({ method: "POST", path, headers, body: '{"configuredLevel":"WARN"}' });
  expect(status).toBe(204);
  expect(actuator.loggers!.get("orders")).toMatchObject({ configuredLevel: "WARN" });
  const wrong = await send({ method: "POST", path, headers, body: '{"configuredLevel":"LOUD"}' });
  expect([wrong.status, wrong.headers["access-control-allow-origin"]]).toEqual([400, page]);
  const client = createClient(LoggersService, transportOver({ protocol: "gRPC-Web", httpVersion: "1.1" }, url));
  let exposed = "";
  await client.listLoggers(
    {},
    { headers: { origin: page }, onHeader: (header) => (exposed = header.get("access-control-expose-headers")!) },
  );
  const names = exposed.toLowerCase().split(", ");
  for (const name of connectCors.exposedHeaders) expect(names).toContain(name.toLowerCase());
});

const SET_LEVEL = "/actuator.v3.LoggersService/SetLoggerLevel";
const ANSWERS: Readonly<Record<string, Partial<Sent>>> = {
  "a success": {},
  "an error": { body: Buffer.from([0, 0, 0, 0, 0]) },
  "a message over the limit": { body: Buffer.alloc(70_000) },
  "an unknown method": { path: "/actuator.v3.LoggersService/Nothing" },
  "an unknown content type": { headers: { "content-type": "text/plain" } },
  "an HTTP method that is not allowed": { method: "PUT" },
  "a page of a site that may not write": { headers: { origin: "https://evil.test", "sec-fetch-site": "cross-site" } },
};

test.each(
  overEach(UNARY_FORMATS).flatMap((row) => Object.entries(ANSWERS).map(([what, sent]) => ({ ...row, what, sent }))),
)("$over: $what has the headers of CORS", async ({ format, version, sent }) => {
  const { url } = await serveWith([page]);
  const message = messageIn(format, { name: "a", level: "LEVEL_DEBUG" }, Buffer.from([10, 1, 97, 16, 2]));
  const headers = { ...headersOf(format), origin: page, ...sent.headers };
  const heard = await exchange(url, version, { path: SET_LEVEL, body: bodyOf(format, message), ...sent, headers });
  const isAllowed = headers.origin === page;
  expect(heard.headers["access-control-allow-origin"]).toBe(isAllowed ? page : undefined);
  expect(heard.headers.vary).toContain("Origin");
  expect("access-control-expose-headers" in heard.headers).toBe(isAllowed);
  if (!isAllowed) expect([403, 200]).toContain(heard.status);
});

test.each(WIRES)("a stream has the headers of CORS: $protocol over HTTP/$httpVersion", async (wire) => {
  const { url } = await serveWith([page]);
  let origin: string | null = null;
  const onHeader = (header: Headers) => {
    origin = header.get("access-control-allow-origin");
  };
  const client = createClient(LoggersService, transportOver(wire, url));
  for await (const _ of client.watchLoggers({}, { headers: { origin: page }, onHeader })) break;
  expect(origin).toBe(page);
});
