// @module-tag slow
import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { BUNDLED } from "../../scripts/bundled.ts";

const root = join(import.meta.dirname, "..", "..");
const modules = join(root, "node_modules");
const { name, dependencies, engines } = await manifest(root);
let scratch: string;
let tarball: string;

beforeAll(async () => {
  scratch = await mkdtemp(join(tmpdir(), "connect-actuator-package-"));
  // npm runs "prepack" first, which builds.
  const packed = await run(root, "npm", "pack", "--silent", "--pack-destination", scratch);
  tarball = join(scratch, packed.trim().split("\n").at(-1)!);
}, 120_000);

afterAll(() => rm(scratch, { recursive: true, force: true }));

test("an application that brings pino and express-session compiles strictly and runs", async () => {
  const directory = await project("application", ["pino", "express-session", "@types/express-session"]);
  expect(await compileAndRun(directory, "application")).toEqual({
    status: 204,
    level: "debug",
    links: ["self", "health", "info", "loggers", "loggers-name", "sessions", "sessions-sessionId", "integrationgraph"],
  });
});

test("an application that brings neither compiles strictly and runs", async () => {
  const directory = await project("core", []);
  expect(await compileAndRun(directory, "core")).toEqual({ status: 200 });
});

test("the command line is installed as a program, and runs", async () => {
  const directory = await project("command-line", []);
  const { bin, version } = await manifest(join(directory, "node_modules", name));
  const program = join(directory, "node_modules", name, bin["connect-actuator"]!);
  expect(await run(directory, program, "--version")).toBe(`${version}\n`);
  await expect(run(directory, program, "health", "--url", "http://127.0.0.1:1")).rejects.toThrow(/nothing listens at/);
});

test("what is published names only files that are published", async () => {
  const directory = await project("files", []);
  const dist = join(directory, "node_modules", name, "dist");
  const files = await readdir(dist, { recursive: true });
  const missing = [];
  for (const file of files.filter((file) => /\.(js|d\.ts)$/.test(file))) {
    const text = await readFile(join(dist, file), "utf8");
    for (const [, target] of text.matchAll(/(?:\bfrom |\bimport\()"(\.[^"]+)"/g)) {
      // Declarations name the code beside them, which stands in a chunk that several share.
      const named = join(dirname(file), file.endsWith(".d.ts") ? target!.replace(/\.js$/, ".d.ts") : target!);
      if (!files.includes(named)) missing.push(`${file}: ${target}`);
    }
  }
  expect(files).toContain("index.d.ts");
  expect(missing).toEqual([]);
});

test("the package holds the code, its declarations and the interface, and nothing of the workshop", async () => {
  const listed = (await run(scratch, "tar", "-tzf", tarball)).trim().split("\n");
  const tops = new Set(
    listed.map((path) => path.split("/").slice(1, 3).join("/")).filter((path) => !path.includes(".")),
  );
  expect(listed).toContain("package/LICENSE");
  expect(listed).toContain("package/proto/actuator/v3/loggers.proto");
  expect([...tops].filter((path) => !/^(dist|proto)\//.test(path) && path !== "LICENSE")).toEqual([]);
  expect(listed.filter((path) => /\/(sample|test|bench)\//.test(path))).toEqual([]);
});

test("the package is small: no source maps, few files, and the licences of what it bundles", async () => {
  const dist = join(await project("size", []), "node_modules", name, "dist");
  const files = (await readdir(dist, { recursive: true, withFileTypes: true })).filter((file) => file.isFile());
  expect(files.filter(({ name }) => name.endsWith(".map"))).toEqual([]);
  expect(files.length).toBeLessThan(250);
  // Disks keep files in blocks.
  const blocks = await Promise.all(
    files.map(async (file) => (await stat(join(file.parentPath, file.name))).blocks * 512),
  );
  expect(blocks.reduce((sum, size) => sum + size, 0)).toBeLessThan(2_500_000);
  const licenses = await readFile(join(dist, "LICENSES.txt"), "utf8");
  for (const each of BUNDLED)
    expect(licenses).toMatch(`${each} ${(await manifest(join(modules, each))).version} (MIT)`);
  expect(licenses).toContain("Permission is hereby granted");
});

test("the oldest supported Node.js is stated, and no dependency asks for a newer one", async () => {
  const oldest = "22.12.0";
  expect(`${engines.node}.0`).toBe(`>=${oldest}`);
  for (const library of Object.keys(dependencies)) {
    const asked = /^>=\s*([\d.]+)/.exec((await manifest(join(modules, library))).engines?.node ?? "")?.[1];
    if (asked !== undefined)
      expect(compareVersions(asked, oldest), `${library} asks for ${asked}`).toBeLessThanOrEqual(0);
  }
});

test("the bill of materials names what an application gets, and nothing of the workshop", async () => {
  await run(root, "node", "scripts/sbom.ts");
  const { metadata, components } = JSON.parse(await readFile(join(root, "sbom.cdx.json"), "utf8"));
  expect(metadata.component.name).toBe(name);
  const named = new Map(
    components.map((component: { name: string; version: string }) => [component.name, component.version]),
  );
  for (const each of [...Object.keys(dependencies), ...BUNDLED]) {
    expect([each, named.get(each)]).toEqual([each, (await manifest(join(modules, each))).version]);
  }
  expect(["vitest", "typescript", "pino", "express"].filter((each) => named.has(each))).toEqual([]);
  for (const { hashes } of components) expect(hashes[0].alg).toBe("SHA-512");
});

/**
 * An empty project with the packed package and these libraries installed. No registry is asked: the package is unpacked
 * where npm would put it, and what it depends on is linked from the repository. The package's own code finds nothing
 * else, since Node.js looks from its place upwards.
 */
async function project(title: string, libraries: readonly string[]): Promise<string> {
  const directory = join(scratch, title);
  const installed = join(directory, "node_modules", name);
  await cp(join(import.meta.dirname, "consumer"), directory, { recursive: true });
  await mkdir(installed, { recursive: true });
  await run(installed, "tar", "-xzf", tarball, "--strip-components=1");
  for (const library of [...Object.keys(dependencies), "@types/node", ...libraries]) {
    const link = join(directory, "node_modules", library);
    await mkdir(dirname(link), { recursive: true });
    await symlink(join(modules, library), link, "dir");
  }
  return directory;
}

/** Compiles one file of the project, the declarations of libraries included, runs it, and answers the JSON it prints. */
async function compileAndRun(directory: string, file: string): Promise<unknown> {
  const strict = ["--strict", "--exactOptionalPropertyTypes", "--skipLibCheck", "false", "--noEmitOnError"];
  const options = ["--ignoreConfig", "--module", "nodenext", "--target", "es2023", "--types", "node", ...strict];
  await run(directory, "tsc", ...options, `${file}.ts`);
  return JSON.parse(await run(directory, "node", `${file}.js`));
}

/** Runs a program, with the repository's own Node.js and tools before the host's, and answers what it printed. */
async function run(directory: string, program: string, ...args: string[]): Promise<string> {
  const env = { ...process.env, PATH: `${join(modules, ".bin")}${delimiter}${process.env.PATH}` };
  const result = await promisify(execFile)(program, args, { cwd: directory, env }).catch((error) => {
    throw new Error(`${program} ${args.join(" ")}\n${error.stdout}${error.stderr}`);
  });
  return result.stdout;
}

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly bin: Readonly<Record<string, string>>;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly engines: { readonly node?: string };
}

async function manifest(directory: string): Promise<Manifest> {
  return JSON.parse(await readFile(join(directory, "package.json"), "utf8"));
}

function compareVersions(a: string, b: string): number {
  return a.localeCompare(b, "en", { numeric: true });
}
