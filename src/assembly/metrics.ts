import type { Endpoints } from "../endpoints.ts";
import type { Override } from "../loggers/override.ts";
import { Metrics } from "../metrics/metrics.ts";
import type { MetricsOptions } from "../metrics/options.ts";
import { REST_OPERATIONS } from "../rest/routes.ts";
import type { RpcHandler } from "../rpc/handler.ts";
import { RPC_OPERATIONS } from "../rpc/permissions.ts";
import type { ListenerCounts } from "../server/listener.ts";

/** The books on the calls of an actuator, which know every operation that it could have. */
export function metricsOf(options: MetricsOptions, basePath: string): Metrics {
  const operations = [...REST_OPERATIONS, ...RPC_OPERATIONS, "POST /v1/traces"];
  return new Metrics({ operations, basePath, durationBuckets: options.durationBuckets });
}

/** Has the books read what the actuator holds whenever somebody asks for it. */
export function addGauges(
  metrics: Metrics,
  { application, health, loggers, integrationGraph }: Endpoints,
  rpc: Pick<RpcHandler, "openStreams">,
  counts: () => ListenerCounts | undefined,
): void {
  const gauge = (name: string, description: string, unit: string, read: () => number) =>
    metrics.gauge({ name, description, unit, additive: unit !== "s" }, read);

  gauge(
    "actuator.uptime",
    "How long the actuator has been there.",
    "s",
    () => (Date.now() - application.startTime) / 1000,
  );
  gauge("actuator.up", "1 while the health is UP, otherwise 0.", "1", () => (health.status === "UP" ? 1 : 0));
  gauge(
    "actuator.streams",
    "Streams that are open: watches, held levels, measurements.",
    "{stream}",
    () => rpc.openStreams,
  );
  gauge(
    "actuator.connections",
    "Connections to the actuator's own port.",
    "{connection}",
    () => counts()?.connections ?? 0,
  );
  gauge(
    "actuator.http2.streams",
    "Open HTTP/2 streams of the actuator's own port.",
    "{stream}",
    () => counts()?.streams ?? 0,
  );
  if (loggers !== undefined) {
    gauge("actuator.loggers", "Loggers that are known.", "{logger}", () => loggers.list().loggers.length);
    const inForce = (lasting: string, is: (override: Override) => boolean) => ({
      attributes: { lasting },
      value: loggers.list().loggers.filter(({ override }) => override !== undefined && is(override)).length,
    });
    const description = "Levels in force that were set through the actuator.";
    metrics.gauge({ name: "actuator.loggers.overrides", description, unit: "{logger}", additive: true }, () => [
      inForce("forever", ({ expireTime }) => expireTime === undefined),
      inForce("temporary", ({ expireTime }) => expireTime !== undefined),
    ]);
  }
  if (integrationGraph !== undefined) {
    gauge(
      "actuator.graph.nodes",
      "Nodes of the integration graph.",
      "{node}",
      () => integrationGraph.snapshot().nodes.length,
    );
    gauge(
      "actuator.graph.links",
      "Links of the integration graph.",
      "{link}",
      () => integrationGraph.snapshot().links.length,
    );
  }
}
