import { spawnSync } from "node:child_process";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";

/** Where a Python with OpenTelemetry is looked for: the one that the environment names, virtual environments, the machine's own. */
const candidates = [
  process.env.CONNECT_ACTUATOR_TEST_PYTHON,
  join(tmpdir(), "connect-actuator-python/bin/python"),
  join(homedir(), ".cache/connect-actuator-python/bin/python"),
  "python3",
].filter((path) => path !== undefined);

const check =
  "import opentelemetry.sdk.trace, opentelemetry.exporter.otlp.proto.grpc, opentelemetry.exporter.otlp.proto.http";

/**
 * A Python that has OpenTelemetry's SDK and exporters, for `describe.runIf(requirement("opentelemetry for Python", python !== undefined))`.
 * To have one: `python3 -m venv /tmp/connect-actuator-python`, then in there `bin/pip install opentelemetry-sdk opentelemetry-exporter-otlp`.
 */
export const python: string | undefined = candidates.find(
  (path) => spawnSync(path, ["-c", check], { timeout: 60_000 }).status === 0,
);
