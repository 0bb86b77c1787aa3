// @module-tag slow
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { AUTO, applicationFolder, type RunOptions, runApplication } from "../support/auto-application.ts";
import { packedPackage } from "./packed-package.ts";

const ORDERS = `
const log = pino();
globalThis.orders = log.child({ module: "shop.orders" });
setInterval(() => {}, 1000);
console.log("ready");
`;
const ESM = `import { pino } from "pino";${ORDERS}`;
const COMMON_JS = `const { pino } = require("pino");${ORDERS}`;
let installed: string;

const PACKAGE = "connect-actuator";

beforeAll(async () => {
  installed = mkdtempSync(join(tmpdir(), "connect-actuator-auto-"));
  execFileSync("tar", ["-xzf", await packedPackage(), "--strip-components=1"], { cwd: installed });
}, 120_000);

afterAll(() => rmSync(installed, { recursive: true, force: true }));

const entry = `${PACKAGE}/auto`;
const ways: readonly (readonly [name: string, options: RunOptions])[] = [
  ["--import", { nodeArgs: ["--import", entry] }],
  ["--require", { nodeArgs: ["--require", entry] }],
  ["NODE_OPTIONS", { env: { NODE_OPTIONS: `--import ${entry}` } }],
  ["--import, after another copy of it,", { nodeArgs: ["--import", AUTO, "--import", entry] }],
  ["NODE_OPTIONS and --import", { nodeArgs: ["--import", entry], env: { NODE_OPTIONS: `--require ${entry}` } }],
];
const applications = { "shop.mjs": ESM, "shop.cjs": COMMON_JS };

test.each(ways.flatMap(([way, options]) => Object.keys(applications).map((script) => ({ way, options, script }))))(
  "$script preloaded by $way with the package as it is published shows its loggers",
  async ({ options, script }) => {
    const shop = runApplication(applicationFolder(applications, { [PACKAGE]: installed }), script, {
      ...options,
      preload: false,
    });
    await shop.said("ready");
    expect(await shop.describe()).toMatchObject({ name: "shop", shows: { loggers: ["pino"] }, notices: [] });
    expect(Object.keys((await shop.get("/loggers")).loggers)).toEqual(["ROOT", "shop", "shop.orders"]);
    expect(shop.output()).toEqual({ stdout: "ready\n", stderr: "" });
    expect(await shop.post("/loggers/shop.orders", { configuredLevel: "DEBUG" })).toBe(204);
  },
);

test("a process that runs is attached to with the package as it is published", async () => {
  const folder = applicationFolder(applications, { [PACKAGE]: installed });
  const shop = runApplication(folder, "shop.mjs", { preload: false, nodeArgs: ["--inspect-port=0"] });
  await shop.said("ready");
  const command = join(folder.folder, "node_modules", PACKAGE, "bin/connect-actuator.js");
  const words = [command, "attach", `${shop.child.pid}`, "--json"];
  const { status, stdout, stderr } = spawnSync(process.execPath, words, { env: folder.env, encoding: "utf8" });
  expect(status, stderr).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ socket: shop.socket, libraries: [{ library: "pino" }], unseen: [] });
});

test("a process that has nothing to manage loads a few small files, and only node:module of Node.js", () => {
  const { files, imports } = loadedBy(join(installed, "dist/auto/index.js"));
  expect(imports).toEqual(["node:module"]);
  expect(files.reduce((sum, file) => sum + statSync(file).size, 0)).toBeLessThan(20_000);
});

test("domains are loaded for the first logger, and neither HTTP nor RPC", () => {
  const { imports } = loadedBy(join(installed, "dist/auto/managed-application.js"));
  expect(imports.filter((name) => !name.startsWith("node:") || /http|tls/.test(name))).toEqual([]);
});

/** What Node.js loads for a file: files, and what they import by its name. */
function loadedBy(entry: string): { readonly files: readonly string[]; readonly imports: readonly string[] } {
  const files = new Set([entry]);
  const imports = new Set<string>();
  for (const file of files) {
    for (const [, name] of readFileSync(file, "utf8").matchAll(/^(?:import|export)\b[^"\n]*"([^"]+)";$/gm)) {
      if (name!.startsWith(".")) files.add(join(dirname(file), name!));
      else imports.add(name!);
    }
  }
  return { files: [...files], imports: [...imports].toSorted() };
}
