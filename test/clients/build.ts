import { execFile, execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from "node:fs";
import { homedir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { promisify } from "node:util";

const root = join(import.meta.dirname, "..", "..");
const DAY_MS = 24 * 60 * 60 * 1000;

/** Where built examples are kept from one run to the next, outside of the repository. */
const kept = process.env.CONNECT_ACTUATOR_TEST_BUILDS ?? join(homedir(), ".cache", "connect-actuator-examples");

/** A built example: the program and the arguments that come before its own, run in `cwd`. */
export interface Built {
  readonly cwd: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
}

/**
 * Builds a copy of an example by the commands of its README, with `proto` where they look for it. What was built from the same
 * files by the same tools is used again.
 *
 * @param tools their versions
 */
export async function built(example: string, tools: readonly string[]): Promise<Built> {
  const files = filesOf("proto", `examples/${example}`);
  const hash = createHash("sha256").update(JSON.stringify([tools, process.platform, process.arch]));
  for (const file of files) hash.update(`\0${file}\0`).update(readFileSync(join(root, file)));
  const name = `${example}-${hash.digest("hex").slice(0, 16)}`;
  const final = join(kept, name);
  const { steps, run } = commandsOf(example);
  const done = { cwd: join(final, "examples", example), command: "sh", args: ["-c", `${run} "$@"`, example] };
  if (existsSync(final)) return { ...done, env: environment(final) };

  // Built elsewhere and moved as a whole, so that it is always complete, also with two runs at a time.
  const scratch = join(kept, `.${name}-${process.pid}`);
  try {
    for (const file of files) {
      mkdirSync(dirname(join(scratch, file)), { recursive: true });
      cpSync(join(root, file), join(scratch, file));
    }
    symlinkSync(join(root, "node_modules"), join(scratch, "node_modules"));
    for (const step of steps) await perform(step, join(scratch, "examples", example), environment(scratch));
    moveTo(final, scratch);
  } finally {
    rmSync(scratch, { recursive: true, force: true, maxRetries: 5 });
  }
  removeOld(example, name);
  return { ...done, env: environment(final) };
}

/** The first commands of the README: those that build, and the one that runs the tour, which gives all that run. */
function commandsOf(example: string): { readonly steps: readonly string[]; readonly run: string } {
  const readme = readFileSync(join(root, "examples", example, "README.md"), "utf8");
  const lines = /^```sh\n([\s\S]*?)^```$/m.exec(readme)?.[1]?.trimEnd().split("\n") ?? [];
  const tour = lines.findIndex((line) => line.endsWith(" tour"));
  if (tour === -1) throw new Error(`examples/${example}/README.md has no command that ends with "tour"`);
  return { steps: lines.slice(0, tour), run: lines[tour]!.replace(/ tour$/, "") };
}

/** What Go installs goes into the copy; `node` is that of the repository, and `npx` finds what the repository has installed. */
function environment(copy: string): NodeJS.ProcessEnv {
  const bin = join(copy, "bin");
  const path = [bin, join(root, "node_modules", ".bin"), process.env.PATH].join(delimiter);
  return { ...process.env, PATH: path, GOBIN: bin };
}

async function perform(step: string, cwd: string, env: NodeJS.ProcessEnv): Promise<void> {
  const options = { cwd, env, maxBuffer: 64 * 1024 * 1024 };
  await promisify(execFile)("sh", ["-ec", step], options).catch(({ stdout = "", stderr = "", message }) => {
    throw new Error(`${message}\n${stdout}${stderr}`.slice(-10_000));
  });
}

/** Another run may have been faster: then its copy stays. */
function moveTo(final: string, scratch: string): void {
  try {
    renameSync(scratch, final);
  } catch (error) {
    if (!existsSync(final)) throw error;
  }
}

/** What git knows or would take: no generated code. */
function filesOf(...paths: string[]): string[] {
  const args = ["ls-files", "--cached", "--others", "--exclude-standard", "-z", ...paths];
  const listed = execFileSync("git", args, { cwd: root, encoding: "utf8" }).split("\0");
  return listed.filter((file) => file !== "" && existsSync(join(root, file))).sort();
}

function removeOld(example: string, current: string): void {
  for (const entry of readdirSync(kept)) {
    const path = join(kept, entry);
    const same = entry.startsWith(`${example}-`) || entry.startsWith(`.${example}-`);
    if (same && entry !== current && Date.now() - statSync(path).mtimeMs > DAY_MS) {
      rmSync(path, { recursive: true, force: true });
    }
  }
}
