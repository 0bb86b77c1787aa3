import type { Endpoints } from "./http/endpoints.ts";
import { MCP_OPERATIONS, MCP_PATH } from "./http/mcp/operations.ts";
import { REST_OPERATIONS, REST_PATHS } from "./http/rest/routes.ts";
import { RPC_OPERATIONS } from "./http/rpc/calls/permissions.ts";
import type { RpcHandler } from "./http/rpc/handler.ts";
import { UI_OPERATION, UI_PATH } from "./http/ui/handler.ts";
import { HEALTH_STATUSES } from "./operations/health/health-status.ts";
import { addGauges } from "./operations/metrics/gauges.ts";
import { Metrics } from "./operations/metrics/metrics.ts";
import type { MetricsOptions } from "./operations/metrics/options.ts";
import type { ServerErrorHandler } from "./server/guard.ts";
import type { Listener } from "./server/listener.ts";

/** The metrics of an actuator's calls, which know every operation and path that it could have. */
export function metricsOf(options: MetricsOptions, basePath: string): Metrics {
  const operations = [...REST_OPERATIONS, ...RPC_OPERATIONS, ...MCP_OPERATIONS, UI_OPERATION, "POST /v1/traces"];
  const routes = [...REST_PATHS, MCP_PATH, UI_PATH, "/v1/traces"];
  return new Metrics({ operations, routes, basePath, durationBuckets: options.durationBuckets });
}

/** Has the metrics count what `onError` is told. */
export function countErrors(metrics: Metrics | undefined, onError: ServerErrorHandler): ServerErrorHandler {
  if (metrics === undefined) return onError;
  return (error, context) => {
    metrics.observeError();
    onError(error, context);
  };
}

/** Makes the metrics read what the actuator holds at each scrape. */
export function observeEndpoints(
  metrics: Metrics,
  { health, loggers, integrationGraph }: Endpoints,
  rpc: Pick<RpcHandler, "openStreams">,
  listener: () => Pick<Listener, "counts" | "certificateValidTo"> | undefined,
  auditLog: { readonly lost: number },
): void {
  addGauges(metrics, {
    loggers,
    integrationGraph,
    // If no client asks for the health, it is checked only here.
    health: { statuses: HEALTH_STATUSES, status: () => health.glance() },
    streams: () => rpc.openStreams,
    port: () => listener()?.counts,
    auditLost: () => auditLog.lost,
    certificateValidTo: () => listener()?.certificateValidTo,
  });
}
