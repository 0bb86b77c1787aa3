import type { DescMessage, DescService, MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import type { ApplicationService } from "../../gen/actuator/v3/application_pb.ts";
import type { FleetService } from "../../gen/actuator/v3/fleet_pb.ts";
import type { IntegrationGraphService } from "../../gen/actuator/v3/integration_graph_pb.ts";
import type { LoggersService } from "../../gen/actuator/v3/loggers_pb.ts";
import type { LogsService } from "../../gen/actuator/v3/logs_pb.ts";
import type { SessionsService } from "../../gen/actuator/v3/sessions_pb.ts";

/** The services that the page calls, by the names it has for them. */
export interface Services {
  readonly application: typeof ApplicationService;
  readonly loggers: typeof LoggersService;
  readonly logs: typeof LogsService;
  readonly sessions: typeof SessionsService;
  readonly graph: typeof IntegrationGraphService;
  readonly fleet: typeof FleetService;
}

export type ServiceName = keyof Services;

type Methods<S extends DescService> = S["method"];

/** The names of the methods of one kind. */
export type MethodsOf<N extends ServiceName, Kind extends "unary" | "server_streaming"> = {
  [M in keyof Methods<Services[N]>]: Methods<Services[N]>[M] extends { methodKind: Kind } ? M : never;
}[keyof Methods<Services[N]>] &
  string;

/** The request of a method, of which fields may be left out. */
export type Input<N extends ServiceName, M> = M extends keyof Methods<Services[N]>
  ? Methods<Services[N]>[M] extends { readonly input: infer Message extends DescMessage }
    ? MessageInitShape<Message>
    : never
  : never;

/** The response of a method, or one message of its stream. */
export type Output<N extends ServiceName, M> = M extends keyof Methods<Services[N]>
  ? Methods<Services[N]>[M] extends { readonly output: infer Message extends DescMessage }
    ? MessageShape<Message>
    : never
  : never;
