import { expect, test } from "vitest";
import { checkOptions } from "../../../src/common/options.ts";
import type { CallRecord } from "../../../src/operations/calls/call-record.ts";
import { DURATION_BOUNDARIES } from "../../../src/operations/metrics/conventions.ts";
import { Metrics } from "../../../src/operations/metrics/metrics.ts";
import { METRICS } from "../../../src/operations/metrics/options.ts";
import { callRecord, OPERATIONS, ROUTES, restRecord } from "./records.ts";

function metricsOf(records: readonly Partial<CallRecord>[], settings: { durationBuckets?: readonly number[] } = {}) {
  const metrics = new Metrics({ operations: OPERATIONS, routes: ROUTES, basePath: "/actuator", ...settings });
  for (const record of records) metrics.observe(callRecord(record));
  return metrics;
}

function pointsOf(metrics: Metrics, name: string) {
  return metrics.collect().find((family) => family.name === name)?.points;
}

test("calls are counted by protocol, operation and code", () => {
  const metrics = metricsOf([{}, {}, { code: "NOT_FOUND" }, { protocol: "rest", operation: "GET /loggers/{name}" }]);
  const operation = "actuator.v3.LoggersService/SetLoggerLevel";
  expect(pointsOf(metrics, "actuator.calls")).toEqual([
    { attributes: { protocol: "grpc", operation, code: "OK" }, value: 2 },
    { attributes: { protocol: "grpc", operation, code: "NOT_FOUND" }, value: 1 },
    { attributes: { protocol: "rest", operation: "GET /loggers/{name}", code: "OK" }, value: 1 },
  ]);
});

test("calls that differ only in what HTTP says of them are counted together, and measured apart", () => {
  const metrics = metricsOf([restRecord(), restRecord({}, { status: 304 }), restRecord({}, { method: "HEAD" })]);
  const attributes = { protocol: "rest", operation: "GET /loggers/{name}", code: "OK" };
  expect(pointsOf(metrics, "actuator.calls")).toEqual([{ attributes, value: 3 }]);
  expect(pointsOf(metrics, "http.server.request.duration")).toMatchObject([{ count: 1 }, { count: 1 }, { count: 1 }]);
});

test("refused logins are counted from nought on, so that the first one is seen as an increase", () => {
  const refused = (records: readonly Partial<CallRecord>[]) => pointsOf(metricsOf(records), "actuator.logins.refused");
  expect(refused([])).toEqual([{ attributes: {}, value: 0 }]);
  expect(refused([{ code: "UNAUTHENTICATED" }, { code: "PERMISSION_DENIED" }])).toEqual([{ attributes: {}, value: 1 }]);
});

test("errors are counted from nought on", () => {
  const metrics = metricsOf([]);
  const errors = () => pointsOf(metrics, "actuator.errors");
  expect(errors()).toEqual([{ attributes: {}, value: 0 }]);
  metrics.observeError();
  expect(errors()).toEqual([{ attributes: {}, value: 1 }]);
});

test.each<[Partial<CallRecord>, string, Record<string, string | number>]>([
  [
    {},
    "rpc.server.call.duration",
    {
      "rpc.system.name": "grpc",
      "rpc.method": "actuator.v3.LoggersService/SetLoggerLevel",
      "rpc.response.status_code": "OK",
    },
  ],
  [
    { protocol: "grpc-web", operation: "no.Such/Method", code: "UNIMPLEMENTED" },
    "rpc.server.call.duration",
    {
      "rpc.system.name": "grpc",
      "rpc.method": "_OTHER",
      "rpc.response.status_code": "UNIMPLEMENTED",
      "error.type": "UNIMPLEMENTED",
    },
  ],
  [
    { protocol: "connect", code: "INVALID_ARGUMENT" },
    "rpc.server.call.duration",
    {
      "rpc.system.name": "connectrpc",
      "rpc.method": "actuator.v3.LoggersService/SetLoggerLevel",
      "rpc.response.status_code": "INVALID_ARGUMENT",
    },
  ],
  [
    restRecord({ code: "UNAVAILABLE" }, { status: 503 }),
    "http.server.request.duration",
    {
      "http.request.method": "GET",
      "http.route": "/actuator/loggers/{name}",
      "http.response.status_code": 503,
      "error.type": "503",
      "url.scheme": "http",
    },
  ],
  [
    restRecord({ operation: "GET /" }, { method: "HEAD", route: "", scheme: "https" }),
    "http.server.request.duration",
    {
      "http.request.method": "HEAD",
      "http.route": "/actuator",
      "http.response.status_code": 200,
      "url.scheme": "https",
    },
  ],
  [
    restRecord({ protocol: "otlp", operation: "POST /v1/traces" }, { method: "POST", route: "/v1/traces" }),
    "http.server.request.duration",
    {
      "http.request.method": "POST",
      "http.route": "/v1/traces",
      "http.response.status_code": 200,
      "url.scheme": "http",
    },
  ],
  [
    restRecord({ operation: "", code: "NOT_FOUND" }, { method: "BREW", route: "/coffee", status: 404 }),
    "http.server.request.duration",
    { "http.request.method": "_OTHER", "http.response.status_code": 404, "url.scheme": "http" },
  ],
  [
    restRecord({ code: "UNAVAILABLE" }, { status: undefined }),
    "http.server.request.duration",
    {
      "http.request.method": "GET",
      "http.route": "/actuator/loggers/{name}",
      "error.type": "UNAVAILABLE",
      "url.scheme": "http",
    },
  ],
  [
    restRecord({ code: "CANCELLED" }, { method: "POST", status: undefined }),
    "http.server.request.duration",
    { "http.request.method": "POST", "http.route": "/actuator/loggers/{name}", "url.scheme": "http" },
  ],
])("a call %j is measured by the semantic conventions, as %s", (record, name, attributes) => {
  const metrics = metricsOf([record]);
  const [point, ...others] = metrics
    .durations()
    .flatMap(({ name, points }) => points.map((point) => ({ name, point })));
  expect(others).toEqual([]);
  expect(point).toMatchObject({ name, point: { attributes, count: 1 } });
  expect(Object.keys(point!.point.attributes)).toEqual(Object.keys(attributes));
});

test("durations are in seconds, a boundary belongs to the bucket below it, and buckets are those of the conventions", () => {
  const metrics = metricsOf([{ durationMs: 0 }, { durationMs: 5 }, { durationMs: 5.1 }, { durationMs: 3_600_000 }]);
  const [histogram] = metrics.durations().flatMap(({ points }) => points);
  const counts = [2, 1, ...new Array(DURATION_BOUNDARIES.length - 2).fill(0), 1];
  expect(histogram).toMatchObject({ counts, count: 4, sum: 3600.0101 });
});

test.each([Number.NaN, -1, Number.POSITIVE_INFINITY])("a call of %d ms is counted and not measured", (durationMs) => {
  const metrics = metricsOf([{ durationMs }]);
  expect(pointsOf(metrics, "actuator.calls")).toHaveLength(1);
  expect(metrics.durations().flatMap(({ points }) => points.map(({ count }) => count))).toEqual([0]);
});

test("whatever callers ask for, there are no more series than operations, protocols and codes", () => {
  const hostile = Array.from({ length: 10_000 }, (_, index) => ({
    operation: `GET /${index}`,
    protocol: `p${index}` as "rest",
    code: `C${index}` as "OK",
    http: { method: `M${index}`, route: `/${index}`, scheme: "http" as const, status: 404 },
  }));
  const metrics = metricsOf(hostile);
  expect(pointsOf(metrics, "actuator.calls")).toEqual([
    { attributes: { protocol: "rest", operation: "_OTHER", code: "UNKNOWN" }, value: 10_000 },
  ]);
  expect(pointsOf(metrics, "http.server.request.duration")).toHaveLength(1);
});

test("gauges are read when somebody collects, and one that fails is left out", () => {
  const metrics = metricsOf([]);
  let reads = 0;
  const about = { description: "", unit: "", additive: true };
  const remove = metrics.gauge({ ...about, name: "a" }, () => ++reads);
  metrics.gauge({ ...about, name: "b" }, () => {
    throw new Error("not now");
  });
  metrics.gauge({ ...about, name: "c" }, () => [{ attributes: { of: "x" }, value: 2 }]);
  expect(reads).toBe(0);
  const read = () => metrics.gauges().map(({ name, points }) => [name, points]);
  const c = ["c", [{ attributes: { of: "x" }, value: 2 }]];
  expect(read()).toEqual([["a", [{ attributes: {}, value: 1 }]], c]);
  expect(read()[0]).toEqual(["a", [{ attributes: {}, value: 2 }]]);
  expect(() => metrics.gauge({ ...about, name: "c" }, () => 0)).toThrow("the gauge c exists already");
  remove();
  expect(read()).toEqual([c]);
});

test("who listens to durations hears of every call until they stop", () => {
  const metrics = metricsOf([]);
  const heard: [string, number][] = [];
  const stop = metrics.onDuration(({ metric }, seconds) => heard.push([metric.name, seconds]));
  metrics.observe(callRecord({ durationMs: 250 }));
  stop();
  metrics.observe(callRecord());
  expect(heard).toEqual([["rpc.server.call.duration", 0.25]]);
});

test("buckets can be chosen", () => {
  const [family] = metricsOf([{ durationMs: 700 }], { durationBuckets: [0.5, 1] })
    .durations()
    .filter(({ points }) => points.length > 0);
  expect(family).toMatchObject({ boundaries: [0.5, 1], points: [{ counts: [0, 1, 0] }] });
});

test.each([[[]], [[0]], [[1, 1]], [[2, 1]], [["1"]], [Array.from({ length: 51 }, (_, index) => index + 1)], ["1"]])(
  "buckets %j are refused",
  (durationBuckets) => {
    const check = () => checkOptions("metrics", { durationBuckets }, METRICS);
    expect(check).toThrow(/^metrics.durationBuckets must be a list of at most 50 numbers of seconds above 0/);
  },
);
