import { describe, expect, test } from "vitest";
import type { MetricFamily } from "../../../src/operations/metrics/metric.ts";
import { Metrics } from "../../../src/operations/metrics/metrics.ts";
import { prometheusText } from "../../../src/operations/metrics/prometheus-text.ts";
import { prometheusPython, promtoolFaults, promtoolFound, readByPython } from "../../support/prometheus.ts";
import { requirement } from "../../support/requirement.ts";
import { faultsOf, readLines } from "./exposition.ts";
import { callRecord, OPERATIONS, ROUTES, restRecord } from "./records.ts";

const FORMATS = ["text", "openmetrics"] as const;
const NASTY = 'a\\b"c\nd{e}=,é😀';

/** One of each kind, with all that is hard to write. */
const families: readonly MetricFamily[] = [
  {
    type: "counter",
    name: "shop.orders",
    description: 'Orders; \\ and "quotes"\nand a second line.',
    unit: "{order}",
    points: [
      { attributes: { "payment.kind": NASTY }, value: 3 },
      { attributes: { "payment.kind": "" }, value: 1e21 },
    ],
  },
  {
    type: "gauge",
    additive: false,
    name: "shop.temperature",
    description: "How warm it is.",
    unit: "",
    points: numbers(),
  },
  {
    type: "histogram",
    name: "shop.wait",
    description: "How long people wait.",
    unit: "s",
    boundaries: [0.005, 1, 10],
    points: [
      { attributes: { queue: "a" }, counts: [1, 0, 2, 1], count: 4, sum: 40.25 },
      { attributes: { queue: "b" }, counts: [0, 0, 0, 0], count: 0, sum: 0 },
    ],
  },
  {
    type: "gauge",
    additive: true,
    name: "shop.size_bytes",
    description: "Bytes.",
    unit: "By",
    points: [{ attributes: {}, value: 7 }],
  },
  { type: "counter", name: "shop.nothing", description: "Nothing yet.", unit: "", points: [] },
];

function numbers() {
  const values = { nan: Number.NaN, above: Number.POSITIVE_INFINITY, below: Number.NEGATIVE_INFINITY, small: -1.5e-9 };
  return Object.entries(values).map(([of, value]) => ({ attributes: { of }, value }));
}

/** All that an actuator has after a few calls. */
function served(): readonly MetricFamily[] {
  const metrics = new Metrics({ operations: OPERATIONS, routes: ROUTES, basePath: "/actuator" });
  metrics.observe(callRecord());
  metrics.observe(callRecord({ code: "UNAVAILABLE", durationMs: 12_345 }));
  metrics.observe(restRecord({ durationMs: 0.4 }));
  metrics.observe(restRecord({ code: "CANCELLED" }, { status: undefined }));
  const path = "/../../etc/passwd";
  metrics.observe(restRecord({ operation: path, code: "NOT_FOUND" }, { method: "BREW", route: path, status: 404 }));
  metrics.gauge({ name: "actuator.streams", description: "Open streams.", unit: "{stream}", additive: true }, () => 2);
  return metrics.collect();
}

test("the older text is written to the letter", () => {
  expect(prometheusText(families, "text").split("\n")).toEqual([
    '# HELP shop_orders_total Orders; \\\\ and "quotes"\\nand a second line.',
    "# TYPE shop_orders_total counter",
    'shop_orders_total{payment_kind="a\\\\b\\"c\\nd{e}=,é😀"} 3',
    'shop_orders_total{payment_kind=""} 1e+21',
    "# HELP shop_temperature How warm it is.",
    "# TYPE shop_temperature gauge",
    'shop_temperature{of="nan"} NaN',
    'shop_temperature{of="above"} +Inf',
    'shop_temperature{of="below"} -Inf',
    'shop_temperature{of="small"} -1.5e-9',
    "# HELP shop_wait_seconds How long people wait.",
    "# TYPE shop_wait_seconds histogram",
    'shop_wait_seconds_bucket{queue="a",le="0.005"} 1',
    'shop_wait_seconds_bucket{queue="a",le="1.0"} 1',
    'shop_wait_seconds_bucket{queue="a",le="10.0"} 3',
    'shop_wait_seconds_bucket{queue="a",le="+Inf"} 4',
    'shop_wait_seconds_sum{queue="a"} 40.25',
    'shop_wait_seconds_count{queue="a"} 4',
    'shop_wait_seconds_bucket{queue="b",le="0.005"} 0',
    'shop_wait_seconds_bucket{queue="b",le="1.0"} 0',
    'shop_wait_seconds_bucket{queue="b",le="10.0"} 0',
    'shop_wait_seconds_bucket{queue="b",le="+Inf"} 0',
    'shop_wait_seconds_sum{queue="b"} 0',
    'shop_wait_seconds_count{queue="b"} 0',
    "# HELP shop_size_bytes Bytes.",
    "# TYPE shop_size_bytes gauge",
    "shop_size_bytes 7",
    "",
  ]);
});

test("OpenMetrics differs in the names of counters, in units, in escapes and in its end", () => {
  const text = prometheusText(families, "openmetrics").split("\n");
  const older = prometheusText(families, "text").split("\n");
  expect(text.filter((line) => !older.includes(line))).toEqual([
    '# HELP shop_orders Orders; \\\\ and \\"quotes\\"\\nand a second line.',
    "# TYPE shop_orders counter",
    "# UNIT shop_wait_seconds seconds",
    "# UNIT shop_size_bytes bytes",
    "# EOF",
  ]);
});

test.each([
  ["http.server.request.duration", "http_server_request_duration"],
  ["9lives", "_9lives"],
  ["größe:x", "gr__e_x"],
  ["", "_"],
])("the name %j becomes %j", (name, expected) => {
  const family = {
    type: "gauge",
    additive: true,
    description: "",
    unit: "",
    points: [{ attributes: { [name]: "" }, value: 1 }],
  } as const;
  expect(prometheusText([{ ...family, name }], "text").split("\n")[2]).toBe(`${expected}{${expected}=""} 1`);
});

describe.each(FORMATS)("the text in the format %s", (format) => {
  test.each([
    ["of everything hard", families],
    ["of an actuator", served()],
    ["of nothing", []],
  ])("%s keeps the grammar", (_, all) => {
    const text = prometheusText(all, format);
    if (text === "") return;
    expect(readLines(text).length).toBeGreaterThan(0);
    expect(faultsOf(text, format)).toEqual([]);
  });
});

test("the test of the grammar sees what is wrong", () => {
  const wrong = prometheusText(families, "openmetrics").replace('le="10.0"} 3', 'le="10.0"} 0').replace("# EOF\n", "");
  expect(faultsOf(wrong, "openmetrics")).toHaveLength(2);
  expect(() => readLines('a{b="c"d"} 1\n')).toThrow("no line of the format");
});

describe.runIf(requirement("promtool", promtoolFound))("promtool", () => {
  test("finds no fault in the metrics of an actuator", () => {
    expect(promtoolFaults(prometheusText(served(), "text"))).toBe("");
  });

  test("reads everything hard", () => {
    expect(promtoolFaults(prometheusText(families, "text"))).not.toMatch(/error while linting|parse/i);
    expect(promtoolFaults('a{b="c} 1\n')).toMatch(/error while linting/);
  });
});

describe.runIf(requirement("prometheus-client for Python", prometheusPython !== undefined))(
  "Prometheus's client for Python",
  () => {
    test.each(FORMATS)("reads back in the format %s what was written", (format) => {
      const read = readByPython(prometheusText(families, format), format);
      const total = read.filter(({ name }) => name === "shop_orders_total");
      expect(total).toMatchObject([
        { family: "shop_orders", type: "counter", labels: { payment_kind: NASTY }, value: "3.0" },
        { family: "shop_orders", type: "counter", labels: { payment_kind: "" }, value: "1e+21" },
      ]);
      expect(total[0]!.help).toBe('Orders; \\ and "quotes"\nand a second line.');
      const values = read.filter(({ name }) => name === "shop_temperature").map(({ value }) => value);
      expect(values).toEqual(["nan", "inf", "-inf", "-1.5e-09"]);
      const buckets = read.filter(({ name, labels }) => name === "shop_wait_seconds_bucket" && labels.queue === "a");
      expect(buckets.map(({ labels, value }) => [labels.le, value])).toEqual([
        ["0.005", "1.0"],
        ["1.0", "1.0"],
        ["10.0", "3.0"],
        ["+Inf", "4.0"],
      ]);
      if (format === "openmetrics") expect(buckets[0]).toMatchObject({ family: "shop_wait_seconds", unit: "seconds" });
    });

    test.each(FORMATS)("takes the metrics of an actuator in the format %s", (format) => {
      const names = new Set(readByPython(prometheusText(served(), format), format).map(({ family }) => family));
      expect(names).toEqual(
        new Set([
          "actuator_calls",
          "actuator_logins_refused",
          "actuator_errors",
          "http_server_request_duration_seconds",
          "rpc_server_call_duration_seconds",
          "actuator_streams",
        ]),
      );
    });
  },
);
