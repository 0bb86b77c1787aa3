import type { DescService } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { ApplicationService } from "../../gen/actuator/v3/application_pb.ts";
import { FleetEngineService } from "../../gen/actuator/v3/fleet_engine_pb.ts";
import { FleetService } from "../../gen/actuator/v3/fleet_pb.ts";
import { IntegrationGraphService } from "../../gen/actuator/v3/integration_graph_pb.ts";
import { LoggersService } from "../../gen/actuator/v3/loggers_pb.ts";
import { LogsService } from "../../gen/actuator/v3/logs_pb.ts";
import { SessionsService } from "../../gen/actuator/v3/sessions_pb.ts";
import { StreamsService } from "../../gen/actuator/v3/streams_pb.ts";
import { file_google_rpc_error_details } from "../../gen/google/rpc/error_details_pb.ts";
import { Health } from "../../gen/grpc/health/v1/health_pb.ts";
import { ServerReflection } from "../../gen/grpc/reflection/v1/reflection_pb.ts";
import { ServerReflection as ServerReflectionAlpha } from "../../gen/grpc/reflection/v1alpha/reflection_pb.ts";
import { TraceService } from "../../gen/opentelemetry/proto/collector/trace/v1/trace_service_pb.ts";
import type { Endpoints } from "../endpoints.ts";
import type { Gate } from "../gate/gate.ts";
import { applicationService } from "./application-service.ts";
import type { CallRouter } from "./call-router.ts";
import { notServed } from "./calls/error.ts";
import type { RequestGate } from "./calls/request-gate.ts";
import { FLEET_ENGINE_OPTIONS, fleetEngineService } from "./fleet-engine-service.ts";
import { FleetPeers } from "./fleet-peers.ts";
import { fleetService } from "./fleet-service.ts";
import { healthService } from "./health-service.ts";
import { integrationGraphService } from "./integration-graph-service.ts";
import type { LocalCalls } from "./local-calls.ts";
import { loggersService } from "./loggers-service.ts";
import { reflectionService } from "./reflection-service.ts";
import { sessionsService } from "./sessions-service.ts";
import type { ServiceLimits } from "./streams.ts";
import { streamsService } from "./streams-service.ts";
import { traceService, traceServiceOptions } from "./trace-service.ts";
import { watchLogs } from "./watch-logs.ts";

/** Registers every service, and those of the domains for calls from within this process, too. */
export function registerServices(
  router: CallRouter,
  endpoints: Endpoints,
  limits: ServiceLimits,
  gate: Pick<Gate, "require" | "readOnly">,
  requestGate: RequestGate,
  local: Pick<LocalCalls, "add" | "clients" | "serves" | "stream">,
  onError: (error: unknown, context: string) => void,
): void {
  const { loggers, fleet, dialFleet, logs, sessions, integrationGraph, health, otlp } = endpoints;
  const domains: DescService[] = [];

  const domain = <S extends DescService>(service: S, methods: ServiceImpl<S> | undefined) => {
    router.service(service, methods ?? absentService(service));
    if (methods === undefined) return;
    local.add(service, methods);
    domains.push(service);
  };
  domain(LoggersService, loggers && loggersService(loggers, fleet, limits));
  domain(FleetService, fleet && fleetService(fleet, new FleetPeers(fleet, dialFleet!, local), gate, limits));
  const { fleetEngine } = endpoints;
  if (fleetEngine === undefined) router.service(FleetEngineService, absentService(FleetEngineService));
  else {
    router.service(FleetEngineService, fleetEngineService(fleetEngine, gate, limits), FLEET_ENGINE_OPTIONS);
    domains.push(FleetEngineService);
  }
  domain(LogsService, loggers && logs && { watchLogs: watchLogs(logs, loggers, fleet, gate, limits.heartbeatMs) });
  domain(SessionsService, sessions && sessionsService(sessions, limits.maxBytes));
  domain(IntegrationGraphService, integrationGraph && integrationGraphService(integrationGraph, limits));

  if (otlp) {
    router.service(TraceService, traceService(otlp), traceServiceOptions(otlp, requestGate));
    domains.push(TraceService);
  }
  const { heartbeatMs } = limits;
  const services = domains.map(nameOf);
  domain(
    ApplicationService,
    applicationService(endpoints, { services, readOnly: gate.readOnly, heartbeatMs, onError }),
  );
  const carried = streamsService(local, { heartbeatMs, onError });
  router.service(StreamsService, carried);
  domains.push(StreamsService);
  const served = [...domains, Health, ServerReflection, ServerReflectionAlpha];
  const reflection = reflectionService(served, [file_google_rpc_error_details]);

  router.service(Health, healthService(health, domains.map(nameOf)));
  router.service(ServerReflection, reflection);
  router.service(ServerReflectionAlpha, reflection);
}

/** A service of a domain that the application does not have: every method answers UNIMPLEMENTED. */
function absentService<S extends DescService>(service: S): Partial<ServiceImpl<S>> {
  const method = () => {
    throw notServed(service);
  };
  const methods: Record<string, unknown> = {};
  for (const { localName } of service.methods) methods[localName] = method;
  return methods as Partial<ServiceImpl<S>>;
}

function nameOf(service: DescService): string {
  return service.typeName;
}
