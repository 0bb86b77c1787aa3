import { expect, onTestFinished, test } from "vitest";
import type { AuditRecord } from "../../src/audit/audit-record.ts";
import { createActuator } from "../../src/index.ts";
import { http1Client } from "../support/rest-client.ts";

test.each([
  ["POST", "/actuator/loggers/orders", { "Sec-Fetch-Site": "cross-site" }, "POST /loggers/{name}"],
  ["GET", "/actuator/loggers", { Host: "evil.example" }, "GET /loggers"],
  ["HEAD", "/actuator/loggers", { Host: "evil.example" }, "GET /loggers"],
  ["GET", "/actuator/health", { "X-Forwarded-For": "192.0.2.1" }, "GET /health"],
  ["GET", "/actuator/nothing", { Host: "evil.example" }, "_OTHER"],
  ["PUT", "/actuator/loggers/orders", { Host: "evil.example" }, "_OTHER"],
  [
    "POST",
    "/actuator.v3.LoggersService/SetLoggerLevel",
    { "Sec-Fetch-Site": "cross-site" },
    "actuator.v3.LoggersService/SetLoggerLevel",
  ],
])("that %s %s with %j was refused at the door is audited as %s", async (method, path, extra, operation) => {
  const records: AuditRecord[] = [];
  const audit = (record: AuditRecord) => void records.push(record);
  const actuator = createActuator({ loggers: {}, audit, onError: () => undefined });
  onTestFinished(() => actuator.close({ deadlineMs: 0 }));
  const { port } = await actuator.listen({ port: 0 });
  const headers = { "Content-Type": "application/json", ...extra };
  const { status } = await http1Client(port)({ method, path, headers, ...(method === "POST" && { body: "{}" }) });
  expect(status).toBe(403);
  await expect.poll(() => records).toMatchObject([{ operation, result: "PERMISSION_DENIED" }]);
});
