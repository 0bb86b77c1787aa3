/**
 * `npm run check`: every check that runs no test. It changes no file but `dist`. Each step prints one line; the output of failed
 * steps follows at the end.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { compatibilityBase, extractProtos } from "./base.ts";
import { CommandFailed, run } from "./command.ts";
import { lockFileFaults } from "./lock-file.ts";
import { wordFaults } from "./words.ts";

/** A step returns a remark to print, and throws if it fails. */
interface Step {
  readonly name: string;
  readonly run: (scratch: string) => string | undefined;
}

const steps: readonly Step[] = [
  { name: "lock file", run: lockFile },
  { name: "generated code", run: generatedCode },
  { name: "OpenAPI document", run: openApiDocument },
  { name: "buf lint", run: () => quietly("buf", "lint") },
  { name: "buf format", run: () => quietly("buf", "format", "--diff", "--exit-code") },
  { name: "buf breaking", run: bufBreaking },
  { name: "biome", run: () => quietly("biome", "check", "--error-on-warnings", ".") },
  { name: "types", run: () => quietly("tsc", "--noEmit") },
  { name: "types of page", run: () => quietly("tsc", "--noEmit", "-p", "src/dashboard") },
  { name: "build", run: () => quietly("node", "scripts/build.ts") },
  { name: "publint", run: (scratch) => quietly("publint", "run", "--strict", pack(scratch)) },
  { name: "attw", run: areTheTypesWrong },
  { name: "words", run: words },
];

function lockFile(): undefined {
  const faults = lockFileFaults();
  if (faults.length > 0) throw new CommandFailed("package-lock.json is incomplete or loose", faults.join("\n"));
}

function words(): undefined {
  const faults = wordFaults();
  if (faults.length > 0)
    throw new CommandFailed("the word list (scripts/words.ts) has better words", faults.join("\n"));
}

function generatedCode(scratch: string): string | undefined {
  run("buf", "generate", "--output", scratch);
  try {
    return quietly("git", "diff", "--no-index", "--stat", "src/gen", join(scratch, "src", "gen"));
  } catch (error) {
    if (!(error instanceof CommandFailed)) throw error;
    throw new CommandFailed("src/gen is not what proto generates: npm run generate", error.output);
  }
}

function openApiDocument(): string | undefined {
  process.env.REDOCLY_TELEMETRY = "off";
  quietly("redocly", "lint", "src/http/openapi/openapi.yaml");
  return quietly("node", "scripts/openapi.ts", "--check");
}

function bufBreaking(scratch: string): string {
  const base = compatibilityBase();
  if (base === undefined) return "nothing to compare with: this commit has no parent here";
  const protos = extractProtos(base.commit, join(scratch, "base"));
  if (protos === undefined) return `nothing to compare with: ${base.name} has no protos`;
  run("buf", "breaking", "--against", protos);
  return `against ${base.name}`;
}

/** The package is ESM only: a `require` of it works on the supported Node versions, but says so to older checkers. */
function areTheTypesWrong(scratch: string): string {
  run("attw", "--profile", "esm-only", "--no-definitely-typed", "--no-color", pack(scratch));
  return "esm-only: node10 and CommonJS resolution are not checked, since the package has no CommonJS build";
}

/** Packs the output of the step `build`; `prepack` would only build it again. */
function pack(scratch: string): string {
  const output = run("npm", "pack", "--silent", "--ignore-scripts", "--pack-destination", scratch);
  return join(scratch, output.split("\n").at(-1)!);
}

function quietly(program: string, ...args: string[]): undefined {
  run(program, ...args);
}

/** Runs a step in its own directory, prints its line and returns its error. */
function perform(step: Step): Error | undefined {
  const scratch = mkdtempSync(join(tmpdir(), "connect-actuator-check-"));
  const start = performance.now();
  const print = (result: string, remark = "") => {
    const seconds = `${((performance.now() - start) / 1000).toFixed(1)} s`;
    console.log(`${result.padEnd(6)}  ${step.name.padEnd(16)}  ${seconds.padStart(6)}  ${remark}`.trimEnd());
  };
  try {
    print("ok", step.run(scratch));
    return undefined;
  } catch (error) {
    print("FAILED");
    return error as Error;
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

const failures = steps.flatMap((step) => {
  const error = perform(step);
  return error === undefined ? [] : [{ name: step.name, error }];
});
for (const { name, error } of failures) {
  console.log(`\n${name}: ${error.message}`);
  if (error instanceof CommandFailed) console.log(error.output);
}
console.log(`\n${steps.length - failures.length} of ${steps.length} steps ok`);
process.exitCode = failures.length === 0 ? 0 : 1;
