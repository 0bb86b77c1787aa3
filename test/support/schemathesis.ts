import { spawn, spawnSync } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";

const candidates = [
  process.env.CONNECT_ACTUATOR_TEST_PYTHON,
  join(tmpdir(), "connect-actuator-python/bin/python"),
  join(homedir(), ".cache/connect-actuator-python/bin/python"),
  "python3",
].filter((path) => path !== undefined);

/**
 * A Python that has schemathesis 4, for `describe.runIf(requirement("schemathesis for Python", schemathesis !== undefined))`.
 * To have one: `python3 -m venv /tmp/connect-actuator-python`, then in there `bin/pip install schemathesis`.
 */
export const schemathesis: string | undefined = candidates.find((path) => {
  const check = "import schemathesis; assert schemathesis.__version__.startswith('4.')";
  return spawnSync(path, ["-c", check], { timeout: 60_000 }).status === 0;
});

/** The statuses of answers to valid requests: those that schemathesis expects by itself, and 412. */
const ACCEPTED = ["2xx", "3xx", "401", "403", "404", "409", "412", "429", "5xx"];

/** How schemathesis is run. */
export interface SchemathesisRun {
  /** Where the document is. */
  readonly url: string;
  /** A folder of its own: it keeps what it learned there. */
  readonly folder: string;
  /** In its own format: what it leaves out, and values for parameters. */
  readonly configuration: string;
  readonly options: readonly string[];
}

/** Lets schemathesis loose, with every check that it has. Resolves to whether it found nothing, and all that it said. */
export async function runSchemathesis(
  run: SchemathesisRun,
): Promise<{ readonly passed: boolean; readonly said: string }> {
  const { url, folder, configuration, options } = run;
  const file = join(folder, "schemathesis.toml");
  // Named on the command line, the checks would count for more than what the configuration leaves out. 412 is the right answer to
  // an entity tag that schemathesis made up.
  const checks = `[checks]\nenabled = true\npositive_data_acceptance.expected-statuses = ${JSON.stringify(ACCEPTED)}\n`;
  await writeFile(file, `${configuration}\n${checks}`);
  const usual = ["--seed=20261121", "--generation-database=none", "--continue-on-failure"];
  const child = spawn(
    schemathesis!,
    ["-m", "schemathesis.cli", "--config-file", file, "--no-color", "run", url, ...usual, ...options],
    { cwd: folder, env: { ...process.env, PYTHONIOENCODING: "utf-8", COLUMNS: "120" } },
  );
  const chunks: Buffer[] = [];
  child.stdout.on("data", (chunk) => chunks.push(chunk));
  child.stderr.on("data", (chunk) => chunks.push(chunk));
  const code = await new Promise((resolve, reject) => child.on("error", reject).on("close", resolve));
  return { passed: code === 0, said: Buffer.concat(chunks).toString() };
}
