/**
 * `npm run build`: makes `dist`, which is what the package publishes, from `src` without the sample. Both the code and its
 * declarations are bundled: Node.js and compilers find, read and link every file by itself, and applications keep them all on
 * disk, in blocks of 4 KB. The entries are `exports` of package.json, and the command line that `bin` starts.
 */
import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Plugin, rolldown } from "rolldown";
import { dts } from "rolldown-plugin-dts";
import { BUNDLED } from "./bundled.ts";
import { CommandFailed, root, run } from "./command.ts";
import { buildDashboard } from "./dashboard.ts";

const dist = join(root, "dist");
/** What the compiler emits: a declaration for each source file. */
const declarations = join(dist, "declarations");

/** What `bin` starts, and what a process loads that is attached to. */
const STARTED = ["cli/main", "attach/target"];

/** The files in `dist` that applications import, without their endings. */
function exported(): readonly string[] {
  const { exports } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const files = Object.values<{ default?: string }>(exports);
  return files.flatMap((file) => file.default?.match(/^\.\/dist\/(.+)\.js$/)?.[1] ?? []);
}

/** What `part()` loads by its path when it is needed. */
function partsLoadedLater(): readonly string[] {
  const source = join(root, "src");
  const files = readdirSync(source, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".ts"));
  return files.flatMap((file) => {
    const calls = readFileSync(join(source, file), "utf8").matchAll(/\bpart<[\s\S]+?>\(\s*"([\w/-]+)"/g);
    return Array.from(calls, ([, path]) => path!);
  });
}

function inputs(entries: readonly string[], folder: string, ending: string): Record<string, string> {
  return Object.fromEntries(entries.map((entry) => [entry, join(folder, `${entry}${ending}`)]));
}

function isExternal(id: string): boolean {
  return !id.startsWith(".") && !id.startsWith(root) && !BUNDLED.some((name) => `${id}/`.startsWith(`${name}/`));
}

/**
 * What entries have in common stands in chunks that they share, so that each class exists once. There are no source maps: they
 * were a third of the package, and the code keeps its names and lines.
 */
async function bundleCode(): Promise<void> {
  const entries = [...new Set([...STARTED, ...partsLoadedLater(), ...exported()])];
  const input = inputs(entries, join(root, "src"), ".ts");
  const build = await rolldown({ input, platform: "node", external: isExternal });
  await build.write({
    dir: dist,
    format: "esm",
    keepNames: true,
    comments: false,
    chunkFileNames: "chunks/[name]-[hash].js",
    // Small files that import no other room, and that most entries need, stand together.
    codeSplitting: {
      groups: [
        // Apart, since a preloaded process that has nothing to manage loads no more than these.
        {
          name: "preload",
          test: /\/src\/(?:common\/(?:error|node-version)|auto\/(?:parts|place-in-packages)|processes\/hand-over)\.ts$/,
          priority: 1,
        },
        { name: "common", test: /\/src\/common\// },
        { name: "gen", test: /\/src\/gen\// },
        { name: "loggers", test: /\/src\/loggers\// },
        { name: "kit", test: /\/src\/adapters\/kit\/(?:interception\/|loggers\/|library-version)/ },
      ],
    },
  });
}

/** Editors show comments out of declarations, so these keep theirs. */
async function bundleDeclarations(): Promise<void> {
  run("tsc", "-p", "tsconfig.build.json", "--outDir", declarations);
  const build = await rolldown({
    input: inputs(exported(), declarations, ".d.ts"),
    external: isExternal,
    plugins: [declarationImports, dts({ dtsInput: true })],
    // No comments with the names of source files.
    experimental: { attachDebugInfo: "none" },
  });
  await build.write({ dir: dist, format: "esm", chunkFileNames: "chunks/[name]-[hash].d.ts" });
  rmSync(declarations, { recursive: true });
}

/** The compiler leaves `./x.ts` in declarations as it is (seen with TypeScript 7.0.2), though it emits `./x.d.ts`. */
const declarationImports: Plugin = {
  name: "declaration-imports",
  resolveId(id, importer) {
    const source = /^(\.{1,2}\/.+)\.ts$/.exec(id)?.[1];
    return source === undefined || id.endsWith(".d.ts") ? undefined : join(importer ?? "", "..", `${source}.d.ts`);
  },
};

function writeLicenses(): void {
  const licenses = BUNDLED.map((name) => {
    const folder = join(root, "node_modules", name);
    const { version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    return `${name} ${version} (${license})\n\n${licenseIn(folder)}\n`;
  });
  const rule = `\n${"-".repeat(80)}\n\n`;
  const title =
    "The code in this folder contains parts of these packages. The Apache License is the LICENSE beside this folder.\n\n";
  writeFileSync(join(dist, "LICENSES.txt"), title + licenses.join(rule));
}

/** The file LICENSE of a package; without one, the notices at the head of its files. */
function licenseIn(folder: string): string {
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" });
  if (files.includes("LICENSE")) return readFileSync(join(folder, "LICENSE"), "utf8").trim();
  const heads = files
    .filter((file) => file.endsWith(".js"))
    .map((file) => /^(?:\/\/.*\n)+/.exec(readFileSync(join(folder, file), "utf8"))?.[0] ?? "");
  const notices = heads.filter((head) => head.includes("Copyright"));
  const byHolder = new Map(notices.map((notice) => [notice.split("\n", 1)[0], notice]));
  return [...byHolder.values()].map((notice) => notice.replaceAll(/^\/\/ ?/gm, "").trim()).join("\n\n");
}

try {
  rmSync(dist, { recursive: true, force: true });
  await bundleCode();
  await bundleDeclarations();
  const page = await buildDashboard();
  cpSync(page, join(dist, "dashboard"), { recursive: true, filter: (file) => !file.endsWith(".sources") });
  writeLicenses();
} catch (error) {
  if (!(error instanceof CommandFailed)) throw error;
  console.error(`${error.message}\n${error.output}`);
  process.exitCode = 1;
}
