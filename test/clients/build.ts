import { execFile, execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { promisify } from "node:util";

const root = join(import.meta.dirname, "..", "..");
const DAY_MS = 24 * 60 * 60 * 1000;

/** Where built examples are kept from one run to the next, outside of the repository. */
const kept = process.env.CONNECT_ACTUATOR_TEST_BUILDS ?? join(homedir(), ".cache", "connect-actuator-examples");

/** An example, and how its README says that it is built. */
export interface Recipe {
  /** The folder under `examples`. */
  readonly example: string;
  /** The versions of the tools: another version builds anew. */
  readonly tools: readonly string[];
  /** The commands, each run in the example's folder. */
  readonly steps: readonly (readonly [command: string, ...args: string[]])[];
}

/** The environment in which examples are built and run: `buf` and `node` are those of the repository. */
export const environment = {
  ...process.env,
  PATH: [join(root, "node_modules", ".bin"), process.env.PATH].join(delimiter),
};

/**
 * Builds a copy of an example, with `proto` where the example looks for it, and answers the copy's folder. What was built
 * from the same files by the same commands is used again.
 */
export async function built({ example, tools, steps }: Recipe): Promise<string> {
  const files = filesOf("proto", `examples/${example}`);
  const hash = createHash("sha256").update(JSON.stringify([tools, steps, process.platform, process.arch]));
  for (const file of files) hash.update(`\0${file}\0`).update(readFileSync(join(root, file)));
  const name = `${example}-${hash.digest("hex").slice(0, 16)}`;
  const final = join(kept, name);
  const folder = (copy: string) => join(copy, "examples", example);
  if (existsSync(final)) return folder(final);

  // Built beside and moved as a whole: whoever finds it finds it complete, also with two runs at a time.
  const scratch = join(kept, `.${name}-${process.pid}`);
  try {
    for (const file of files) {
      mkdirSync(dirname(join(scratch, file)), { recursive: true });
      cpSync(join(root, file), join(scratch, file));
    }
    for (const [command, ...args] of steps) await step(command, args, folder(scratch));
    if (!existsSync(final)) renameSync(scratch, final);
  } finally {
    rmSync(scratch, { recursive: true, force: true, maxRetries: 5 });
  }
  removeOld(example, name);
  return folder(final);
}

async function step(command: string, args: readonly string[], cwd: string): Promise<void> {
  const options = { cwd, env: environment, maxBuffer: 64 * 1024 * 1024 };
  await promisify(execFile)(command, args, options).catch(({ stdout = "", stderr = "", message }) => {
    throw new Error(`${message}\n${stdout}${stderr}`.slice(-10_000));
  });
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
