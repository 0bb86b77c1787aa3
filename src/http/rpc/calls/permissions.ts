import type { DescMethod, DescService } from "@bufbuild/protobuf";
import { PERMISSIONS, type Permission } from "../../../access/permission.ts";
import type { ApplicationService } from "../../../gen/actuator/v3/application_pb.ts";
import type { FleetEngineService } from "../../../gen/actuator/v3/fleet_engine_pb.ts";
import type { FleetService } from "../../../gen/actuator/v3/fleet_pb.ts";
import type { IntegrationGraphService } from "../../../gen/actuator/v3/integration_graph_pb.ts";
import type { LoggersService } from "../../../gen/actuator/v3/loggers_pb.ts";
import type { LogsService } from "../../../gen/actuator/v3/logs_pb.ts";
import type { SessionsService } from "../../../gen/actuator/v3/sessions_pb.ts";
import type { StreamsService } from "../../../gen/actuator/v3/streams_pb.ts";
import type { Health } from "../../../gen/grpc/health/v1/health_pb.ts";
import type { ServerReflection } from "../../../gen/grpc/reflection/v1/reflection_pb.ts";
import type { ServerReflection as ServerReflectionAlpha } from "../../../gen/grpc/reflection/v1alpha/reflection_pb.ts";
import type { TraceService } from "../../../gen/opentelemetry/proto/collector/trace/v1/trace_service_pb.ts";

/** A caller needs one of these; the method itself checks what depends on the message. Empty: a public method. */
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
  // It affects every logger while it lasts.
  measureLoggers: ["loggers:write"],
};

const fleet: Row<typeof FleetService> = {
  listInstances: ["loggers:read"],
  watchInstances: ["loggers:read"],
  listFleetLevels: ["loggers:read"],
  getFleetChange: ["loggers:read"],
  watchFleetChange: ["loggers:read"],
  runCanary: ["loggers:write"],
  finishCanary: ["loggers:write"],
  listLoggerDifferences: ["loggers:read"],
  getFleetGraph: ["graph:read"],
  watchFleetGraph: ["graph:read"],
  // With a raised level also `loggers:write`, which the method itself requires.
  watchFleetLogs: ["logs:read"],
  resetFleet: ["loggers:write"],
};

/** No write, although `store` is: instances report every 5 seconds, and a change of a level is recorded where it is asked for. */
const fleetEngine: Row<typeof FleetEngineService> = {
  exchange: ["fleet:join"],
  store: ["fleet:join"],
  listReports: ["fleet:join"],
  watchHints: ["fleet:join"],
  leaveFleet: ["fleet:join"],
};

const sessions: Row<typeof SessionsService> = {
  // Of one user, or of all users.
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

/** With a raised level also `loggers:write`, which the method itself requires. */
const logs: Row<typeof LogsService> = { watchLogs: ["logs:read"] };

/** Any permission will do; what each caller may see depends on its own. */
const application: Row<typeof ApplicationService> = { getApplication: PERMISSIONS, watchActivity: PERMISSIONS };

/** The carried methods require their own. */
const streams: Row<typeof StreamsService> = { open: PERMISSIONS, start: PERMISSIONS, stop: PERMISSIONS };

/** For load balancers, which ask for the health without credentials. */
const health: Row<typeof Health> = { check: [], list: [], watch: [] };

/** By service. The descriptors have the names too, and are loaded with the first call. */
const rows: Readonly<Record<string, Readonly<Record<string, Needs>>>> = {
  "actuator.v3.LoggersService": loggers,
  "actuator.v3.FleetService": fleet,
  "actuator.v3.FleetEngineService": fleetEngine,
  "actuator.v3.LogsService": logs,
  "actuator.v3.SessionsService": sessions,
  "actuator.v3.IntegrationGraphService": graph,
  "actuator.v3.ApplicationService": application,
  "actuator.v3.StreamsService": streams,
  "grpc.health.v1.Health": health,
  "grpc.reflection.v1.ServerReflection": { serverReflectionInfo: ["info:read"] } satisfies Row<typeof ServerReflection>,
  "grpc.reflection.v1alpha.ServerReflection": {
    serverReflectionInfo: ["info:read"],
  } satisfies Row<typeof ServerReflectionAlpha>,
  "opentelemetry.proto.collector.trace.v1.TraceService": { export: ["graph:write"] } satisfies Row<typeof TraceService>,
};

/** The names of all methods in the call log: `actuator.v3.LoggersService/GetLogger`. */
export const RPC_OPERATIONS: readonly string[] = Object.entries(rows).flatMap(([service, methods]) =>
  Object.keys(methods).map((name) => `${service}/${name[0]!.toUpperCase()}${name.slice(1)}`),
);

/** Those of them with streams. */
export const STREAMING_METHODS: readonly string[] = [
  "actuator.v3.LoggersService/WatchLoggers",
  "actuator.v3.LoggersService/HoldLoggerLevel",
  "actuator.v3.LoggersService/MeasureLoggers",
  "actuator.v3.FleetService/WatchInstances",
  "actuator.v3.FleetService/WatchFleetChange",
  "actuator.v3.FleetService/RunCanary",
  "actuator.v3.FleetService/WatchFleetGraph",
  "actuator.v3.FleetService/WatchFleetLogs",
  "actuator.v3.FleetEngineService/WatchHints",
  "actuator.v3.LogsService/WatchLogs",
  "actuator.v3.IntegrationGraphService/WatchIntegrationGraph",
  "actuator.v3.ApplicationService/WatchActivity",
  "actuator.v3.StreamsService/Open",
  "grpc.health.v1.Health/Watch",
  "grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
  "grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
];

/** A row that misses a method of its service does not compile. */
type Row<S extends DescService> = { readonly [Name in keyof S["method"]]: Needs };

/**
 * Returns the permissions of which a caller of the method needs one.
 *
 * @throws Error for a method of a service without a row, which must not become public by mistake
 */
export function permissionsFor({ parent, localName, name }: DescMethod): Needs {
  const needs = rows[parent.typeName]?.[localName];
  if (needs === undefined) throw new Error(`permissions.ts has no row for ${parent.typeName}/${name}`);
  return needs;
}
