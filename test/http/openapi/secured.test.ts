import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { createToken } from "../../../src/access/token.ts";
import { createActuator } from "../../../src/actuator.ts";
import type { ActuatorOptions } from "../../../src/actuator-options.ts";
import type { OpenApiDocument } from "../../../src/http/openapi/document.ts";
import { MemorySessionStore } from "../../../src/sessions/memory-store.ts";
import { OpenApiContract } from "../../support/openapi-contract.ts";
import { http1Client, type RestRequest, type RestResponse } from "../../support/rest-client.ts";

const reader = createToken();
const operator = createToken();
const AS_READER = { Authorization: `Bearer ${reader.token}` };
const AS_OPERATOR = { Authorization: `Basic ${Buffer.from(`operator:${operator.token}`).toString("base64")}` };
const LEVEL = { method: "POST", path: "/actuator/loggers/a", body: '{"configuredLevel":"warn"}' };
const JSON_BODY = { "Content-Type": "application/json" };

interface Served {
  readonly document: OpenApiDocument;
  /** Fails where an answer is not as the document that the server itself shows. */
  send(request: RestRequest): Promise<RestResponse>;
}

/** An actuator on its own port that lets in a reader and an operator. */
async function serve(more: ActuatorOptions = {}, limits = {}): Promise<Served> {
  const folder = mkdtempSync(join(tmpdir(), "connect-actuator-openapi-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const tokens = join(folder, "tokens.json");
  const entry = (name: string, { id, hash }: typeof reader, permissions: string[]) => ({ name, id, hash, permissions });
  const entries = [
    entry("reader", reader, ["loggers:read", "sessions:read", "info:read"]),
    entry("operator", operator, ["*"]),
  ];
  writeFileSync(tokens, JSON.stringify({ version: 1, tokens: entries }));
  const actuator = createActuator({
    loggers: { logLevelChanges: false },
    sessions: { store: new MemorySessionStore(), ids: "raw" },
    access: { tokens, limits },
    audit: false,
    ...more,
  });
  onTestFinished(() => actuator.close({ deadlineMs: 0 }));
  const { port } = await actuator.listen({ port: 0 });
  const client = http1Client(port as number);
  const { text } = await client({ path: "/actuator/openapi.json", headers: AS_OPERATOR });
  const document = JSON.parse(text) as OpenApiDocument;
  return { document, send: new OpenApiContract(document, "/actuator").checked(client) };
}

describe("with access control every answer is as the document of the server says", () => {
  test.each<readonly [string, RestRequest, number]>([
    ["nobody", { path: "/actuator/loggers" }, 401],
    ["nobody, who asks for the health", { path: "/actuator/health" }, 200],
    ["nobody, who asks what can be done", { method: "OPTIONS", path: "/actuator/loggers/a" }, 200],
    ["nobody, who uses a wrong method", { method: "PUT", path: "/actuator/loggers/a" }, 405],
    ["nobody, at an unknown path", { path: "/actuator/nope" }, 404],
    ["a wrong token", { path: "/actuator/sessions/a", headers: { Authorization: "Bearer ca_x" } }, 401],
    ["a reader", { path: "/actuator/loggers/ROOT", headers: AS_READER }, 200],
    ["a reader, with HEAD", { method: "HEAD", path: "/actuator/loggers/ROOT", headers: AS_READER }, 200],
    ["a reader, who writes", { ...LEVEL, headers: { ...AS_READER, ...JSON_BODY } }, 403],
    ["a reader, who ends a session", { method: "DELETE", path: "/actuator/sessions/a", headers: AS_READER }, 403],
    ["an operator", { ...LEVEL, headers: { ...AS_OPERATOR, ...JSON_BODY } }, 204],
    ["an operator, with a body of another type", { ...LEVEL, headers: AS_OPERATOR }, 415],
    ["an operator, who reads the document", { path: "/actuator/openapi.json", headers: AS_OPERATOR }, 200],
  ])("%s", async (_, request, status) => {
    const { send } = await serve();
    expect((await send(request)).status).toBe(status);
  });

  test("who fails, or writes, too often", async () => {
    const { send } = await serve({}, { maxFailuresPerMinute: 1, maxWritesPerMinute: 1 });
    const statuses = async (request: RestRequest) => [(await send(request)).status, (await send(request)).status];
    const wrong = { Authorization: `Bearer ${reader.token.slice(0, -1)}!` };
    expect(await statuses({ ...LEVEL, headers: { ...AS_OPERATOR, ...JSON_BODY } })).toEqual([204, 429]);
    expect(await statuses({ path: "/actuator/loggers", headers: wrong })).toContain(429);
  });
});

describe("without access control, too", () => {
  const open = (more: ActuatorOptions) => serve({ access: undefined, ...more });

  test.each<readonly [string, RestRequest, number, ActuatorOptions]>([
    ["a host that is not ours", { path: "/actuator/loggers", headers: { Host: "evil.test" } }, 403, {}],
    ["a host that is none", { path: "/actuator", headers: { Host: "a b" } }, 403, {}],
    ["a page of another site", { ...LEVEL, headers: { ...JSON_BODY, "Sec-Fetch-Site": "cross-site" } }, 403, {}],
    ["who writes in read-only mode", { ...LEVEL, headers: JSON_BODY }, 405, { readOnly: true }],
    [
      "a page that may call",
      { path: "/actuator/loggers", headers: { Origin: "https://admin.test" } },
      200,
      { cors: { origins: ["https://admin.test"] } },
    ],
    [
      "a page that asks whether it may call",
      {
        method: "OPTIONS",
        path: "/actuator/loggers/a",
        headers: { Origin: "https://admin.test", "Access-Control-Request-Method": "POST" },
      },
      200,
      { cors: { origins: ["https://admin.test"] } },
    ],
  ])("%s", async (_, request, status, more) => {
    const { send } = await open(more);
    expect((await send(request)).status).toBe(status);
  });

  test("the document names the address that the caller sees, and keeps its tag while that is the same", async () => {
    const { document, send } = await open({ basePath: "/actuator", trustedProxies: ["127.0.0.1"] });
    expect(document.servers[0]!.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    const { headers } = await send({ path: "/actuator/openapi.json" });
    expect(headers["content-type"]).toBe("application/json");
    const known = { "If-None-Match": headers.etag! };
    expect((await send({ path: "/actuator/openapi.json", headers: known })).status).toBe(304);
    const other = await send({ path: "/actuator/openapi.json", headers: { ...known, Host: "localhost:81" } });
    expect(JSON.parse(other.text).servers[0].url).toBe("http://localhost:81");
  });

  test("the document is sent whatever Accept prefers", async () => {
    const { send } = await open({});
    for (const accept of ["text/html", "application/vnd.oai.openapi+json;version=3.1", "application/yaml"]) {
      expect((await send({ path: "/actuator/openapi.json", headers: { Accept: accept } })).status).toBe(200);
    }
  });

  test("the index leaves the document out", async () => {
    const { send } = await open({});
    expect((await send({ path: "/actuator" })).text).not.toContain("openapi");
  });
});
