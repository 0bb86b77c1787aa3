import type { Attributes, HistogramFamily, MetricFamily } from "./metric.ts";

/** The two texts that scrapers ask for: Prometheus's own of version 0.0.4, and OpenMetrics 1.0. */
export type PrometheusFormat = "text" | "openmetrics";

/** What units are called in names. A unit that is not listed, such as `{call}`, is left out. */
const UNITS: Readonly<Record<string, string>> = { s: "seconds", By: "bytes" };

/**
 * Metrics as a scraper of Prometheus reads them. Names follow from OpenTelemetry's as its compatibility rules say:
 * `rpc.server.call.duration` in `s` becomes `rpc_server_call_duration_seconds`, a counter ends in `_total`. A metric
 * without a series is left out.
 *
 * @see https://prometheus.io/docs/instrumenting/exposition_formats/
 * @see https://prometheus.io/docs/specs/om/open_metrics_spec/
 * @see https://opentelemetry.io/docs/specs/otel/compatibility/prometheus_and_openmetrics/
 */
export function prometheusText(families: readonly MetricFamily[], format: PrometheusFormat): string {
  const lines: string[] = [];
  for (const family of families) {
    if (family.points.length === 0) continue;
    lines.push(...headLines(family, format));
    for (const line of sampleLines(family)) lines.push(line);
  }
  if (format === "openmetrics") lines.push("# EOF");
  return lines.length === 0 ? "" : `${lines.join("\n")}\n`;
}

function headLines(family: MetricFamily, format: PrometheusFormat): string[] {
  const { type, description } = family;
  const unit = UNITS[family.unit];
  // In OpenMetrics the suffix belongs to the sample; in the older text a metric is what its samples are called.
  const name = type === "counter" && format === "text" ? `${metricName(family)}_total` : metricName(family);
  const head = [`# HELP ${name} ${escapeHelp(description, format)}`, `# TYPE ${name} ${type}`];
  return unit !== undefined && format === "openmetrics" ? [...head, `# UNIT ${name} ${unit}`] : head;
}

function sampleLines(family: MetricFamily): string[] {
  const name = metricName(family);
  if (family.type === "histogram") return histogramLines(name, family);
  const suffix = family.type === "counter" ? "_total" : "";
  return family.points.map(({ attributes, value }) => sample(name + suffix, labelsText(attributes), value));
}

function histogramLines(name: string, { boundaries, points }: HistogramFamily): string[] {
  const limits = [...boundaries.map(canonical), "+Inf"].map((limit) => `le="${limit}"`);
  return points.flatMap(({ attributes, counts, count, sum }) => {
    const labels = labelsText(attributes);
    const before = labels === "" ? "" : `${labels},`;
    let below = 0;
    const buckets = limits.map((limit, index) => {
      below += counts[index]!;
      return sample(`${name}_bucket`, before + limit, below);
    });
    return [...buckets, sample(`${name}_sum`, labels, sum), sample(`${name}_count`, labels, count)];
  });
}

function sample(name: string, labels: string, value: number): string {
  return labels === "" ? `${name} ${numberText(value)}` : `${name}{${labels}} ${numberText(value)}`;
}

function labelsText(attributes: Attributes): string {
  return Object.entries(attributes)
    .map(([key, value]) => `${identifier(key)}="${escapeLabel(String(value))}"`)
    .join(",");
}

function metricName({ name, unit }: MetricFamily): string {
  const plain = identifier(name);
  const suffix = UNITS[unit];
  return suffix === undefined || plain.endsWith(`_${suffix}`) ? plain : `${plain}_${suffix}`;
}

/** Letters, digits and underscores, not beginning with a digit. */
function identifier(name: string): string {
  return name.replace(/[^A-Za-z0-9_]/g, "_").replace(/^(?=[0-9]|$)/, "_");
}

/** OpenMetrics wants a boundary to look like a float; said the same in both texts, a bucket is the same series in both. */
function canonical(boundary: number): string {
  return Number.isInteger(boundary) && Math.abs(boundary) < 1e21 ? `${boundary}.0` : numberText(boundary);
}

function numberText(value: number): string {
  if (value === Number.POSITIVE_INFINITY) return "+Inf";
  return value === Number.NEGATIVE_INFINITY ? "-Inf" : String(value);
}

const ESCAPED: Readonly<Record<string, string>> = { "\\": "\\\\", "\n": "\\n", '"': '\\"' };

function escapeLabel(text: string): string {
  return text.replace(/[\\\n"]/g, (character) => ESCAPED[character]!);
}

function escapeHelp(text: string, format: PrometheusFormat): string {
  return format === "openmetrics" ? escapeLabel(text) : text.replace(/[\\\n]/g, (character) => ESCAPED[character]!);
}
