import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { createFileRegistry, fromBinary } from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema, FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { Code } from "@connectrpc/connect";
import { describe, expect, test } from "vitest";
import { ServerReflection, type ServerReflectionRequest } from "../../../src/gen/grpc/reflection/v1/reflection_pb.ts";
import { ServerReflection as ServerReflectionAlpha } from "../../../src/gen/grpc/reflection/v1alpha/reflection_pb.ts";
import { integrationGraph } from "../../../src/integration-graph/builder.ts";
import { Loggers } from "../../../src/loggers/loggers.ts";
import { MemorySessionStore } from "../../../src/sessions/memory-store.ts";
import { Sessions } from "../../../src/sessions/sessions.ts";
import { grpcClient, serveRpc } from "../../support/rpc-harness.ts";

const STANDARD = [
  "grpc.health.v1.Health",
  "grpc.reflection.v1.ServerReflection",
  "grpc.reflection.v1alpha.ServerReflection",
];

function serveAll() {
  return serveRpc({
    loggers: new Loggers(),
    sessions: new Sessions(new MemorySessionStore(), { ids: "raw" }),
    integrationGraph: integrationGraph({ app: "shop" }).graph,
  });
}

type Question = Exclude<ServerReflectionRequest["messageRequest"], { case: undefined | "fileContainingExtension" }>;

describe.each([ServerReflection, ServerReflectionAlpha])("$typeName", (service) => {
  async function asker(url: string) {
    const client = grpcClient(service as typeof ServerReflection, url);
    return async (question: Question | { case: undefined } | { case: "fileContainingExtension"; value: object }) => {
      const request = { host: "here", messageRequest: question as Question };
      for await (const response of client.serverReflectionInfo(
        (async function* () {
          yield request;
        })(),
      )) {
        expect(response.validHost).toBe("here");
        expect(response.originalRequest?.messageRequest.case).toBe(question.case);
        return response.messageResponse;
      }
      throw new Error("no answer");
    };
  }

  function filesOf(answer: Awaited<ReturnType<Awaited<ReturnType<typeof asker>>>>) {
    if (answer.case !== "fileDescriptorResponse") throw new Error(`answered ${answer.case}`);
    return answer.value.fileDescriptorProto.map((bytes) => fromBinary(FileDescriptorProtoSchema, bytes));
  }

  test("lists the services that are served, and no other", async () => {
    const { url } = await serveAll();
    const domains = [
      "LoggersService",
      "SessionsService",
      "IntegrationGraphService",
      "ApplicationService",
      "StreamsService",
    ].map((name) => `actuator.v3.${name}`);
    const all = await (await asker(url))({ case: "listServices", value: "*" });
    expect(all).toMatchObject({ value: { service: [...domains, ...STANDARD].map((name) => ({ name })) } });

    const some = await serveRpc({ loggers: new Loggers() });
    expect(await (await asker(some.url))({ case: "listServices", value: "" })).toMatchObject({
      value: {
        service: [
          "actuator.v3.LoggersService",
          "actuator.v3.ApplicationService",
          "actuator.v3.StreamsService",
          ...STANDARD,
        ].map((name) => ({
          name,
        })),
      },
    });
  });

  test.each([
    ["a service", "actuator.v3.LoggersService", "actuator/v3/loggers.proto"],
    ["a method", "actuator.v3.SessionsService.GetSession", "actuator/v3/sessions.proto"],
    ["a message", "actuator.v3.Logger", "actuator/v3/loggers.proto"],
    ["a field", "actuator.v3.Session.creation_time", "actuator/v3/sessions.proto"],
    ["a oneof", "actuator.v3.GetLoggerResponse.result", "actuator/v3/loggers.proto"],
    ["an enum", "actuator.v3.Level", "actuator/v3/level.proto"],
    ["a value of an enum", "actuator.v3.LEVEL_DEBUG", "actuator/v3/level.proto"],
    ["a nested enum", "actuator.v3.Link.Type", "actuator/v3/integration_graph.proto"],
    ["a value of a nested enum", "actuator.v3.Link.TYPE_ERROR", "actuator/v3/integration_graph.proto"],
    ["a message of an import", "google.protobuf.Timestamp", "google/protobuf/timestamp.proto"],
    ["the detail of errors", "google.rpc.ErrorInfo", "google/rpc/error_details.proto"],
    ["a standard service", "grpc.health.v1.Health", "grpc/health/v1/health.proto"],
  ])("finds the file of %s, with all that it imports", async (_, symbol, path) => {
    const { url } = await serveAll();
    const ask = await asker(url);
    const files = filesOf(await ask({ case: "fileContainingSymbol", value: symbol }));
    expect(files[0]?.name).toBe(path);
    // Throws where an import is missing.
    createFileRegistry({ $typeName: FileDescriptorSetSchema.typeName, file: files.toReversed() });
    expect(filesOf(await ask({ case: "fileByFilename", value: path })).map(({ name }) => name)).toEqual(
      files.map(({ name }) => name),
    );
  });

  test.each<[string, Parameters<Awaited<ReturnType<typeof asker>>>[0], Code]>([
    ["an unknown file", { case: "fileByFilename", value: "no/such.proto" }, Code.NotFound],
    ["an unknown name", { case: "fileContainingSymbol", value: "actuator.v3.Nothing" }, Code.NotFound],
    [
      "a service that is left out",
      { case: "fileContainingSymbol", value: "actuator.v3.SessionsService" },
      Code.NotFound,
    ],
    [
      "an extension",
      { case: "fileContainingExtension", value: { containingType: "actuator.v3.Logger" } },
      Code.NotFound,
    ],
    ["extensions of an unknown type", { case: "allExtensionNumbersOfType", value: "no.Such" }, Code.NotFound],
    ["nothing", { case: undefined }, Code.InvalidArgument],
  ])("answers a question for %s with an error and goes on", async (_, question, errorCode) => {
    const { url } = await serveRpc({ loggers: new Loggers() });
    const answer = await (await asker(url))(question);
    expect(answer).toMatchObject({ case: "errorResponse", value: { errorCode } });
  });

  test("knows that no message has extensions", async () => {
    const { url } = await serveAll();
    const answer = await (await asker(url))({ case: "allExtensionNumbersOfType", value: "actuator.v3.Logger" });
    expect(answer).toMatchObject({ value: { baseTypeName: "actuator.v3.Logger", extensionNumber: [] } });
  });

  test("answers each question of one stream in order", async () => {
    const { url } = await serveAll();
    const questions: Question[] = [
      { case: "listServices", value: "" },
      { case: "fileByFilename", value: "no/such.proto" },
      { case: "fileByFilename", value: "actuator/v3/level.proto" },
    ];
    const answers: unknown[] = [];
    const client = grpcClient(service as typeof ServerReflection, url);
    for await (const { messageResponse } of client.serverReflectionInfo(
      (async function* () {
        for (const messageRequest of questions) yield { messageRequest };
      })(),
    )) {
      answers.push(messageResponse.case);
    }
    expect(answers).toEqual(["listServicesResponse", "errorResponse", "fileDescriptorResponse"]);
  });
});

describe("buf curl without a schema", () => {
  const run = promisify(execFile);
  const buf = join(import.meta.dirname, "../../../node_modules/.bin/buf");
  const curl = (...args: string[]) => run(buf, ["curl", "--http2-prior-knowledge", ...args], { timeout: 60_000 });

  test.each(["grpc", "grpcweb", "connect"])(
    "over %s lists services and methods, reads and changes a level",
    async (protocol) => {
      const { url } = await serveAll();
      const services = await curl("--protocol", protocol, "--list-services", url);
      expect(services.stdout.split("\n")).toEqual(expect.arrayContaining(["actuator.v3.LoggersService"]));
      const methods = await curl("--protocol", protocol, "--list-methods", url);
      expect(methods.stdout).toContain("actuator.v3.IntegrationGraphService/RebuildIntegrationGraph");
      const service = `${url}/actuator.v3.LoggersService`;
      const set = await curl(
        "--protocol",
        protocol,
        "-d",
        '{"name":"shop","level":"LEVEL_DEBUG"}',
        `${service}/SetLoggerLevel`,
      );
      expect(JSON.parse(set.stdout)).toMatchObject({ logger: { configuredLevel: "LEVEL_DEBUG" } });
      const missing = curl("--protocol", protocol, "-d", '{"name":"nobody"}', `${service}/GetLogger`);
      const { stderr } = await missing.catch((error: { stderr: string }) => error);
      const { code, details } = JSON.parse(stderr) as { code: string; details: { type: string; value: string }[] };
      expect([code, details[0]?.type]).toEqual(["not_found", "google.rpc.ErrorInfo"]);
      expect(Buffer.from(details[0]!.value, "base64").toString()).toContain("LOGGER_NOT_FOUND");
    },
  );
});
