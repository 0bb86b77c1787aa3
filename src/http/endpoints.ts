import type { Transport } from "@connectrpc/connect";
import type { Fleet } from "../fleet/fleet.ts";
import type { FleetInstance } from "../fleet/instance.ts";
import type { FleetRegisters } from "../fleet/register.ts";
import type { IntegrationGraph } from "../integration-graph/graph.ts";
import type { Loggers } from "../loggers/loggers.ts";
import type { Logs } from "../logs/logs.ts";
import type { Application } from "../operations/health/application.ts";
import type { Health } from "../operations/health/health.ts";
import type { Metrics } from "../operations/metrics/metrics.ts";
import type { Sessions } from "../sessions/sessions.ts";
import type { OtlpReceiver } from "./otlp/receiver.ts";

/**
 * What REST and RPC serve. A missing domain is not served: its REST routes answer 404, its RPC service UNIMPLEMENTED, and the index,
 * health and reflection do not list it.
 */
export interface Endpoints {
  readonly application: Application;
  readonly health: Health;
  readonly loggers?: Loggers | undefined;
  /** What the loggers write, if it is served. */
  readonly logs?: Logs | undefined;
  /** The fleet that this instance takes part in, if it does. */
  readonly fleet?: Fleet | undefined;
  /** How its other instances are reached; there is one if there is a fleet. */
  readonly dialFleet?: ((instance: FleetInstance) => Promise<Transport>) | undefined;
  /** The fleets that are kept here for their instances, if any are. */
  readonly fleetEngine?: FleetRegisters | undefined;
  readonly sessions?: Sessions | undefined;
  readonly integrationGraph?: IntegrationGraph | undefined;
  /** The metrics of the actuator's own calls, if they are served. */
  readonly metrics?: Metrics | undefined;
  /** Receives spans of other services for the integration graph. */
  readonly otlp?: OtlpReceiver | undefined;
}
