import { createClient } from "@connectrpc/connect";
import { expect, onTestFinished, test } from "vitest";
import { createActuator } from "../../../src/actuator.ts";
import type { ActuatorOptions } from "../../../src/actuator-options.ts";
import { Level } from "../../../src/gen/actuator/v3/level_pb.ts";
import { LogsService } from "../../../src/gen/actuator/v3/logs_pb.ts";
import type { AuditRecord } from "../../../src/operations/audit/audit-record.ts";
import { WrittenLibrary } from "../../logs/written-library.ts";
import { transportOver, WIRES, type Wire } from "../../support/rpc-harness.ts";

async function serve(wire: Wire, options: ActuatorOptions = {}) {
  const library = new WrittenLibrary(["orders", "orders.payment", "mail"]);
  const audited: AuditRecord[] = [];
  const actuator = createActuator({
    loggers: { adapters: [library], logLevelChanges: false },
    access: { anonymous: ["*", "logs:read"] },
    audit: (record) => audited.push(record),
    onError: () => {},
    ...options,
  });
  onTestFinished(() => actuator.close());
  const { url } = await actuator.listen({ port: 0 });
  return { library, audited, actuator, client: createClient(LogsService, transportOver(wire, url)) };
}

const GRPC = WIRES.find(({ protocol }) => protocol === "gRPC")!;

test.each(WIRES)("$protocol over HTTP/$httpVersion raises, shows and gives back", async (wire) => {
  const { library, client, audited } = await serve(wire);
  const abort = new AbortController();
  const call = { names: ["orders.*"], raise: { level: Level.DEBUG, reason: "4711" } };
  const events = client.watchLogs(call, { signal: abort.signal })[Symbol.asyncIterator]();
  expect((await events.next()).value!.event).toMatchObject({
    case: "started",
    value: { loggers: 1, raised: [{ name: "orders" }], timeLeft: {} },
  });
  library.write("orders.payment", "DEBUG", "card declined", {
    fields: { card: { token: "secret", last: 4 } },
    error: { type: "CardError", message: "no", stack: "at charge" },
  });
  const { event, after } = (await events.next()).value!;
  expect(after).toMatch(/^[\w-]{12}\.2$/);
  expect(event).toMatchObject({
    case: "records",
    value: {
      records: [
        {
          ...{ sequence: 1n, logger: "orders.payment", level: Level.DEBUG, nativeLevel: "debug", kind: "test" },
          ...{ message: "card declined", fieldsJson: '{"card":{"token":"[redacted]","last":4}}' },
          error: { type: "CardError", message: "no", stack: "at charge" },
        },
      ],
    },
  });
  abort.abort();
  await expect(events.next()).rejects.toThrow();
  await expect.poll(() => library.levelOf("orders.payment")).toBe("INFO");
  await expect.poll(() => audited.length).toBe(2);
  const target = { logger: "orders.*", level: "DEBUG" };
  expect(audited).toMatchObject([
    { operation: "actuator.v3.LogsService/WatchLogs", permission: "loggers:write", phase: "begin", target },
    { phase: "end", result: "CANCELLED", target },
  ]);
});

test("without a name that grants it, what loggers write is not shown", async () => {
  const { client } = await serve(GRPC, { access: undefined });
  const events = client.watchLogs({})[Symbol.asyncIterator]();
  await expect(events.next()).rejects.toThrow(/lacks the permission logs:read, which is granted only by name/);
});

test.each([{ readOnly: true }, { access: { anonymous: ["loggers:read", "logs:read"] as const } }])(
  "%j: records may be read, and no level raised",
  async (options) => {
    const { client, library } = await serve(GRPC, options as ActuatorOptions);
    const raised = client.watchLogs({ raise: { level: Level.DEBUG, onlyHere: true } })[Symbol.asyncIterator]();
    await expect(raised.next()).rejects.toThrow(/read-only|loggers:write/);
    const events = client.watchLogs({})[Symbol.asyncIterator]();
    await events.next();
    library.write("mail", "INFO", "sent");
    expect((await events.next()).value!.event).toMatchObject({ value: { records: [{ message: "sent" }] } });
  },
);

test("a raise that makes too many records is taken back, which the audit has", async () => {
  const { client, library, audited } = await serve(GRPC);
  const call = { names: ["mail"], raise: { level: Level.DEBUG, maxPerSecond: 5 } };
  const events = client.watchLogs(call)[Symbol.asyncIterator]();
  await events.next();
  for (let count = 0; count < 6; count++) library.write("mail", "DEBUG", `${count}`);
  expect((await events.next()).value!.event).toMatchObject({
    case: "raiseEnded",
    value: { reason: 3, maxPerSecond: 5 },
  });
  expect((await events.next()).value!.event).toMatchObject({ case: "records", value: { records: { length: 6 } } });
  expect(audited.at(-1)).toMatchObject({
    operation: "logs.raise",
    target: { logger: "mail" },
    reason: "TOO_MANY_RECORDS",
  });
});

test("an actuator that closes ends it", async () => {
  const { client, actuator, library } = await serve(GRPC);
  const events = client.watchLogs({ raise: { level: Level.TRACE } })[Symbol.asyncIterator]();
  await events.next();
  const closed = actuator.close();
  await expect(events.next()).rejects.toThrow(/unavailable/);
  await closed;
  expect([library.levelOf("mail"), library.isHeard]).toEqual(["INFO", false]);
});

test("logs: false serves none", async () => {
  const { client, actuator } = await serve(GRPC, { logs: false });
  expect(actuator.logs).toBeUndefined();
  await expect(client.watchLogs({})[Symbol.asyncIterator]().next()).rejects.toThrow(/does not serve/);
});
