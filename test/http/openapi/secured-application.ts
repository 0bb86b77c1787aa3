import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createToken } from "../../../src/access/token.ts";
import { createActuator } from "../../../src/actuator.ts";
import type { ActuatorOptions } from "../../../src/actuator-options.ts";
import type { OpenApiDocument } from "../../../src/http/openapi/document.ts";
import { MemorySessionStore } from "../../../src/sessions/memory-store.ts";
import { OpenApiContract } from "../../support/openapi-contract.ts";
import { http1Client, type RestClient, type RestRequest } from "../../support/rest-client.ts";

const reader = createToken();
const operator = createToken();
const AS_READER = { Authorization: `Bearer ${reader.token}` };
const AS_OPERATOR = { Authorization: `Basic ${Buffer.from(`operator:${operator.token}`).toString("base64")}` };
const LEVEL = { method: "POST", path: "/actuator/loggers/a", body: '{"configuredLevel":"warn"}' };
const JSON_BODY = { "Content-Type": "application/json" };

/** An actuator on a port of its own. */
export interface SecuredApplication {
  /** The document that the server itself shows. */
  readonly document: OpenApiDocument;
  readonly contract: OpenApiContract;
  readonly client: RestClient;
  close(): Promise<void>;
}

/** Serves an actuator that accepts the tokens of a reader and of an operator. */
export async function serveSecured(more: ActuatorOptions = {}, limits = {}): Promise<SecuredApplication> {
  const folder = mkdtempSync(join(tmpdir(), "connect-actuator-openapi-"));
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
  const { port } = await actuator.listen({ port: 0 });
  const client = http1Client(port as number);
  const { text } = await client({ path: "/actuator/openapi.json", headers: AS_OPERATOR });
  const document = JSON.parse(text) as OpenApiDocument;
  return {
    document,
    contract: new OpenApiContract(document, "/actuator"),
    client,
    async close() {
      await actuator.close({ deadlineMs: 0 });
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Requests to an actuator with access control, by caller, and the status of each answer. */
export const SECURED: readonly (readonly [caller: string, request: RestRequest, status: number])[] = [
  ["no caller", { path: "/actuator/loggers" }, 401],
  ["no caller, for a session", { path: "/actuator/sessions/a" }, 401],
  ["no caller, with HEAD", { method: "HEAD", path: "/actuator/loggers" }, 401],
  ["no caller, for the health", { path: "/actuator/health" }, 200],
  ["no caller, for what can be done", { method: "OPTIONS", path: "/actuator/loggers/a" }, 200],
  ["no caller, with a wrong method", { method: "PUT", path: "/actuator/loggers/a" }, 405],
  ["no caller, at an unknown path", { path: "/actuator/nope" }, 404],
  ["a wrong token", { path: "/actuator/sessions/a", headers: { Authorization: "Bearer ca_x" } }, 401],
  ["a reader", { path: "/actuator/loggers/ROOT", headers: AS_READER }, 200],
  ["a reader, with HEAD", { method: "HEAD", path: "/actuator/loggers/ROOT", headers: AS_READER }, 200],
  ["a reader, who writes", { ...LEVEL, headers: { ...AS_READER, ...JSON_BODY } }, 403],
  ["a reader, who ends a session", { method: "DELETE", path: "/actuator/sessions/a", headers: AS_READER }, 403],
  ["an operator", { ...LEVEL, headers: { ...AS_OPERATOR, ...JSON_BODY } }, 204],
  ["an operator, with a body of another type", { ...LEVEL, headers: AS_OPERATOR }, 415],
  ["an operator, who reads the document", { path: "/actuator/openapi.json", headers: AS_OPERATOR }, 200],
];

/** Limits that the second of each pair of {@link REPEATED} exceeds. */
export const LOW_LIMITS = { maxFailuresPerMinute: 1, maxWritesPerMinute: 1 };

/** Requests of which {@link LOW_LIMITS} admit one, and the statuses of the answers to both. */
export const REPEATED: readonly (readonly [what: string, request: RestRequest, statuses: readonly [number, number]])[] =
  [
    ["writes", { ...LEVEL, headers: { ...AS_OPERATOR, ...JSON_BODY } }, [204, 429]],
    [
      "wrong credentials",
      { path: "/actuator/loggers", headers: { Authorization: `Bearer ${reader.token.slice(0, -1)}!` } },
      [401, 429],
    ],
  ];

/** Requests to an actuator without access control, its options, and the status of each answer. */
export const OPEN: readonly (readonly [
  caller: string,
  request: RestRequest,
  status: number,
  options: ActuatorOptions,
])[] = [
  ["a foreign host", { path: "/actuator/loggers", headers: { Host: "evil.test" } }, 403, {}],
  ["an invalid host", { path: "/actuator", headers: { Host: "a b" } }, 403, {}],
  ["a page of another site", { ...LEVEL, headers: { ...JSON_BODY, "Sec-Fetch-Site": "cross-site" } }, 403, {}],
  ["a caller who writes in read-only mode", { ...LEVEL, headers: JSON_BODY }, 405, { readOnly: true }],
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
];
