import { expect, test } from "vitest";
import { ApplicationService } from "../../../src/gen/actuator/v3/application_pb.ts";
import { FleetEngineService } from "../../../src/gen/actuator/v3/fleet_engine_pb.ts";
import { FleetService } from "../../../src/gen/actuator/v3/fleet_pb.ts";
import { IntegrationGraphService } from "../../../src/gen/actuator/v3/integration_graph_pb.ts";
import { LoggersService } from "../../../src/gen/actuator/v3/loggers_pb.ts";
import { LogsService } from "../../../src/gen/actuator/v3/logs_pb.ts";
import { SessionsService } from "../../../src/gen/actuator/v3/sessions_pb.ts";
import { StreamsService } from "../../../src/gen/actuator/v3/streams_pb.ts";
import { Health } from "../../../src/gen/grpc/health/v1/health_pb.ts";
import { ServerReflection } from "../../../src/gen/grpc/reflection/v1/reflection_pb.ts";
import { ServerReflection as ServerReflectionAlpha } from "../../../src/gen/grpc/reflection/v1alpha/reflection_pb.ts";
import { TraceService } from "../../../src/gen/opentelemetry/proto/collector/trace/v1/trace_service_pb.ts";
import { RPC_OPERATIONS, STREAMING_METHODS } from "../../../src/http/rpc/calls/permissions.ts";

const METHODS = [
  LoggersService,
  LogsService,
  FleetService,
  FleetEngineService,
  SessionsService,
  IntegrationGraphService,
  ApplicationService,
  StreamsService,
  Health,
  ServerReflection,
  ServerReflectionAlpha,
  TraceService,
].flatMap((service) => service.methods);
const nameOf = ({ parent, name }: (typeof METHODS)[number]) => `${parent.typeName}/${name}`;

test("every method of every service has permissions, under the name that its descriptor has", () => {
  expect([...RPC_OPERATIONS].sort()).toEqual(METHODS.map(nameOf).sort());
});

test("every method with streams is known before the services are loaded", () => {
  const streaming = METHODS.filter(({ methodKind }) => methodKind !== "unary");
  expect([...STREAMING_METHODS].sort()).toEqual(streaming.map(nameOf).sort());
});
