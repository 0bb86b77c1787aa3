import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { type ConnectError, createClient } from "@connectrpc/connect";
import { expect, onTestFinished, test } from "vitest";
import { createActuator } from "../../../src/actuator.ts";
import type { ActuatorOptions } from "../../../src/actuator-options.ts";
import { memoryFleet } from "../../../src/fleet/register.ts";
import { WatchActivityRequestSchema } from "../../../src/gen/actuator/v3/application_pb.ts";
import { WatchInstancesRequestSchema, WatchInstancesResponseSchema } from "../../../src/gen/actuator/v3/fleet_pb.ts";
import { Level } from "../../../src/gen/actuator/v3/level_pb.ts";
import {
  HoldLoggerLevelRequestSchema,
  HoldLoggerLevelResponseSchema,
  LoggersService,
  WatchLoggersRequestSchema,
  WatchLoggersResponseSchema,
} from "../../../src/gen/actuator/v3/loggers_pb.ts";
import { WatchLogsRequestSchema } from "../../../src/gen/actuator/v3/logs_pb.ts";
import { type OpenResponse, StreamsService } from "../../../src/gen/actuator/v3/streams_pb.ts";
import type { AuditRecord } from "../../../src/operations/audit/audit-record.ts";
import { WrittenLibrary } from "../../logs/written-library.ts";
import { errorInfo, transportOver, WIRES, type Wire } from "../../support/rpc-harness.ts";

const GRPC = WIRES.find(({ protocol }) => protocol === "gRPC")!;
const HOLD = "actuator.v3.LoggersService/HoldLoggerLevel";
const WATCH = "actuator.v3.LoggersService/WatchLoggers";
const LOGS = "actuator.v3.LogsService/WatchLogs";

async function serve(wire: Wire = GRPC, options: ActuatorOptions = {}) {
  const library = new WrittenLibrary(["orders", "orders.payment"]);
  const audited: AuditRecord[] = [];
  const errors: unknown[] = [];
  const actuator = createActuator({
    loggers: { adapters: [library], logLevelChanges: false },
    audit: (record) => audited.push(record),
    onError: (error) => errors.push(error),
    ...options,
  });
  onTestFinished(() => actuator.close({ deadlineMs: 0 }));
  onTestFinished(() => expect(errors.filter((error) => !/loopback|other machines/.test(String(error)))).toEqual([]));
  const { url } = await actuator.listen({ port: 0 });
  const client = createClient(StreamsService, transportOver(wire, url));
  return { library, audited, actuator, url, client };
}

const reasonOf = (error: ConnectError) => errorInfo(error)?.reason;

type Client = Awaited<ReturnType<typeof serve>>["client"];

/** Opens a carrier; it ends with the test. */
async function opened(client: Client, headers: Record<string, string> = {}) {
  const abort = new AbortController();
  const events = client.open({}, { signal: abort.signal, headers })[Symbol.asyncIterator]();
  onTestFinished(() => abort.abort());
  const next = async (): Promise<OpenResponse["event"]> => (await events.next()).value!.event;
  const first = await next();
  if (first.case !== "carrier") throw new Error(`${first.case} came first`);
  return { carrier: first.value, next, abort, events };
}

const hold = (name: string, level = Level.DEBUG) =>
  toBinary(HoldLoggerLevelRequestSchema, create(HoldLoggerLevelRequestSchema, { name, level }));
const watch = toBinary(WatchLoggersRequestSchema, create(WatchLoggersRequestSchema));

test("streams of the fleet are carried, too", async () => {
  const { client } = await serve(GRPC, { name: "shop", fleet: memoryFleet() });
  const { carrier, next } = await opened(client);
  const request = toBinary(WatchInstancesRequestSchema, create(WatchInstancesRequestSchema));
  await client.start({ carrier, stream: 1, method: "actuator.v3.FleetService/WatchInstances", request });
  const message = await next();
  if (message.case !== "message") throw new Error(message.case);
  const { event } = fromBinary(WatchInstancesResponseSchema, message.value.message);
  expect(event).toMatchObject({ case: "instances", value: { instances: [{ isSelf: true }] } });
});

test.each(WIRES)("$protocol over HTTP/$httpVersion carries a watch and a hold on one call", async (wire) => {
  const { library, client, audited } = await serve(wire);
  const { carrier, next, abort } = await opened(client);
  await client.start({ carrier, stream: 1, method: WATCH, request: watch });
  const snapshot = await next();
  if (snapshot.case !== "message") throw new Error(snapshot.case);
  expect(snapshot.value.stream).toBe(1);
  const { event } = fromBinary(WatchLoggersResponseSchema, snapshot.value.message);
  expect(event.case).toBe("snapshot");

  await client.start({ carrier, stream: 2, method: HOLD, request: hold("orders") });
  const seen = [await next(), await next()].map((each) => (each.value as { stream: number }).stream);
  expect(seen.sort(), "the watch tells of the hold").toEqual([1, 2]);
  expect(library.levelOf("orders.payment")).toBe("DEBUG");

  await client.stop({ carrier, stream: 2 });
  await expect.poll(() => library.levelOf("orders.payment")).toBe("INFO");
  await client.start({ carrier, stream: 2, method: HOLD, request: hold("orders") });
  await expect.poll(() => library.levelOf("orders.payment")).toBe("DEBUG");
  abort.abort();
  await expect.poll(() => library.levelOf("orders.payment")).toBe("INFO");
  await expect.poll(() => audited.length).toBe(4);
  expect(audited.map(({ operation, phase }) => `${operation} ${phase}`)).toEqual([
    `${HOLD} begin`,
    `${HOLD} end`,
    `${HOLD} begin`,
    `${HOLD} end`,
  ]);
});

test("errors of a stream arrive as its end, with reason and metadata, and the others go on", async () => {
  const { client } = await serve(GRPC, { access: { anonymous: ["loggers:read"] } });
  const { carrier, next } = await opened(client);
  await client.start({ carrier, stream: 7, method: HOLD, request: hold("orders") });
  expect(await next()).toMatchObject({
    case: "end",
    value: { stream: 7, code: 7, reason: "PERMISSION_MISSING", metadata: { permission: "loggers:write" } },
  });
  const request = toBinary(WatchLogsRequestSchema, create(WatchLogsRequestSchema));
  await client.start({ carrier, stream: 8, method: LOGS, request });
  expect(await next()).toMatchObject({ case: "end", value: { stream: 8, code: 7 } });
  await client.start({ carrier, stream: 9, method: WATCH, request: watch });
  expect(await next()).toMatchObject({ case: "message", value: { stream: 9 } });
});

test("a read-only actuator refuses a carried hold", async () => {
  const { client } = await serve(GRPC, { readOnly: true });
  const { carrier, next } = await opened(client);
  await client.start({ carrier, stream: 1, method: HOLD, request: hold("orders") });
  expect(await next()).toMatchObject({ case: "end", value: { reason: "READ_ONLY" } });
});

test("only the caller that has opened a carrier can use it", async () => {
  const { client, library } = await serve(GRPC, {
    access: {
      authorize: ({ header }) => {
        const name = header("x-name");
        return name === undefined ? undefined : { name, permissions: ["*"] };
      },
    },
  });
  const alice = { "x-name": "alice" };
  const { carrier } = await opened(client, alice);
  const start = { carrier, stream: 1, method: HOLD, request: hold("orders") };
  for (const call of [
    () => client.start(start, { headers: { "x-name": "bob" } }),
    () => client.stop({ carrier, stream: 1 }, { headers: { "x-name": "bob" } }),
    () => client.start({ ...start, carrier: "AAAAAAAAAAAAAAAAAAAAAA" }, { headers: alice }),
  ]) {
    expect(reasonOf(await call().catch((error) => error))).toBe("CARRIER_NOT_FOUND");
  }
  expect(library.levelOf("orders")).toBe("INFO");
});

test("what cannot be carried is refused at once", async () => {
  const { client } = await serve();
  const { carrier, next } = await opened(client);
  const refused = async (method: string, request: Uint8Array, stream = 1) =>
    reasonOf(await client.start({ carrier, stream, method, request }).catch((error) => error));
  expect(await refused("actuator.v3.StreamsService/Open", new Uint8Array())).toBe("METHOD_NOT_CARRIED");
  expect(await refused("actuator.v3.LoggersService/SetLoggerLevel", new Uint8Array())).toBe("METHOD_NOT_CARRIED");
  expect(await refused("constructor", new Uint8Array())).toBe("METHOD_NOT_CARRIED");
  expect(await refused(HOLD, Uint8Array.of(0xff, 0xff))).toBe("INVALID_REQUEST");
  expect(await refused("actuator.v3.IntegrationGraphService/WatchIntegrationGraph", new Uint8Array())).toBe(
    "NOT_SERVED",
  );
  await client.start({ carrier, stream: 1, method: WATCH, request: watch });
  await next();
  expect(await refused(WATCH, watch)).toBe("STREAM_IN_USE");
});

test("each carried stream counts as one, besides the carrier itself", async () => {
  const { client } = await serve(GRPC, { streams: { max: 40 } });
  const { carrier, next } = await opened(client);
  const activity = toBinary(WatchActivityRequestSchema, create(WatchActivityRequestSchema));
  const method = "actuator.v3.ApplicationService/WatchActivity";
  for (let stream = 1; stream <= 40; stream++) await client.start({ carrier, stream, method, request: activity });
  const ends: unknown[] = [];
  for (let at = 0; at < 40; at++) {
    const event = await next();
    if (event.case === "end") ends.push(event.value.reason);
  }
  expect(ends, "39 were carried").toEqual(["TOO_MANY_STREAMS"]);
});

test("a stopped reader holds one message of each stream, and no more", async () => {
  const { client, actuator } = await serve();
  const { carrier, next } = await opened(client);
  await client.start({ carrier, stream: 1, method: WATCH, request: watch });
  await next();
  const before = process.memoryUsage().heapUsed;
  for (let at = 0; at < 20_000; at++) actuator.loggers!.setLevel("orders", at % 2 === 0 ? "DEBUG" : "INFO");
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(50_000_000);
  const change = await next();
  expect(change.case).toBe("message");
});

test("draining ends carrier and streams, and 50 rounds leave nothing", async () => {
  const { client, library, url, actuator } = await serve();
  for (let round = 0; round < 50; round++) {
    const { carrier, next, abort } = await opened(client);
    await client.start({ carrier, stream: 1, method: HOLD, request: hold("orders") });
    const held = await next();
    if (held.case !== "message") throw new Error(held.case);
    expect(fromBinary(HoldLoggerLevelResponseSchema, held.value.message).event.case).toBe("held");
    abort.abort();
  }
  await expect.poll(() => library.levelOf("orders")).toBe("INFO");
  const { events } = await opened(client);
  const end = events.next().catch((error) => error);
  const closing = actuator.close({ deadlineMs: 5_000 });
  expect(reasonOf(await end)).toBe("SHUTTING_DOWN");
  await closing;
  await expect(createClient(LoggersService, transportOver(GRPC, url)).listLoggers({})).rejects.toThrow();
});
