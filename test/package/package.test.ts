// @module-tag slow
import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { BUNDLED } from "../../scripts/bundled.ts";
import { requirement } from "../support/requirement.ts";
import { packedPackage } from "./packed-package.ts";

const root = join(import.meta.dirname, "..", "..");
const modules = join(root, "node_modules");
const { name, dependencies, engines } = await manifest(root);
let scratch: string;
let tarball: string;

beforeAll(async () => {
  scratch = await mkdtemp(join(tmpdir(), "connect-actuator-package-"));
  tarball = await packedPackage();
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
  expect(await compileAndRun(directory, "core")).toEqual({ status: 200, rpc: 200 });
});

test("what is published loads no http2, TLS or fetch for REST and calls over HTTP/1.1", async () => {
  const directory = await project("loads", []);
  expect(JSON.parse(await run(directory, "node", "loads.mjs"))).toEqual({ statuses: [200, 200], loaded: [] });
});

test("an application of NestJS that has connect itself serves and calls services beside every subpath", async () => {
  const directory = await project("connect", ["@connectrpc", "@bufbuild", "@nestjs", "reflect-metadata", "rxjs"]);
  await cp(join(root, "src", "gen"), join(directory, "gen"), { recursive: true });
  const { subpaths, ...result } = JSON.parse(await run(directory, "node", "connect.mjs"));
  expect(subpaths).toBeGreaterThan(25);
  const answer = { name: "OrdersService", refused: true, details: 1 };
  expect(result).toEqual({ status: 1, answers: [answer, answer] });
});

test.each(["esm", "cjs"] as const)("esbuild makes one file of an application and the package: %s", async (format) => {
  const directory = await project(`bundled-${format}`, []);
  const file = format === "esm" ? "core.mjs" : "core.cjs";
  // A function, because CommonJS has no await outside of one.
  const code = (await readFile(join(directory, "core.ts"), "utf8")).replace(
    /^(?=const actuator)/m,
    "async function main() {\n",
  );
  await writeFile(join(directory, "core.ts"), `${code}}\nmain();\n`);
  await run(directory, "esbuild", "core.ts", "--bundle", "--platform=node", `--format=${format}`, `--outfile=${file}`);
  await rm(join(directory, "node_modules"), { recursive: true });
  expect(JSON.parse(await run(directory, "node", file))).toEqual({ status: 200, rpc: 200 });
});

test("what is published serves the page, whole", async () => {
  const directory = await project("page", []);
  expect(JSON.parse(await run(directory, "node", "page.mjs"))).toEqual({
    statuses: [200],
    types: expect.arrayContaining([
      "text/html; charset=utf-8",
      "text/css; charset=utf-8",
      "text/javascript; charset=utf-8",
    ]),
  });
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
  expect([...tops].filter((path) => !/^(dist|docs|proto)\//.test(path) && path !== "LICENSE")).toEqual([]);
  expect(listed.filter((path) => /\/(sample|test|bench)\//.test(path))).toEqual([]);
});

test("the package is small: no source maps, few files, and the licences of what it bundles", async () => {
  const dist = join(await project("size", []), "node_modules", name, "dist");
  const files = (await readdir(dist, { recursive: true, withFileTypes: true })).filter((file) => file.isFile());
  expect(files.filter(({ name }) => name.endsWith(".map"))).toEqual([]);
  // The page has some 70 files, each in two encodings.
  expect(files.length).toBeLessThan(370);
  // With connect and Protocol Buffers, which npm installed beside it until then, in 4.9 MB and 600 files; and the page, 0.5 MB.
  expect(await sizeOnDisk(dist)).toBeLessThan(4_300_000);
  const beside = await Promise.all(Object.keys(dependencies).map((each) => sizeOnDisk(join(modules, each))));
  expect(beside.reduce((sum, size) => sum + size, 0)).toBeLessThan(2_500_000);
  const licenses = await readFile(join(dist, "LICENSES.txt"), "utf8");
  for (const each of BUNDLED) {
    const { version, license } = await manifest(join(modules, each));
    expect(licenses).toContain(`${each} ${version} (${license})`);
  }
  for (const notice of ["Permission is hereby granted", "The Connect Authors", "Buf Technologies", "Google Inc"])
    expect(licenses).toContain(notice);
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

/** The packages that the types of each subpath need: its library, or the types of it. None: its types are the adapter's own. */
const LIBRARIES: Readonly<Record<string, readonly string[]>> = {
  "better-auth": ["better-auth"],
  "connect-redis": ["connect-redis"],
  "express-session": ["@types/express-session"],
  nestjs: ["@nestjs/common"],
  opentelemetry: ["@opentelemetry/sdk-trace-base"],
  "opentelemetry-metrics": ["@opentelemetry/api"],
};

test("each subpath compiles strictly beside the root, with no other library than its own", async () => {
  const packed = await unpacked("types");
  const { exports } = JSON.parse(await readFile(join(packed, "package.json"), "utf8"));
  const subpaths = Object.keys(exports).flatMap((each) => (each === "./package.json" ? [] : each.slice(2) || []));
  const files = await Promise.all(
    subpaths.map(async (subpath, index) => {
      const directory = join(scratch, "subpaths", subpath);
      const installed = join(directory, "node_modules", name);
      await cp(packed, installed, {
        recursive: true,
        filter: (file) => !file.endsWith(".js") && !file.includes("/docs/"),
      });
      // The compiler takes equal versions of a package for the same, wherever they are.
      await writeFile(
        join(installed, "package.json"),
        JSON.stringify({ ...(await manifest(packed)), version: `0.0.${index}` }),
      );
      await linkPackages(directory, [...Object.keys(dependencies), "@types/node", ...(LIBRARIES[subpath] ?? [])]);
      await writeFile(join(directory, "package.json"), '{ "type": "module" }');
      const file = join(directory, "application.ts");
      const text = `import { createActuator } from "${name}";\nimport * as adapter from "${name}/${subpath}";\nexport const all = [createActuator, adapter];\n`;
      await writeFile(file, text);
      return file;
    }),
  );
  expect(subpaths.length).toBeGreaterThan(25);
  await linkPackages(scratch, ["@types/node"]);
  const faults = await run(scratch, "tsc", ...STRICT, "--noEmit", ...files).then(() => "", String);
  // Libraries' own declarations may have faults, and so does the package's own if it names what is not there.
  expect(faults.split("\n").filter((line) => /^(subpaths|error)/.test(line))).toEqual([]);
}, 180_000);

describe.runIf(requirement("the npm registry", await registryAnswers()))(
  "beside versions that no adapter supports",
  () => {
    const old = {
      redis: "4",
      pino: "7",
      winston: "2",
      "@nestjs/common": "9",
      mqtt: "4",
      "@opentelemetry/sdk-trace-base": "1",
    };
    let directory: string;

    beforeAll(async () => {
      directory = join(scratch, "beside");
      await mkdir(directory);
      await writeFile(join(directory, "package.json"), '{ "type": "module", "private": true }');
      const libraries = Object.entries(old).map(([library, version]) => `${library}@${version}`);
      const quietly = ["--no-audit", "--no-fund", "--ignore-scripts"];
      await run(
        directory,
        "npm",
        "install",
        ...quietly,
        ...libraries,
        "reflect-metadata@0.1",
        "rxjs@7",
        "@opentelemetry/api",
      );
      await run(directory, "npm", "install", ...quietly, tarball);
    }, 300_000);

    test("npm installs the package, and every subpath can be imported", async () => {
      await cp(join(import.meta.dirname, "consumer", "beside.mjs"), join(directory, "beside.mjs"));
      const answers = JSON.parse(await run(directory, "node", "beside.mjs"));
      expect(answers).toEqual({
        redis: expect.stringMatching(
          /^connect-actuator\/redis-messaging supports redis 5 to 6, not 4\.[\d.]+; update redis\.$/,
        ),
        pino: expect.stringMatching(/^connect-actuator\/pino supports pino 8 to 10, not 7\.[\d.]+; update pino\.$/),
        winston: expect.stringMatching(
          /^connect-actuator\/winston supports winston 3\.3 to 3\.x, not 2\.[\d.]+; update winston\.$/,
        ),
        nestjs: expect.stringMatching(
          /^connect-actuator\/nestjs supports @nestjs\/common 10 to 12, not 9\.[\d.]+; update @nestjs\/common\.$/,
        ),
        mqtt: expect.stringMatching(/^connect-actuator\/mqtt supports mqtt 5, not 4\.[\d.]+; update mqtt\.$/),
        opentelemetry: expect.stringMatching(
          /^connect-actuator\/opentelemetry supports @opentelemetry\/sdk-trace-base 2, not 1\.[\d.]+; update @opentelemetry\/sdk-trace-base\.$/,
        ),
      });
    });
  },
);

/** Disks keep files in blocks. */
async function sizeOnDisk(folder: string): Promise<number> {
  const files = await readdir(folder, { recursive: true, withFileTypes: true });
  const sizes = await Promise.all(
    files.map(async ({ parentPath, name }) => (await stat(join(parentPath, name))).blocks * 512),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}

async function registryAnswers(): Promise<boolean> {
  return run(root, "npm", "view", "pino@7", "name", "--fetch-retries=0", "--fetch-timeout=15000").then(
    () => true,
    () => false,
  );
}

/**
 * An empty project with the packed package and these libraries installed. No registry is asked: the package is unpacked
 * where npm would put it, and what it depends on is linked from the repository. The package's own code finds nothing
 * else, since Node.js looks from its place upwards.
 */
async function project(title: string, libraries: readonly string[]): Promise<string> {
  await unpacked(title);
  const directory = join(scratch, title);
  await cp(join(import.meta.dirname, "consumer"), directory, { recursive: true });
  await linkPackages(directory, [...Object.keys(dependencies), "@types/node", ...libraries]);
  return directory;
}

async function unpacked(title: string): Promise<string> {
  const installed = join(scratch, title, "node_modules", name);
  await mkdir(installed, { recursive: true });
  await run(installed, "tar", "-xzf", tarball, "--strip-components=1");
  return installed;
}

async function linkPackages(directory: string, libraries: readonly string[]): Promise<void> {
  for (const library of libraries) {
    const link = join(directory, "node_modules", library);
    await mkdir(dirname(link), { recursive: true });
    await symlink(join(modules, library), link, "dir");
  }
}

/** How applications compile that check the declarations of their libraries too. */
const STRICT = ["--ignoreConfig", "--module", "nodenext", "--target", "es2023", "--types", "node"].concat(
  ...["--strict", "--exactOptionalPropertyTypes", "--skipLibCheck", "false"],
);

/** Compiles one file of the project, the declarations of libraries included, runs it, and answers the JSON it prints. */
async function compileAndRun(directory: string, file: string): Promise<unknown> {
  await run(directory, "tsc", ...STRICT, "--noEmitOnError", `${file}.ts`);
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
  readonly license: string;
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
