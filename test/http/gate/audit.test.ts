import { createClient } from "@connectrpc/connect";
import { expect, onTestFinished, test } from "vitest";
import { Level } from "../../../src/gen/actuator/v3/level_pb.ts";
import { LoggersService } from "../../../src/gen/actuator/v3/loggers_pb.ts";
import { createActuator, integrationGraph } from "../../../src/index.ts";
import type { AuditRecord } from "../../../src/operations/audit/audit-record.ts";
import { http1Client } from "../../support/rest-client.ts";
import { transportOver, WIRES } from "../../support/rpc-harness.ts";
import { tokensFor } from "../../support/tokens.ts";

test.each([
  ["POST", "/actuator/loggers/orders", { "Sec-Fetch-Site": "cross-site" }, "POST /loggers/{name}", "CROSS_SITE"],
  ["GET", "/actuator/loggers", { Host: "evil.example" }, "GET /loggers", "HOST_NOT_ALLOWED"],
  ["HEAD", "/actuator/loggers", { Host: "evil.example" }, "GET /loggers", "HOST_NOT_ALLOWED"],
  ["GET", "/actuator/health", { "X-Forwarded-For": "192.0.2.1" }, "GET /health", "NOT_LOCAL"],
  ["GET", "/actuator/nothing", { Host: "evil.example" }, "_OTHER", "HOST_NOT_ALLOWED"],
  ["PUT", "/actuator/loggers/orders", { Host: "evil.example" }, "_OTHER", "HOST_NOT_ALLOWED"],
  [
    "POST",
    "/actuator.v3.LoggersService/SetLoggerLevel",
    { "Sec-Fetch-Site": "cross-site" },
    "actuator.v3.LoggersService/SetLoggerLevel",
    "CROSS_SITE",
  ],
])(
  "that %s %s with %j was refused at the door is audited as %s, %s",
  async (method, path, extra, operation, reason) => {
    const records: AuditRecord[] = [];
    const audit = (record: AuditRecord) => void records.push(record);
    const actuator = createActuator({ loggers: {}, audit, onError: () => undefined });
    onTestFinished(() => actuator.close({ deadlineMs: 0 }));
    const { port } = await actuator.listen({ port: 0 });
    const headers = { "Content-Type": "application/json", ...extra };
    const { status } = await http1Client(port)({ method, path, headers, ...(method === "POST" && { body: "{}" }) });
    expect(status).toBe(403);
    await expect.poll(() => records).toMatchObject([{ operation, result: "PERMISSION_DENIED", reason }]);
  },
);

test.each([
  ["POST", "/actuator/loggers/orders", "PERMISSION_MISSING"],
  ["POST", "/actuator.v3.LoggersService/SetLoggerLevel", "PERMISSION_MISSING"],
  ["POST", "/v1/traces", "PERMISSION_MISSING"],
])("a %s of %s that a caller may not do is audited with who it was, and why", async (method, path, reason) => {
  const records: AuditRecord[] = [];
  const { file, tokens } = tokensFor({ reader: { permissions: ["loggers:read"] } });
  const actuator = createActuator({
    access: { tokens: file },
    audit: (record) => void records.push(record),
    loggers: {},
    integrationGraph: integrationGraph({ app: "shop" }),
    otlp: true,
  });
  onTestFinished(() => actuator.close({ deadlineMs: 0 }));
  const { port } = await actuator.listen({ port: 0 });
  const headers = { "Content-Type": "application/json", Authorization: `Bearer ${tokens.reader}` };
  await http1Client(port)({ method, path, headers, body: "{}" });
  await expect.poll(() => records).toMatchObject([{ who: "reader", result: "PERMISSION_DENIED", reason }]);
});

test.each([
  ["of a caller who may write", "writer", 400, { result: "INVALID_ARGUMENT", who: "writer" }],
  ["of nobody who says who they are", undefined, 401, { result: "UNAUTHENTICATED", reason: "CREDENTIALS_MISSING" }],
] as const)("a write to a name that cannot be decoded is audited, %s", async (_, name, status, record) => {
  const records: AuditRecord[] = [];
  const { file, tokens } = tokensFor({ writer: { permissions: ["loggers:write"] } });
  const audit = (record: AuditRecord) => void records.push(record);
  const actuator = createActuator({ access: { tokens: file }, audit, loggers: {} });
  onTestFinished(() => actuator.close({ deadlineMs: 0 }));
  const { port } = await actuator.listen({ port: 0 });
  const headers = {
    "Content-Type": "application/json",
    ...(name !== undefined && { Authorization: `Bearer ${tokens[name]}` }),
  };
  const answer = await http1Client(port)({ method: "POST", path: "/actuator/loggers/a%0a", headers, body: "{}" });
  expect(answer.status).toBe(status);
  await expect.poll(() => records).toMatchObject([{ operation: "POST /loggers/{name}", ...record }]);
});

test("wrong credentials are audited where the answer is one for everybody, and counted until they are too many", async () => {
  const records: AuditRecord[] = [];
  const { file, tokens } = tokensFor({ reader: { permissions: ["loggers:read"] } });
  const actuator = createActuator({
    access: { tokens: file, limits: { maxFailuresPerMinute: 1 } },
    audit: (record) => void records.push(record),
    health: { checks: {} },
    metrics: true,
  });
  onTestFinished(() => actuator.close({ deadlineMs: 0 }));
  const { port } = await actuator.listen({ port: 0 });
  const health = async (authorization?: string) => {
    const headers = authorization === undefined ? {} : { Authorization: `Bearer ${authorization}` };
    const { status, text } = await http1Client(port)({ method: "GET", path: "/actuator/health", headers });
    expect([status, text]).toEqual([200, '{"status":"UP"}']);
  };
  await health();
  await health(tokens.reader);
  await health("guess");
  await health("guess");
  const operation = "GET /health";
  await expect
    .poll(() => records)
    .toMatchObject([
      { operation, result: "UNAUTHENTICATED", reason: "CREDENTIALS_INVALID" },
      { operation, result: "RESOURCE_EXHAUSTED", reason: "TOO_MANY_REQUESTS" },
    ]);
});

test("a hold is audited when it has begun, and when it has ended; a refused one and a watch of levels are not", async () => {
  const records: AuditRecord[] = [];
  const { file, tokens } = tokensFor({ alice: { permissions: ["loggers:*"], loggers: ["orders"] } });
  const actuator = createActuator({
    access: { tokens: file },
    audit: (record) => void records.push(record),
    loggers: { logLevelChanges: false },
  });
  onTestFinished(() => actuator.close({ deadlineMs: 0 }));
  const { url } = await actuator.listen({ port: 0 });
  const headers = { authorization: `Bearer ${tokens.alice}` };
  for (const wire of WIRES) {
    const client = createClient(LoggersService, transportOver(wire, url));
    for await (const _ of client.watchLoggers({}, { headers })) break;
    const ending = new AbortController();
    const hold = client.holdLoggerLevel({ name: "orders", level: Level.DEBUG }, { headers, signal: ending.signal });
    const events = hold[Symbol.asyncIterator]();
    await events.next();
    const begun = { who: "alice", target: { logger: "orders", level: "DEBUG" }, result: "OK", phase: "begin" };
    expect(records.splice(0)).toMatchObject([begun]);
    ending.abort();
    await events.next().catch(() => {});
    await expect.poll(() => records).toMatchObject([{ who: "alice", result: "CANCELLED", phase: "end" }]);
    records.splice(0);
    const refused = client
      .holdLoggerLevel({ name: "billing", level: Level.DEBUG }, { headers })
      [Symbol.asyncIterator]();
    await refused.next().catch(() => {});
    await expect.poll(() => records).toMatchObject([{ reason: "LOGGER_OUT_OF_REACH" }]);
    expect(records.splice(0)[0]).not.toHaveProperty("phase");
  }
});
