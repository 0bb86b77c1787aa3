import { execFile } from "node:child_process";
import { chmod, cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { cliEnv } from "./cli-process.ts";

const root = join(import.meta.dirname, "..", "..");
const BIN = join(root, "bin", "connect-actuator.js");
/** Makes Node.js like one that cannot run TypeScript. */
const OLD_NODE = "--no-experimental-strip-types";

async function node(...args: readonly string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, args, { env: cliEnv({}) });
  return stdout;
}

async function folder(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), "connect-actuator-bin-"));
  onTestFinished(() => rm(path, { recursive: true }));
  return path;
}

async function version(): Promise<string> {
  return `${JSON.parse(await readFile(join(root, "package.json"), "utf8")).version}\n`;
}

test("in a clone the program runs the source, also through a link", async () => {
  const link = join(await folder(), "connect-actuator");
  await symlink(BIN, link);
  expect([await node(BIN, "--version"), await node(link, "--version")]).toEqual([await version(), await version()]);
});

test("a Node.js that cannot run TypeScript hands over to the one of the clone, with its exit code", async () => {
  expect(await node(OLD_NODE, BIN, "--version")).toBe(await version());
  await expect(node(OLD_NODE, BIN, "lst")).rejects.toMatchObject({ code: 2, stderr: /unknown command 'lst'/ });
});

test("in the package the program runs dist", async () => {
  const directory = await folder();
  await mkdir(join(directory, "dist", "cli"), { recursive: true });
  await cp(join(root, "bin"), join(directory, "bin"), { recursive: true });
  await writeFile(join(directory, "package.json"), '{ "type": "module" }');
  await writeFile(join(directory, "dist", "cli", "main.js"), "console.log('dist', ...process.argv.slice(2));");
  const program = join(directory, "bin", "connect-actuator.js");
  await chmod(program, 0o755);
  expect(await node(OLD_NODE, program, "health")).toBe("dist health\n");
});
