import { type MeterProvider as ApiMeterProvider, metrics as api, createNoopMeter } from "@opentelemetry/api";
import {
  AggregationTemporality,
  DataPointType,
  InMemoryMetricExporter,
  MeterProvider,
  type MetricData,
  PeriodicExportingMetricReader,
} from "@opentelemetry/sdk-metrics";
import { expect, onTestFinished, test } from "vitest";
import { openTelemetryMetrics } from "../../../../src/adapters/metrics/opentelemetry/index.ts";
import { HEALTH_STATUSES } from "../../../../src/operations/health/health-status.ts";
import { DURATION_BOUNDARIES } from "../../../../src/operations/metrics/conventions.ts";
import { addGauges } from "../../../../src/operations/metrics/gauges.ts";
import { Metrics } from "../../../../src/operations/metrics/metrics.ts";
import { callRecord, OPERATIONS, ROUTES, restRecord } from "../../../operations/metrics/records.ts";

const OPERATION = "actuator.v3.LoggersService/SetLoggerLevel";

/** The SDK with a reader that exports when the test says so, into memory. */
function sdk() {
  const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 1_000_000 });
  const meterProvider = new MeterProvider({ readers: [reader] });
  onTestFinished(() => meterProvider.shutdown());
  return {
    meterProvider,
    /** What is exported now, by name. */
    async read(): Promise<Readonly<Record<string, MetricData>>> {
      exporter.reset();
      await reader.forceFlush();
      const scopes = exporter.getMetrics().flatMap(({ scopeMetrics }) => scopeMetrics);
      expect(scopes.every(({ scope }) => scope.name === "connect-actuator")).toBe(true);
      const all = scopes.flatMap(({ metrics }) => metrics);
      return Object.fromEntries(all.map((metric) => [metric.descriptor.name, metric]));
    },
  };
}

function books() {
  return new Metrics({ operations: OPERATIONS, routes: ROUTES, basePath: "/actuator" });
}

function valuesOf(metric: MetricData | undefined) {
  return metric?.dataPoints.map(({ attributes, value }) => [...Object.values(attributes), value]);
}

test("calls are counted and measured with the names, units and buckets of the conventions", async () => {
  const { meterProvider, read } = sdk();
  const metrics = books();
  metrics.observe(callRecord());
  openTelemetryMetrics(metrics, { meterProvider });
  metrics.observe(callRecord({ durationMs: 7 }));
  metrics.observe(callRecord({ code: "UNAUTHENTICATED", durationMs: 2_000 }));
  const exported = await read();
  expect(valuesOf(exported["actuator.calls"])).toEqual([
    ["grpc", OPERATION, "OK", 2],
    ["grpc", OPERATION, "UNAUTHENTICATED", 1],
  ]);
  expect(exported["actuator.calls"]).toMatchObject({
    dataPointType: DataPointType.SUM,
    isMonotonic: true,
    descriptor: { unit: "{call}" },
  });
  expect(valuesOf(exported["actuator.logins.refused"])).toEqual([[1]]);
  const durations = exported["rpc.server.call.duration"];
  expect(durations).toMatchObject({ dataPointType: DataPointType.HISTOGRAM, descriptor: { unit: "s" } });
  expect(durations?.dataPoints).toMatchObject([
    {
      attributes: { "rpc.system.name": "grpc", "rpc.method": OPERATION, "rpc.response.status_code": "OK" },
      value: { sum: 0.007, count: 1, buckets: { boundaries: DURATION_BOUNDARIES } },
    },
    { value: { sum: 2, count: 1 } },
  ]);
});

test("gauges are read when a reader collects, and told apart by whether they add up", async () => {
  const { meterProvider, read } = sdk();
  const metrics = books();
  let streams = 1;
  addGauges(metrics, {
    health: { statuses: HEALTH_STATUSES, status: () => "UP" },
    streams: () => new Map([["a.B/Watch", streams]]),
  });
  openTelemetryMetrics({ metrics }, { meterProvider });
  streams = 4;
  const exported = await read();
  expect(exported["actuator.streams"]).toMatchObject({ dataPointType: DataPointType.SUM, isMonotonic: false });
  expect(valuesOf(exported["actuator.streams"])).toEqual([["a.B/Watch", 4]]);
  expect(exported["process.uptime"]).toMatchObject({ dataPointType: DataPointType.GAUGE, descriptor: { unit: "s" } });
  expect(valuesOf(exported["actuator.health"])).toEqual([
    ["DOWN", 0],
    ["OUT_OF_SERVICE", 0],
    ["UP", 1],
    ["UNKNOWN", 0],
  ]);
  streams = 0;
  expect(valuesOf((await read())["actuator.streams"])).toEqual([["a.B/Watch", 0]]);
});

test.each([
  [undefined, false],
  [true, true],
])("durations over REST are recorded only where asked for: httpDurations %s", async (httpDurations, recorded) => {
  const { meterProvider, read } = sdk();
  const metrics = books();
  openTelemetryMetrics(metrics, { meterProvider, httpDurations });
  metrics.observe(restRecord());
  const exported = await read();
  expect(valuesOf(exported["actuator.calls"])).toEqual([["rest", "GET /loggers/{name}", "OK", 1]]);
  const attributes = {
    "http.request.method": "GET",
    "http.route": "/actuator/loggers/{name}",
    "http.response.status_code": 200,
    "url.scheme": "http",
  };
  const points = recorded ? [{ attributes, value: { count: 1 } }] : [];
  expect(exported["http.server.request.duration"]?.dataPoints ?? []).toMatchObject(points);
});

test("several readers read the same, and when it has ended nothing new", async () => {
  const { meterProvider, read } = sdk();
  const other = sdk();
  const metrics = books();
  const end = openTelemetryMetrics(metrics, { meterProvider });
  openTelemetryMetrics(metrics, { meterProvider: other.meterProvider });
  metrics.observe(callRecord());
  expect(valuesOf((await read())["actuator.calls"])).toEqual([["grpc", OPERATION, "OK", 1]]);
  expect(valuesOf((await other.read())["actuator.calls"])).toEqual([["grpc", OPERATION, "OK", 1]]);
  end();
  metrics.observe(callRecord());
  const after = await read();
  // The SDK goes on exporting what it has read last.
  expect(valuesOf(after["actuator.calls"])).toEqual([["grpc", OPERATION, "OK", 1]]);
  expect(after["rpc.server.call.duration"]?.dataPoints).toMatchObject([{ value: { count: 1 } }]);
  expect(valuesOf((await other.read())["actuator.calls"])).toEqual([["grpc", OPERATION, "OK", 2]]);
});

test("the global provider is taken where none is passed", async () => {
  const { meterProvider, read } = sdk();
  const metrics = books();
  expect(() => openTelemetryMetrics(metrics)).toThrow("there is no global meter provider yet");
  api.setGlobalMeterProvider(meterProvider);
  onTestFinished(() => api.disable());
  openTelemetryMetrics(metrics);
  metrics.observe(callRecord());
  expect(valuesOf((await read())["actuator.calls"])).toEqual([["grpc", OPERATION, "OK", 1]]);
});

test("a provider that does nothing does no harm", () => {
  const metrics = books();
  const meterProvider: ApiMeterProvider = { getMeter: () => createNoopMeter() };
  const end = openTelemetryMetrics(metrics, { meterProvider });
  metrics.observe(callRecord());
  expect(end).not.toThrow();
});

test.each([
  [{ metrics: undefined }, {}, "FAILED_PRECONDITION", "the actuator has no metrics; createActuator({ metrics: true })"],
  [books(), { meterProvider: 1 }, "INVALID_ARGUMENT", "openTelemetryMetrics.meterProvider must be a meter provider"],
  [
    books(),
    { meter: 1 },
    "INVALID_ARGUMENT",
    'Unknown option "openTelemetryMetrics.meter"; did you mean "meterProvider"?',
  ],
])("what cannot work is refused: %#", (source, options, code, message) => {
  const register = () => openTelemetryMetrics(source, options as object);
  expect(register).toThrow(expect.objectContaining({ code, message: expect.stringContaining(message) }));
});
