import { expect, test } from "vitest";
import { integrationGraph } from "../../../src/integration-graph/builder.ts";
import { Loggers } from "../../../src/loggers/loggers.ts";
import { HEALTH_STATUSES } from "../../../src/operations/health/health-status.ts";
import { addGauges, type GaugeSources } from "../../../src/operations/metrics/gauges.ts";
import { Metrics } from "../../../src/operations/metrics/metrics.ts";
import { prometheusText } from "../../../src/operations/metrics/prometheus-text.ts";
import { promtoolFaults, promtoolFound } from "../../support/prometheus.ts";
import { requirement } from "../../support/requirement.ts";

function gaugesOf(sources: GaugeSources) {
  const metrics = new Metrics({ operations: [] });
  addGauges(metrics, sources);
  return () => {
    const points = metrics.gauges().map(({ name, points }) => {
      return [name, points.map(({ attributes, value }) => [...Object.values(attributes), value].join(" "))] as const;
    });
    return Object.fromEntries(points);
  };
}

test("the process tells since when it runs", () => {
  const read = gaugesOf({})();
  expect(Object.keys(read)).toEqual(["process.uptime", "process.start_time"]);
  const [uptime, start] = Object.values(read).map(([value]) => Number(value));
  expect(Math.abs(start! + uptime! - Date.now() / 1000)).toBeLessThan(5);
});

test("levels are counted by how long they last", () => {
  const loggers = new Loggers({ groups: { web: ["http", "sockets"] } });
  const read = gaugesOf({ loggers });
  expect(read()).toMatchObject({
    "actuator.loggers": ["1"],
    "actuator.logger.overrides": ["temporary 0", "held 0", "permanent 0"],
  });
  loggers.setLevel("orders", "WARN");
  loggers.setLevel("web", "DEBUG", { ttlMs: 60 });
  const { lease } = loggers.holdLevel("db", "TRACE");
  const counted = { "actuator.loggers": ["5"], "actuator.logger.overrides": ["temporary 2", "held 1", "permanent 1"] };
  expect(read()).toMatchObject(counted);
  lease.release("CLOSED");
  loggers.setLevel("http", undefined);
  expect(read()).toMatchObject({ "actuator.logger.overrides": ["temporary 1", "held 0", "permanent 1"] });
});

test("loggers and the graph are looked through once for each revision", () => {
  const loggers = new Loggers();
  const { graph } = integrationGraph({ app: "shop" });
  let snapshots = 0;
  const counted = {
    get revision() {
      return graph.revision;
    },
    dropped: { nodes: 0, links: 0 },
    collapsed: 0,
    snapshot() {
      snapshots++;
      return graph.snapshot();
    },
  };
  const read = gaugesOf({ loggers, integrationGraph: counted });
  const before = Number(read()["actuator.graph.nodes"]);
  read();
  expect(snapshots).toBe(1);
  const orders = graph.declare({ name: "orders", pattern: "message_channel" });
  const handler = graph.declare({ name: "handler", pattern: "service_activator" });
  const links = Number(read()["actuator.graph.links"]);
  graph.link(orders, "input", handler);
  expect(read()).toMatchObject({ "actuator.graph.nodes": [`${before + 2}`], "actuator.graph.links": [`${links + 1}`] });
  expect(snapshots).toBe(3);
});

test("the health is one of its statuses", () => {
  let status = "UP";
  const read = gaugesOf({ health: { statuses: HEALTH_STATUSES, status: () => status } });
  expect(read()["actuator.health"]).toEqual(["DOWN 0", "OUT_OF_SERVICE 0", "UP 1", "UNKNOWN 0"]);
  status = "DOWN";
  expect(read()["actuator.health"]).toEqual(["DOWN 1", "OUT_OF_SERVICE 0", "UP 0", "UNKNOWN 0"]);
});

test("a port that is not there holds nothing", () => {
  let counts: ReturnType<NonNullable<GaugeSources["port"]>>;
  const read = gaugesOf({ port: () => counts });
  const names = ["actuator.connections", "actuator.http2.sessions", "actuator.http2.streams"];
  const values = () => names.map((name) => read()[name]![0]);
  expect(values()).toEqual(["0", "0", "0"]);
  counts = { connections: 5, sessions: 2, streams: 7 };
  expect(values()).toEqual(["5", "2", "7"]);
});

test("streams are told by method, also of methods that have none", () => {
  const read = gaugesOf({ streams: () => new Map(Object.entries({ "a.B/Watch": 3, "a.B/Hold": 0 })) });
  expect(read()["actuator.streams"]).toEqual(["a.B/Watch 3", "a.B/Hold 0"]);
});

test("the end of a certificate is told in seconds, and not at all where there is none", () => {
  let end: number | undefined;
  const read = gaugesOf({ certificateValidTo: () => end });
  const name = "actuator.tls.certificate.expiration_timestamp";
  expect(read()[name]).toEqual([]);
  end = Date.UTC(2030, 0, 1);
  expect(read()[name]).toEqual(["1893456000"]);
});

test.runIf(requirement("promtool", promtoolFound))("promtool finds no fault in the names of the gauges", () => {
  const metrics = new Metrics({ operations: [] });
  const { graph } = integrationGraph({ app: "shop" });
  const health = { statuses: HEALTH_STATUSES, status: () => "UP" };
  addGauges(metrics, {
    loggers: new Loggers(),
    integrationGraph: graph,
    health,
    streams: () => new Map([["a.B/Watch", 1]]),
    port: () => undefined,
    certificateValidTo: () => 1,
  });
  expect(promtoolFaults(prometheusText(metrics.gauges(), "text"))).toBe("");
});
