import { spawnSync } from "node:child_process";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";

/** Whether Prometheus's own tool is there; Debian's package `prometheus` brings it. */
export const promtoolFound: boolean = spawnSync("promtool", ["--version"]).status === 0;

/**
 * A Python that has Prometheus's client, whose parsers are the strict ones, also that of OpenMetrics. To have one: `python3 -m
 * venv /tmp/connect-actuator-python`, then in there `bin/pip install prometheus-client`.
 */
export const prometheusPython: string | undefined = [
  process.env.CONNECT_ACTUATOR_TEST_PYTHON,
  join(tmpdir(), "connect-actuator-python/bin/python"),
  join(homedir(), ".cache/connect-actuator-python/bin/python"),
  "python3",
]
  .filter((path) => path !== undefined)
  .find((path) => spawnSync(path, ["-c", "import prometheus_client"], { timeout: 60_000 }).status === 0);

/** What `promtool check metrics` says of a text of version 0.0.4: nothing where it reads it and finds no fault. */
export function promtoolFaults(text: string): string {
  const { status, stderr, stdout } = spawnSync("promtool", ["check", "metrics"], { input: text, encoding: "utf8" });
  return status === 0 ? "" : `${stdout}${stderr}` || `exit ${status}`;
}

/** A sample as a parser of the Python client has read it. */
export interface ReadSample {
  readonly family: string;
  readonly type: string;
  readonly unit: string;
  readonly help: string;
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  /** As Python writes the number. */
  readonly value: string;
}

/** Every sample of a text, as the strict parser of its format reads it. Throws where it refuses the text. */
export function readByPython(text: string, format: "text" | "openmetrics"): ReadSample[] {
  const parser = format === "text" ? "prometheus_client.parser" : "prometheus_client.openmetrics.parser";
  const program = `
import json, sys
from ${parser} import text_string_to_metric_families as read
print(json.dumps([
    {"family": f.name, "type": f.type, "unit": f.unit, "help": f.documentation, "name": s.name, "labels": s.labels, "value": repr(float(s.value))}
    for f in read(sys.stdin.read()) for s in f.samples
]))`;
  const { status, stdout, stderr } = spawnSync(prometheusPython!, ["-c", program], { input: text, encoding: "utf8" });
  if (status !== 0) throw new Error(stderr);
  return JSON.parse(stdout);
}
