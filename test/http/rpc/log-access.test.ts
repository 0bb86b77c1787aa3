import { writeFileSync } from "node:fs";
import { Code } from "@connectrpc/connect";
import { expect, onTestFinished, test } from "vitest";
import { createActuator } from "../../../src/actuator.ts";
import type { ActuatorOptions } from "../../../src/actuator-options.ts";
import { Level } from "../../../src/gen/actuator/v3/level_pb.ts";
import type { AuditRecord } from "../../../src/operations/audit/audit-record.ts";
import { WrittenLibrary } from "../../logs/written-library.ts";
import { type LogRequest, LogWatch, watchLogs } from "../../support/log-watch.ts";
import { errorInfo, WIRES } from "../../support/rpc-harness.ts";
import { type TokenGrant, tokensFor } from "../../support/tokens.ts";

const NAMES = ["orders", "orders.payment", "mail", "mail.inbox"];

async function serve<Name extends string>(
  grants: Readonly<Record<Name, TokenGrant>>,
  options: Partial<ActuatorOptions> = {},
) {
  const library = new WrittenLibrary(NAMES);
  const records: AuditRecord[] = [];
  const { file, tokens } = tokensFor(grants);
  const actuator = createActuator({
    access: { tokens: file },
    audit: (record) => void records.push(record),
    loggers: {
      adapters: [library],
      groups: { all: ["orders", "mail"], below: ["orders.*"], "orders.team": ["mail"] },
      logLevelChanges: false,
    },
    ...options,
  });
  onTestFinished(() => actuator.close({ deadlineMs: 0 }));
  const { url } = await actuator.listen({ port: 0 });
  const as = (name: Name) => ({ headers: { authorization: `Bearer ${tokens[name]}` } });
  const refused = async (name: Name, request: LogRequest) => {
    const error = await new LogWatch(url, request, as(name)).end();
    return [error.code, errorInfo(error)?.reason, errorInfo(error)?.metadata.permission];
  };
  return { actuator, url, file, library, records, as, refused };
}

const READER: TokenGrant = { permissions: ["logs:read"] };
const ORDERS: TokenGrant = { permissions: ["logs:read", "loggers:write"], loggers: ["orders"] };
const DEBUG = { level: Level.DEBUG };

test("a caller reads only records of loggers that it may read, and learns of no others", async () => {
  const { url, library, as } = await serve({ all: READER, orders: ORDERS });
  const all = await watchLogs(url, {}, as("all"));
  const orders = await watchLogs(url, {}, as("orders"));
  expect([all.started!.loggers, orders.started!.loggers]).toEqual([5, 2]);
  for (const name of ["ROOT", ...NAMES]) library.write(name, "INFO", name);
  await expect.poll(() => all.messages).toEqual(["ROOT", ...NAMES]);
  await expect.poll(() => orders.messages).toEqual(["orders", "orders.payment"]);
  // The nearest name to this one is of a logger that the caller may not see.
  const near = await watchLogs(url, { names: ["orders.mail.inbox", "orders.x"] }, as("orders"));
  expect(JSON.stringify(near.started!.notices)).not.toContain('"mail');
});

test("callers with different permissions share no records", async () => {
  const { url, library, as } = await serve({ all: READER, orders: ORDERS });
  const all = await watchLogs(url, {}, as("all"));
  library.write("mail", "INFO", "private");
  await expect.poll(() => all.messages).toEqual(["private"]);
  const recent = await watchLogs(url, { recent: 10 }, as("orders"));
  const resumed = await watchLogs(url, { after: all.events[0]!.after }, as("orders"));
  const forged = await watchLogs(url, { after: all.after }, as("orders"));
  library.write("orders", "INFO", "end");
  for (const watch of [recent, resumed, forged]) await expect.poll(() => watch.messages).toEqual(["end"]);
  expect([resumed.dropped, forged.dropped]).toEqual([["GAP 0"], ["GAP 0"]]);
});

test.each<[what: string, request: LogRequest]>([
  ["another logger", { names: ["mail"] }],
  ["a logger below another one", { names: ["orders", "mail.inbox"] }],
  ["all below another one", { names: ["mail.*"] }],
  ["everything below ROOT", { names: ["ROOT.*"] }],
  ["ROOT", { names: ["ROOT"] }],
  ["a group with other members", { names: ["all"] }],
  ["a group with other members as if it were a logger above others", { names: ["orders.team.*"], raise: DEBUG }],
  ["everything, to raise it", { raise: DEBUG }],
  ["another logger, for this call only", { names: ["mail"], raise: { ...DEBUG, onlyHere: true } }],
])("a caller with some loggers cannot name %s", async (_, request) => {
  const { library, refused } = await serve({ orders: ORDERS });
  expect(await refused("orders", request)).toEqual([Code.PermissionDenied, "LOGGER_OUT_OF_REACH", undefined]);
  expect([library.isHeard, library.levelOf("mail"), library.levelOf("ROOT")]).toEqual([false, "INFO", "INFO"]);
});

test("a caller with some loggers raises these, and no others for itself alone", async () => {
  const { url, library, as } = await serve({ orders: ORDERS });
  const raised = await watchLogs(url, { names: ["below"], raise: DEBUG }, as("orders"));
  expect(NAMES.map((name) => library.levelOf(name))).toEqual(["DEBUG", "DEBUG", "INFO", "INFO"]);
  raised.abort();
  await expect.poll(() => library.levelOf("orders")).toBe("INFO");
  const here = await watchLogs(url, { raise: { ...DEBUG, onlyHere: true } }, as("orders"));
  for (const name of NAMES) library.write(name, "DEBUG", name);
  await expect.poll(() => here.messages).toEqual(["orders", "orders.payment"]);
  expect(library.written).toEqual([]);
});

test("a caller without logs:read or, to raise, without loggers:write is refused, and neither is done", async () => {
  const { library, refused, url, as } = await serve({
    all: { permissions: ["*"] },
    reader: READER,
    writer: { permissions: ["loggers:*"] },
  });
  const denied = (permission: string) => [Code.PermissionDenied, "PERMISSION_MISSING", permission];
  expect(await refused("all", {})).toEqual(denied("logs:read"));
  expect(await refused("writer", { raise: DEBUG })).toEqual(denied("logs:read"));
  expect(await refused("reader", { raise: DEBUG })).toEqual(denied("loggers:write"));
  expect(await refused("reader", { raise: { ...DEBUG, onlyHere: true } })).toEqual(denied("loggers:write"));
  expect([library.begun, library.levelOf("orders")]).toEqual([0, "INFO"]);
  await watchLogs(url, {}, as("reader"));
});

test("a read-only actuator shows records, and raises no level", async () => {
  const { url, library, as, refused } = await serve({ orders: ORDERS }, { readOnly: true });
  for (const onlyHere of [false, true]) {
    expect(await refused("orders", { names: ["orders"], raise: { ...DEBUG, onlyHere } })).toMatchObject([
      Code.PermissionDenied,
      "READ_ONLY",
      undefined,
    ]);
  }
  const watch = await watchLogs(url, { names: ["orders"] }, as("orders"));
  library.write("orders", "INFO", "shown");
  await expect.poll(() => watch.messages).toEqual(["shown"]);
});

test("a token that is revoked reads nothing any more, and its level is put back, over every protocol", async () => {
  const { url, file, as, actuator, library } = await serve({ orders: ORDERS });
  const watches = await Promise.all(
    WIRES.map((wire) => watchLogs(url, { names: ["orders"], raise: DEBUG }, { wire, ...as("orders") })),
  );
  expect(library.levelOf("orders")).toBe("DEBUG");
  writeFileSync(file, JSON.stringify({ version: 1, tokens: [] }));
  for (const watch of watches) {
    expect(errorInfo(await watch.end())?.reason).toBe("CREDENTIALS_REVOKED");
  }
  await expect.poll(() => [library.levelOf("orders"), actuator.logs!.size]).toEqual(["INFO", 0]);
});

test("a watch that is older than streams may be is ended, and its level put back", async () => {
  const { url, as, library } = await serve({ orders: ORDERS }, { streams: { maxAgeMs: 200 } });
  const watch = await watchLogs(url, { names: ["orders"], raise: DEBUG }, as("orders"));
  expect((await watch.end()).code).toBe(Code.Unavailable);
  await expect.poll(() => library.levelOf("orders")).toBe("INFO");
});

test("reading is audited when it begins and when it ends, with the names and the raised level", async () => {
  const { url, as, records, refused, library } = await serve(
    { orders: ORDERS, reader: READER },
    { logs: { maxRaisedPerSecond: 3 } },
  );
  const operation = "actuator.v3.LogsService/WatchLogs";
  for (const wire of WIRES) {
    const reading = await watchLogs(url, { names: ["mail"], contains: "4711" }, { wire, ...as("reader") });
    const begun = { who: "reader", operation, permission: "logs:read", target: { logger: "mail" } };
    expect(records.splice(0)).toEqual([expect.objectContaining({ ...begun, phase: "begin", result: "OK" })]);
    reading.abort();
    await expect.poll(() => records).toMatchObject([{ ...begun, phase: "end", result: "CANCELLED" }]);
    records.splice(0);
    const raising = await watchLogs(url, { names: ["orders", "below"], raise: DEBUG }, { wire, ...as("orders") });
    const raised = { who: "orders", operation, target: { logger: "orders,below", level: "DEBUG" } };
    expect(records.splice(0)).toMatchObject([{ ...raised, permission: "loggers:write", phase: "begin" }]);
    raising.abort();
    await expect.poll(() => records).toMatchObject([{ ...raised, phase: "end" }]);
    records.splice(0);
  }
  await refused("orders", { names: ["mail"] });
  await expect.poll(() => records).toMatchObject([{ who: "orders", reason: "LOGGER_OUT_OF_REACH" }]);
  expect(records.splice(0)[0]).not.toHaveProperty("phase");
  const flooded = await watchLogs(url, { names: ["orders"], raise: DEBUG }, as("orders"));
  records.splice(0);
  for (let at = 0; at < 4; at++) library.write("orders", "DEBUG", "card 4711");
  await expect.poll(() => flooded.raiseEnds).toEqual(["VOLUME"]);
  expect(records).toMatchObject([{ operation: "logs.raise", who: "orders", target: { logger: "orders" } }]);
  expect(JSON.stringify(records)).not.toContain("4711");
});

test("only requests from this machine are accepted without credentials", async () => {
  const { url, library } = await serve({}, { access: { anonymous: ["logs:read"] } });
  const proxied = await new LogWatch(url, {}, { headers: { "x-forwarded-for": "127.0.0.1" } }).end();
  expect(errorInfo(proxied)?.reason).toBe("NOT_LOCAL");
  const watch = await watchLogs(url);
  library.write("mail", "INFO", "shown");
  await expect.poll(() => watch.messages).toEqual(["shown"]);
});
