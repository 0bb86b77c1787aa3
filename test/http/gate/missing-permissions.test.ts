import type { DescMethod, MessageInitShape } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import { ConnectError } from "@connectrpc/connect";
import { createAsyncIterable } from "@connectrpc/connect/protocol";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { PERMISSIONS, type Permission } from "../../../src/access/permission.ts";
import { IntegrationGraphService } from "../../../src/gen/actuator/v3/integration_graph_pb.ts";
import { LoggersService } from "../../../src/gen/actuator/v3/loggers_pb.ts";
import { LogsService } from "../../../src/gen/actuator/v3/logs_pb.ts";
import { type ListSessionsRequestSchema, SessionsService } from "../../../src/gen/actuator/v3/sessions_pb.ts";
import { ServerReflection } from "../../../src/gen/grpc/reflection/v1/reflection_pb.ts";
import { TraceService } from "../../../src/gen/opentelemetry/proto/collector/trace/v1/trace_service_pb.ts";
import { type ActuatorOptions, createActuator, integrationGraph, memorySessions } from "../../../src/index.ts";
import { errorInfo, transportOver } from "../../support/rpc-harness.ts";
import { type TokenGrant, tokensFor } from "../../support/tokens.ts";

// The rule: an error names a permission if and only if the caller lacks it and the call would pass with it.

/** Without a permission, with each one alone, and with all but one. */
const CALLERS: Readonly<Record<string, TokenGrant>> = Object.fromEntries([
  ["without", { permissions: [] }],
  ...PERMISSIONS.map((each) => [`with ${each}`, { permissions: [each] }]),
  ...PERMISSIONS.map((each) => [`without ${each}`, { permissions: PERMISSIONS.filter((other) => other !== each) }]),
]);

const NAMED = new RegExp(PERMISSIONS.join("|"), "g");

/** What an answer of a refused call says; undefined if the caller passed the gate. */
interface Refused {
  readonly reason: string | undefined;
  readonly message: string;
  /** The permission in its metadata; REST has none. */
  readonly permission?: string | undefined;
}

interface Operation {
  readonly name: string;
  readonly needs: Permission;
  /** What the gate names to callers with none of these, because the message that decides is not read yet. */
  readonly either?: readonly Permission[];
  call(url: string, token: string): Promise<Refused | undefined>;
}

function rpc(method: DescMethod, needs: Permission, init: object = {}, either?: readonly Permission[]): Operation {
  return {
    name: `${method.name} ${JSON.stringify(init)}`,
    needs,
    ...(either && { either }),
    async call(url, token) {
      const transport = transportOver({ protocol: "gRPC", httpVersion: "2" }, url);
      const header = { authorization: `Bearer ${token}` };
      const message = create(method.input, init as MessageInitShape<typeof ListSessionsRequestSchema>);
      const end = new AbortController();
      try {
        if (method.methodKind === "unary") {
          await transport.unary(method as never, end.signal, 5_000, header, message);
        } else {
          const messages = createAsyncIterable([message as never]);
          const response = await transport.stream(method as never, end.signal, 5_000, header, messages);
          await response.message[Symbol.asyncIterator]().next();
        }
        return undefined;
      } catch (caught) {
        const error = ConnectError.from(caught);
        const { reason, metadata } = errorInfo(error) ?? {};
        if (reason !== "PERMISSION_MISSING" && reason !== "READ_ONLY" && reason !== "LOGGER_OUT_OF_REACH")
          return undefined;
        return { reason, message: error.rawMessage, permission: metadata?.permission };
      } finally {
        end.abort();
      }
    },
  };
}

function rest(method: string, path: string, needs: Permission, body?: string): Operation {
  return {
    name: `${method} ${path}`,
    needs,
    async call(url, token) {
      const headers = { authorization: `Bearer ${token}`, ...(body && { "content-type": "application/json" }) };
      const response = await fetch(`${url}${path}`, { method, headers, ...(body && { body }) });
      if (response.status !== 403 && response.status !== 405) return void (await response.body?.cancel());
      return { reason: undefined, message: ((await response.json()) as { message: string }).message };
    },
  };
}

const { method: loggers } = LoggersService;
const { method: sessions } = SessionsService;
const { method: graph } = IntegrationGraphService;
const LIST = ["sessions:read", "sessions:list"] as const;

const OPERATIONS: readonly Operation[] = [
  rpc(loggers.listLoggers, "loggers:read"),
  rpc(loggers.getLogger, "loggers:read", { name: "ROOT" }),
  rpc(loggers.watchLoggers, "loggers:read"),
  rpc(loggers.listLevelChanges, "loggers:read"),
  rpc(loggers.setLoggerLevel, "loggers:write", { name: "orders", level: 3 }),
  rpc(loggers.clearLoggerLevel, "loggers:write", { name: "orders" }),
  rpc(loggers.restoreLoggerLevel, "loggers:write", { name: "orders" }),
  rpc(loggers.restoreAllLoggerLevels, "loggers:write"),
  rpc(loggers.holdLoggerLevel, "loggers:write", { name: "orders", level: 3 }),
  rpc(loggers.measureLoggers, "loggers:write"),
  rpc(LogsService.method.watchLogs, "logs:read"),
  rpc(sessions.listSessions, "sessions:list", {}, LIST),
  rpc(sessions.listSessions, "sessions:read", { username: "ada" }, LIST),
  rpc(sessions.getSession, "sessions:read", { id: "x" }),
  rpc(sessions.deleteSession, "sessions:delete", { id: "x" }),
  rpc(sessions.deleteUserSessions, "sessions:delete", { username: "ada" }),
  rpc(graph.getIntegrationGraph, "graph:read"),
  rpc(graph.watchIntegrationGraph, "graph:read"),
  rpc(graph.rebuildIntegrationGraph, "graph:write"),
  rpc(TraceService.method.export, "graph:write"),
  rpc(ServerReflection.method.serverReflectionInfo, "info:read"),
  rest("GET", "/actuator", "info:read"),
  rest("GET", "/actuator/info", "info:read"),
  rest("GET", "/actuator/openapi.json", "info:read"),
  rest("GET", "/actuator/loggers", "loggers:read"),
  rest("GET", "/actuator/loggers/ROOT", "loggers:read"),
  rest("POST", "/actuator/loggers/orders", "loggers:write", '{"configuredLevel":"WARN"}'),
  rest("GET", "/actuator/sessions?username=ada", "sessions:read"),
  rest("GET", "/actuator/sessions/x", "sessions:read"),
  rest("DELETE", "/actuator/sessions/x", "sessions:delete"),
  rest("GET", "/actuator/integrationgraph", "graph:read"),
  rest("POST", "/actuator/integrationgraph", "graph:write"),
];

const served = (tokens: string, options: ActuatorOptions = {}): ActuatorOptions => ({
  access: { tokens, limits: { maxWritesPerMinute: 10_000 } },
  audit: false,
  loggers: { logLevelChanges: false },
  sessions: memorySessions(),
  integrationGraph: integrationGraph({ app: "shop" }),
  otlp: true,
  ...options,
});

async function serve(grants: Readonly<Record<string, TokenGrant>>, options?: ActuatorOptions) {
  const { file, tokens } = tokensFor(grants);
  const actuator = createActuator(served(file, options));
  onTestFinished(() => actuator.close({ deadlineMs: 0 }));
  return { url: (await actuator.listen({ port: 0 })).url, tokens };
}

let url: string;
let tokens: Readonly<Record<string, string>>;

describe("an error names exactly the missing permission", () => {
  beforeEach(async () => void ({ url, tokens } = await serve(CALLERS)));

  test.each(OPERATIONS)("of $name", async ({ needs, either = [needs], call }) => {
    for (const [caller, { permissions }] of Object.entries(CALLERS)) {
      const refused = await call(url, tokens[caller]!);
      const hasAny = either.some((each) => permissions.includes(each));
      const missing = permissions.includes(needs) ? [] : hasAny ? [needs] : either;
      expect([caller, refused?.message.match(NAMED) ?? []]).toEqual([caller, missing]);
      if (refused?.reason !== undefined) expect([caller, refused.permission]).toEqual([caller, missing.join(", ")]);
    }
  });
});

test("an error that no permission would prevent names none", async () => {
  const readOnly = await serve({ all: { permissions: ["*"] } }, { readOnly: true });
  const scoped = await serve({ all: { permissions: ["*"], loggers: ["payment"] } });
  const writes = OPERATIONS.filter(({ needs, name }) => /:(write|delete)$/.test(needs) && name !== "Export {}");
  const cases = [
    ...writes.map((operation) => ({ ...operation, ...readOnly })),
    ...writes.filter(({ needs }) => needs === "loggers:write").map((operation) => ({ ...operation, ...scoped })),
  ];
  for (const { name, call, url, tokens } of cases) {
    const refused = await call(url, tokens.all!);
    expect([name, refused?.message.match(NAMED), refused?.permission]).toEqual([name, null, undefined]);
  }
});
