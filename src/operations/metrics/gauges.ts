import type { GaugeDescription, GaugeReading, Metrics } from "./metrics.ts";

/** A logger, with who set its level through the actuator, if anyone. */
interface OverriddenLogger {
  readonly override: { readonly expireTime: number | undefined; readonly held?: boolean | undefined } | undefined;
}

/** The sources of the gauges; a source that is left out has no gauges. */
export interface GaugeSources {
  readonly loggers?:
    | {
        readonly stateProblems: readonly string[];
        list(): { readonly loggers: readonly OverriddenLogger[]; readonly revision: number };
      }
    | undefined;
  readonly integrationGraph?:
    | {
        readonly revision: number;
        readonly dropped: { readonly nodes: number; readonly links: number };
        readonly collapsed: number;
        snapshot(): { readonly nodes: readonly object[]; readonly links: readonly object[] };
      }
    | undefined;
  /** The status of the health as it was last seen, out of `statuses`. */
  readonly health?: { readonly statuses: readonly string[]; status(): string } | undefined;
  /** How many streams of RPC are open, by each method that can have any. */
  readonly streams?: (() => ReadonlyMap<string, number>) | undefined;
  /** What the actuator's own port holds; undefined while there is none. */
  readonly port?: (() => PortCounts | undefined) | undefined;
  /** Until when the certificate of that port is valid, in milliseconds since the epoch; undefined while there is none. */
  readonly certificateValidTo?: (() => number | undefined) | undefined;
  /** The number of audit records that were lost. */
  readonly auditLost?: (() => number) | undefined;
}

/** What a port holds at a moment. */
export interface PortCounts {
  readonly connections: number;
  /** HTTP/2 connections. */
  readonly sessions: number;
  /** Open HTTP/2 streams. */
  readonly streams: number;
}

/** How long a level that was set through the actuator lasts. */
const LASTING = ["temporary", "held", "permanent"] as const;

/**
 * Adds the gauges of the actuator's state. What needs every logger or node is counted once for each revision, so that scraping an
 * idle application costs nothing.
 */
export function addGauges(metrics: Metrics, sources: GaugeSources): void {
  const { loggers, integrationGraph, health, streams, port, certificateValidTo, auditLost } = sources;

  metrics.gauge(PROCESS_UPTIME, () => process.uptime());
  metrics.gauge(PROCESS_START_TIME, () => performance.timeOrigin / 1000);
  if (health !== undefined) {
    metrics.gauge(HEALTH, () => {
      const now = health.status();
      return health.statuses.map((status) => ({ attributes: { status }, value: status === now ? 1 : 0 }));
    });
  }
  if (streams !== undefined) {
    metrics.gauge(STREAMS, () =>
      Array.from(streams(), ([method, value]) => ({ attributes: { "rpc.method": method }, value })),
    );
  }
  if (port !== undefined) {
    metrics.gauge(CONNECTIONS, () => port()?.connections ?? 0);
    metrics.gauge(HTTP2_SESSIONS, () => port()?.sessions ?? 0);
    metrics.gauge(HTTP2_STREAMS, () => port()?.streams ?? 0);
  }
  if (certificateValidTo !== undefined) {
    metrics.gauge(CERTIFICATE_EXPIRATION, () => {
      const end = certificateValidTo();
      return end === undefined ? [] : end / 1000;
    });
  }
  if (auditLost !== undefined) metrics.gauge(AUDIT_LOST, auditLost);
  if (loggers !== undefined) {
    const counts = onceForEach(
      () => loggers.list().revision,
      () => loggerCounts(loggers.list().loggers),
    );
    metrics.gauge(LOGGERS, () => counts().loggers);
    metrics.gauge(OVERRIDES, () => counts().overrides);
    metrics.gauge(STATE_PROBLEMS, () => loggers.stateProblems.length);
  }
  if (integrationGraph !== undefined) {
    const counts = onceForEach(
      () => integrationGraph.revision,
      () => {
        const { nodes, links } = integrationGraph.snapshot();
        return { nodes: nodes.length, links: links.length };
      },
    );
    metrics.gauge(NODES, () => counts().nodes);
    metrics.gauge(LINKS, () => counts().links);
    metrics.gauge(DROPPED, () => {
      const { nodes, links } = integrationGraph.dropped;
      return [
        { attributes: { element: "node" }, value: nodes },
        { attributes: { element: "link" }, value: links },
      ];
    });
    metrics.gauge(COLLAPSED, () => integrationGraph.collapsed);
  }
}

function loggerCounts(loggers: readonly OverriddenLogger[]): { loggers: number; overrides: ReturnType<GaugeReading> } {
  const counts = { temporary: 0, held: 0, permanent: 0 };
  for (const { override } of loggers) {
    if (override === undefined) continue;
    const lasting = override.expireTime === undefined ? "permanent" : "temporary";
    counts[override.held === true ? "held" : lasting]++;
  }
  const overrides = LASTING.map((lasting) => ({ attributes: { lasting }, value: counts[lasting] }));
  return { loggers: loggers.length, overrides };
}

function onceForEach<T>(revision: () => number, count: () => T): () => T {
  let known: { readonly revision: number; readonly counts: T } | undefined;
  return () => {
    const now = revision();
    if (known?.revision !== now) known = { revision: now, counts: count() };
    return known.counts;
  };
}

const PROCESS_UPTIME: GaugeDescription = {
  name: "process.uptime",
  description: "How long the process has been running.",
  unit: "s",
  additive: false,
};
/** No convention of OpenTelemetry; every client of Prometheus has it under this name. */
const PROCESS_START_TIME: GaugeDescription = {
  name: "process.start_time",
  description: "When the process began, since the epoch.",
  unit: "s",
  additive: false,
};
const HEALTH: GaugeDescription = {
  name: "actuator.health",
  description: "The health as it was last seen: 1 for its status, 0 for all others.",
  unit: "",
  additive: true,
};
const STREAMS = numberOf("actuator.streams", "{stream}", "Open streams of RPC: watches, held levels, measurements.");
const CONNECTIONS = numberOf("actuator.connections", "{connection}", "Open connections to the actuator's own port.");
const HTTP2_SESSIONS = numberOf("actuator.http2.sessions", "{connection}", "Connections that speak HTTP/2.");
const HTTP2_STREAMS = numberOf("actuator.http2.streams", "{stream}", "Open streams of HTTP/2.");
/** Named as cert-manager does, since there is no convention. */
const CERTIFICATE_EXPIRATION: GaugeDescription = {
  name: "actuator.tls.certificate.expiration_timestamp",
  description: "Until when the certificate of the actuator's own port is valid, since the epoch.",
  unit: "s",
  additive: false,
};
const LOGGERS = numberOf("actuator.loggers", "{logger}", "Loggers that are known.");
const OVERRIDES = numberOf(
  "actuator.logger.overrides",
  "{logger}",
  "Loggers with a level that was set through the actuator, by how long it lasts.",
);
const STATE_PROBLEMS = numberOf(
  "actuator.loggers.state.problems",
  "{problem}",
  "What is wrong with the file of loggers.state, such as levels that could not be stored.",
);
const AUDIT_LOST = numberOf(
  "actuator.audit.lost",
  "{record}",
  "Audit records that were given up since the process began, because the file could not be written.",
);
const NODES = numberOf("actuator.graph.nodes", "{node}", "Nodes of the integration graph.");
const LINKS = numberOf("actuator.graph.links", "{link}", "Links of the integration graph.");
const DROPPED = numberOf(
  "actuator.graph.dropped",
  "{element}",
  "How often a node or link was left out of the graph since the process began.",
);
const COLLAPSED = numberOf("actuator.graph.collapsed", "{name}", "Names that share a node of the graph with others.");

function numberOf(name: string, unit: string, description: string): GaugeDescription {
  return { name, unit, description, additive: true };
}
