import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { integrationGraph } from "../../../src/integration-graph/builder.ts";
import { Loggers } from "../../../src/loggers/loggers.ts";
import { HEALTH_STATUSES } from "../../../src/operations/health/health-status.ts";
import { addGauges } from "../../../src/operations/metrics/gauges.ts";
import { Metrics } from "../../../src/operations/metrics/metrics.ts";
import { prometheusText } from "../../../src/operations/metrics/prometheus-text.ts";
import { promtoolFound } from "../../support/prometheus.ts";
import { requirement } from "../../support/requirement.ts";
import { readLines } from "./exposition.ts";
import { callRecord, OPERATIONS, ROUTES, restRecord } from "./records.ts";

const page = readFileSync(join(import.meta.dirname, "../../../docs/operation.md"), "utf8");

test("the table of metrics has every name and every label that there is", () => {
  const metrics = new Metrics({ operations: OPERATIONS, routes: ROUTES });
  metrics.observe(callRecord({ code: "UNAVAILABLE" }));
  metrics.observe(restRecord({ code: "UNAVAILABLE" }, { status: 503 }));
  addGauges(metrics, {
    loggers: new Loggers(),
    integrationGraph: integrationGraph({ app: "shop" }).graph,
    health: { statuses: HEALTH_STATUSES, status: () => "UP" },
    streams: () => new Map([["a.B/Watch", 1]]),
    port: () => undefined,
    certificateValidTo: () => 1,
    auditLost: () => 0,
  });
  const table = page.split("\n").filter((line) => /^\| `(actuator|http|process|rpc)_/.test(line));
  const documented = table.flatMap((row) => {
    const [, names, , labels] = row
      .split("|")
      .map((cell) => Array.from(cell.matchAll(/`([a-z0-9_]+)`/g), ([, name]) => name!));
    const own = labels!.filter((label) => !["temporary", "held", "permanent", "node", "link"].includes(label));
    return names!.map((name) => `${name} ${own.join(",")}`.trim());
  });
  const served = new Set<string>();
  for (const line of readLines(prometheusText(metrics.collect(), "text"))) {
    if (line.kind !== "sample") continue;
    const labels = [...line.labels.keys()].filter((label) => label !== "le");
    served.add(`${line.name.replace(/_(bucket|sum|count)$/, "")} ${labels.join(",")}`.trim());
  }
  expect(documented.sort()).toEqual([...served].sort());
});

test.runIf(requirement("promtool", promtoolFound))(
  "Prometheus takes the configuration and the rules of the page",
  () => {
    const folder = mkdtempSync(join(tmpdir(), "connect-actuator-prometheus-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const token = join(folder, "token");
    writeFileSync(token, "x");
    const blocks = Array.from(page.matchAll(/```yaml\n(.*?)```/gs), ([, yaml]) => yaml!);
    const config = blocks.filter((yaml) => yaml.startsWith("scrape_configs:"));
    const rules = blocks.filter((yaml) => yaml.startsWith("groups:"));
    expect([config.length, rules.length]).toEqual([1, 1]);
    for (const [kind, [yaml]] of [["config", config] as const, ["rules", rules] as const]) {
      const file = join(folder, `${kind}.yml`);
      writeFileSync(file, yaml!.replace("/etc/prometheus/actuator-token", token));
      const { status, stderr, stdout } = spawnSync("promtool", ["check", kind, file], { encoding: "utf8" });
      expect({ kind, status, said: status === 0 ? "" : stdout + stderr }).toEqual({ kind, status: 0, said: "" });
    }
  },
);
