import { describe, expect, onTestFinished, test } from "vitest";
import { createGateway } from "../../../src/http/rest/gateway.ts";
import { Health } from "../../../src/operations/health/health.ts";
import { OPEN_GATE } from "../../support/open-gate.ts";
import { restApplication } from "../../support/rest-application.ts";
import { exchangeBytes } from "../../support/rest-client.ts";
import { serveHttp1 } from "../../support/rest-hosts.ts";
import { problemIn, serveRest } from "../../support/rest-server.ts";

function self(text: string): string {
  return JSON.parse(text)._links.self.href;
}

test("the index names every path in the contract's order, with absolute addresses and without the query", async () => {
  const { get, port } = await serveRest();
  const at = `http://127.0.0.1:${port}/actuator`;
  const fixed = (path: string) => `{"href":"${at}${path}","templated":false}`;
  const templated = (path: string) => `{"href":"${at}${path}","templated":true}`;
  expect((await get("/actuator?a=b")).text).toBe(
    `{"_links":{"self":${fixed("")},"health":${fixed("/health")},"info":${fixed("/info")},"loggers":${fixed("/loggers")},` +
      `"loggers-name":${templated("/loggers/{name}")},"sessions":${fixed("/sessions")},` +
      `"sessions-sessionId":${templated("/sessions/{sessionId}")},"integrationgraph":${fixed("/integrationgraph")}}}`,
  );
});

describe.each(["node:http", "node:http2"])("the host of the index over %s", (host) => {
  test.each(["example.test:81", "example.test", "EXAMPLE.test", "[::1]:9001", "10.0.0.1", "my_host-1.test.:80"])(
    "is the request's: %s",
    async (name) => {
      const { get } = await serveRest({}, host);
      expect(self((await get("/actuator", { Host: name })).text)).toBe(`http://${name}/actuator`);
    },
  );

  test.each(["a/b", "a?b", "u@a", "::::", "a:x", "[", "%41", "a:999999"])(
    "is refused where it is none: %s",
    async (name) => {
      const { send } = await serveRest({}, host);
      // HTTP/2 refuses some of these itself, by ending the stream.
      const answer = await send({ path: "/actuator", headers: { Host: name } }).catch(() => undefined);
      if (host === "node:http" || answer !== undefined) expect(answer).toMatchObject({ status: 400, text: "" });
    },
  );
});

describe("without a host in the request", () => {
  test("HTTP/1.0 is told the address of the socket", async () => {
    const { port } = await serveRest();
    const answer = await exchangeBytes(port, "GET /actuator HTTP/1.0\r\n\r\n");
    expect(self(answer.text)).toBe(`http://127.0.0.1:${port}/actuator`);
  });

  test("an absolute target names it instead", async () => {
    const { get } = await serveRest();
    const answer = await get("http://absolute.test:82/actuator", { Host: "other.test" });
    expect(self(answer.text)).toBe("http://absolute.test:82/actuator");
    expect((await get("http://absolute.test:82/actuator/loggers/ROOT")).status).toBe(200);
  });
});

describe("X-Forwarded headers", () => {
  const FORWARDED = {
    Host: "inner.test",
    "X-Forwarded-Host": "outer.test:8443, proxy.test",
    "X-Forwarded-Proto": "https",
    "X-Forwarded-Prefix": "/shop",
  };

  test("are not believed by default", async () => {
    const { get } = await serveRest();
    expect(self((await get("/actuator", FORWARDED)).text)).toBe("http://inner.test/actuator");
  });

  test("are believed from a trusted proxy, told by its address", async () => {
    const asked: string[] = [];
    const trustedProxies = (address: string) => asked.push(address) > 0;
    const { get } = await serveRest({ gateway: { trustedProxies } });
    expect(self((await get("/actuator", FORWARDED)).text)).toBe("https://outer.test:8443/shop/actuator");
    expect(asked).toEqual(["127.0.0.1"]);
  });

  test("are not believed from anybody else", async () => {
    const { get } = await serveRest({ gateway: { trustedProxies: (address) => address === "10.0.0.1" } });
    expect(self((await get("/actuator", FORWARDED)).text)).toBe("http://inner.test/actuator");
  });

  test.each([
    [{ "X-Forwarded-Host": "a b/<script>" }, "http://inner.test/actuator"],
    [{ "X-Forwarded-Host": "" }, "http://inner.test/actuator"],
    [{ "X-Forwarded-Proto": "javascript" }, "http://inner.test/actuator"],
    [{ "X-Forwarded-Proto": "HTTPS, http" }, "https://inner.test/actuator"],
    [{ "X-Forwarded-Prefix": "//evil.test" }, "http://inner.test/actuator"],
    [{ "X-Forwarded-Prefix": "/a/b" }, "http://inner.test/a/b/actuator"],
    [{ "X-Forwarded-Prefix": "/a/" }, "http://inner.test/a/actuator"],
    [{ "X-Forwarded-Prefix": '/"<' }, "http://inner.test/actuator"],
  ])("are believed only where they can be: %j", async (headers, href) => {
    const { get } = await serveRest({ gateway: { trustedProxies: () => true } });
    expect(self((await get("/actuator", { Host: "inner.test", ...headers })).text)).toBe(href);
  });
});

test("an encrypted connection is https", async () => {
  const { gateway } = restApplication();
  const { client, close } = await serveHttp1((request, response) => {
    // What TLSSocket says of itself, without a certificate for the test.
    Object.assign(request.socket, { encrypted: true });
    gateway(request, response);
  });
  onTestFinished(close);
  expect(self((await client({ path: "/actuator", headers: { Host: "a.test" } })).text)).toBe("https://a.test/actuator");
});

describe("the base path", () => {
  test.each(["/manage", "/a/b.c-d_e~f"])("can be %s", async (basePath) => {
    const { get } = await serveRest({ gateway: { basePath } });
    const index = JSON.parse((await get(basePath, { Host: "a.test" })).text)._links;
    expect(index.loggers.href).toBe(`http://a.test${basePath}/loggers`);
    expect((await get(`${basePath}/loggers/ROOT`)).status).toBe(200);
    expect(problemIn(await get("/actuator/loggers"))).toMatchObject({ status: 404, path: "/actuator/loggers" });
  });

  test.each(["actuator", "/actuator/", "/", "", "/a//b", "/a b", "/a?b", "/%41"])("cannot be %j", (basePath) => {
    const application = { startTime: 0 };
    const create = () =>
      createGateway({ application, health: new Health() }, { basePath, gate: OPEN_GATE, onError() {} });
    expect(create).toThrow(expect.objectContaining({ reason: "INVALID_BASE_PATH" }));
  });
});
