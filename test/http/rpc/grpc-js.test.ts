import type { DescMessage, DescMethod, DescService, MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { BinaryReader } from "@bufbuild/protobuf/wire";
import { type Any, AnySchema, anyUnpack } from "@bufbuild/protobuf/wkt";
import { type CallOptions, Client, credentials, Metadata, type ServiceError, status } from "@grpc/grpc-js";
import { expect, onTestFinished, test } from "vitest";
import { LoggersService } from "../../../src/gen/actuator/v3/loggers_pb.ts";
import { SessionsService } from "../../../src/gen/actuator/v3/sessions_pb.ts";
import { ErrorInfoSchema } from "../../../src/gen/google/rpc/error_details_pb.ts";
import { Health, HealthCheckResponse_ServingStatus as Serving } from "../../../src/gen/grpc/health/v1/health_pb.ts";
import { Loggers } from "../../../src/loggers/loggers.ts";
import { Sessions } from "../../../src/sessions/sessions.ts";
import { libraryOf, type RpcServer, serveRpc, silentStore } from "../../support/rpc-harness.ts";
import { emptied, eventually } from "../../support/server-harness.ts";

/** The reference implementation for Node, which shares no code with what is tested. */
function grpcJs({ port }: RpcServer): Client {
  const client = new Client(`127.0.0.1:${port}`, credentials.createInsecure());
  onTestFinished(() => client.close());
  return client;
}

const path = (service: DescService, method: string) => `/${service.typeName}/${method}`;

function call<I extends DescMessage, O extends DescMessage>(
  client: Client,
  method: DescMethod & { input: I; output: O },
  request: MessageInitShape<I>,
  options: CallOptions & { metadata?: Metadata } = {},
): Promise<MessageShape<O>> {
  const { metadata = new Metadata(), ...rest } = options;
  return new Promise((resolve, reject) => {
    client.makeUnaryRequest(
      path(method.parent, method.name),
      (message: MessageShape<I>) => Buffer.from(toBinary(method.input, message)),
      (bytes) => fromBinary(method.output, bytes),
      create(method.input, request),
      metadata,
      rest,
      (error, response) => (error ? reject(error) : resolve(response!)),
    );
  });
}

function watch(client: Client, options: CallOptions = {}) {
  const { watch: method } = Health.method;
  const seen: number[] = [];
  const stream = client.makeServerStreamRequest(
    path(Health, method.name),
    () => Buffer.alloc(0),
    (bytes) => fromBinary(method.output, bytes),
    create(method.input),
    new Metadata(),
    options,
  );
  stream.on("data", (response: MessageShape<typeof method.output>) => seen.push(response.status));
  const end = new Promise<ServiceError>((resolve) => stream.once("error", resolve));
  return { stream, seen, end };
}

/** The details, third field, of a serialised google.rpc.Status. */
function detailsOf(bytes: Uint8Array): Any[] {
  const reader = new BinaryReader(bytes);
  const details: Any[] = [];
  while (reader.pos < reader.len) {
    const [field, type] = reader.tag();
    if (field === 3) details.push(fromBinary(AnySchema, reader.bytes()));
    else reader.skip(type);
  }
  return details;
}

async function serveAll() {
  const loggers = new Loggers();
  const server = await serveRpc({ loggers, sessions: new Sessions(silentStore(), { ids: "raw" }) });
  return { ...server, loggers, client: grpcJs(server) };
}

test("unary", async () => {
  const { client } = await serveAll();
  const { result } = await call(client, LoggersService.method.getLogger, { name: "ROOT" });
  expect(result).toMatchObject({ case: "logger", value: { name: "ROOT" } });
});

test("a list larger than the 4 MiB that gRPC clients take comes in pages that they take", async () => {
  const { client, loggers } = await serveAll();
  const names = Array.from({ length: 60_000 }, (_, index) => `${"x".repeat(80)}${index}`);
  loggers.attach(libraryOf(names));
  let count = 0;
  let pages = 0;
  let pageToken = "";
  do {
    const page = await call(client, LoggersService.method.listLoggers, { pageToken });
    pageToken = page.nextPageToken;
    count += page.loggers.length;
    pages++;
  } while (pageToken !== "");
  expect(count).toBe(names.length + 1);
  expect(pages).toBe(2);
});

test("error with details", async () => {
  const { client } = await serveAll();
  const error = await call(client, LoggersService.method.getLogger, { name: "nobody" }).catch((e: ServiceError) => e);
  expect(error).toMatchObject({ code: status.NOT_FOUND, details: "No logger and no group has this name." });
  const [bytes] = (error as ServiceError).metadata.get("grpc-status-details-bin");
  expect(detailsOf(bytes as Buffer).map((any) => anyUnpack(any, ErrorInfoSchema))).toMatchObject([
    { reason: "LOGGER_NOT_FOUND", domain: "connect-actuator", metadata: { field: "name" } },
  ]);
});

test("deadline kept by the server", async () => {
  const { client } = await serveAll();
  // By metadata, so that grpc-js has no deadline of its own.
  const metadata = new Metadata();
  metadata.set("grpc-timeout", "50m");
  const error = call(client, SessionsService.method.getSession, { id: "1" }, { metadata });
  await expect(error).rejects.toMatchObject({ code: status.DEADLINE_EXCEEDED, details: "the operation timed out" });
});

test("deadline of grpc-js", async () => {
  const { client } = await serveAll();
  const error = call(client, SessionsService.method.getSession, { id: "1" }, { deadline: Date.now() + 50 });
  await expect(error).rejects.toMatchObject({ code: status.DEADLINE_EXCEEDED });
});

test("health Watch, ended by the client", async () => {
  const { client, health, listener } = await serveAll();
  const { stream, seen, end } = watch(client);
  await eventually(
    () => seen.length === 1,
    () => "no first status",
  );
  health.status = "OUT_OF_SERVICE";
  await eventually(
    () => seen.length === 2,
    () => "no second status",
  );
  expect(seen).toEqual([Serving.SERVING, Serving.NOT_SERVING]);
  stream.cancel();
  expect(await end).toMatchObject({ code: status.CANCELLED });
  await eventually(
    () => health.listeners === 0,
    () => `${health.listeners} listeners`,
  );
  client.close();
  await emptied(listener);
});

test("health Watch, ended by the server", async () => {
  const { client, rpc } = await serveAll();
  const { seen, end } = watch(client);
  await eventually(
    () => seen.length === 1,
    () => "no first status",
  );
  rpc.endStreams();
  expect(await end).toMatchObject({ code: status.UNAVAILABLE, details: "The server is shutting down." });
});

test.each([
  ["a service that is left out", "/actuator.v3.IntegrationGraphService/GetIntegrationGraph"],
  ["an unknown method", "/actuator.v3.LoggersService/Nothing"],
  ["an unknown service", "/grpc.nothing.v1.Nothing/Nothing"],
])("%s is UNIMPLEMENTED", async (_, method) => {
  const { client } = await serveAll();
  const error = new Promise((resolve) => {
    const bytes = (buffer: Buffer) => buffer;
    client.makeUnaryRequest(method, bytes, bytes, Buffer.alloc(0), resolve);
  });
  expect(await error).toMatchObject({ code: status.UNIMPLEMENTED });
});

test("a request that is too large is told so, though the client is still sending it", async () => {
  const { client, listener } = await serveAll();
  const error = call(client, LoggersService.method.getLogger, { name: "x".repeat(8 * 1024 * 1024) });
  await expect(error).rejects.toMatchObject({ code: status.RESOURCE_EXHAUSTED });
  await eventually(
    () => listener.counts.streams === 0,
    () => `${listener.counts.streams} streams`,
  );
  expect(await call(client, LoggersService.method.getLogger, { name: "ROOT" })).toBeDefined();
});
