import type { DescMethod, DescService } from "@bufbuild/protobuf";
import type { Permission } from "../../access/permission.ts";
import { IntegrationGraphService } from "../../gen/actuator/v3/integration_graph_pb.ts";
import { LoggersService } from "../../gen/actuator/v3/loggers_pb.ts";
import { SessionsService } from "../../gen/actuator/v3/sessions_pb.ts";
import { Health } from "../../gen/grpc/health/v1/health_pb.ts";
import { ServerReflection } from "../../gen/grpc/reflection/v1/reflection_pb.ts";
import { ServerReflection as ServerReflectionAlpha } from "../../gen/grpc/reflection/v1alpha/reflection_pb.ts";
import { TraceService } from "../../gen/opentelemetry/proto/collector/trace/v1/trace_service_pb.ts";

/** One of these is needed; the method itself asks for what depends on the message. None: everybody may call it. */
type Needs = readonly Permission[];

const loggers: Row<typeof LoggersService> = {
  listLoggers: ["loggers:read"],
  getLogger: ["loggers:read"],
  watchLoggers: ["loggers:read"],
  listLevelChanges: ["loggers:read"],
  setLoggerLevel: ["loggers:write"],
  clearLoggerLevel: ["loggers:write"],
  restoreLoggerLevel: ["loggers:write"],
  restoreAllLoggerLevels: ["loggers:write"],
  holdLoggerLevel: ["loggers:write"],
  // It touches every logger while it lasts.
  measureLoggers: ["loggers:write"],
};

const sessions: Row<typeof SessionsService> = {
  // Of a user, or of everybody.
  listSessions: ["sessions:read", "sessions:list"],
  getSession: ["sessions:read"],
  deleteSession: ["sessions:delete"],
  deleteUserSessions: ["sessions:delete"],
};

const graph: Row<typeof IntegrationGraphService> = {
  getIntegrationGraph: ["graph:read"],
  watchIntegrationGraph: ["graph:read"],
  rebuildIntegrationGraph: ["graph:write"],
};

/** A load balancer asks for the health, and has nothing to say who it is. */
const health: Row<typeof Health> = { check: [], list: [], watch: [] };

const SERVICES: readonly DescService[] = [
  LoggersService,
  SessionsService,
  IntegrationGraphService,
  Health,
  ServerReflection,
  ServerReflectionAlpha,
  TraceService,
];

const rows = new Map<string, Readonly<Record<string, Needs>>>([
  [LoggersService.typeName, loggers],
  [SessionsService.typeName, sessions],
  [IntegrationGraphService.typeName, graph],
  [Health.typeName, health],
  [ServerReflection.typeName, { serverReflectionInfo: ["info:read"] } satisfies Row<typeof ServerReflection>],
  [ServerReflectionAlpha.typeName, { serverReflectionInfo: ["info:read"] } satisfies Row<typeof ServerReflectionAlpha>],
  [TraceService.typeName, { export: ["graph:write"] } satisfies Row<typeof TraceService>],
]);

/** Every method that there can be, as the call log names it: `actuator.v3.LoggersService/GetLogger`. */
export const RPC_OPERATIONS: readonly string[] = SERVICES.flatMap(({ typeName, methods }) =>
  methods.map(({ name }) => `${typeName}/${name}`),
);

/** A method that is not in its service's row does not compile. */
type Row<S extends DescService> = { readonly [Name in keyof S["method"]]: Needs };

/**
 * The permissions of which a caller of the method needs one.
 *
 * @throws TypeError for a method of a service that has no row: nobody may call what nobody thought of.
 */
export function permissionsFor({ parent, localName, name }: DescMethod): Needs {
  const needs = rows.get(parent.typeName)?.[localName];
  if (needs === undefined) throw new TypeError(`no permission is named for ${parent.typeName}/${name}`);
  return needs;
}
