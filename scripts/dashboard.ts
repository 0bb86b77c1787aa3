/** `node scripts/dashboard.ts`: builds the page, `src/dashboard`, into its folder `built`, unless it is there and up to date. */
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { build, type Plugin } from "vite";
import { root } from "./command.ts";

const source = join(root, "src", "dashboard");
/** Not `dist`, which is removed and built again while tests use the page. */
const out = join(source, "built");
/** Which sources it was built from. */
const stamp = join(out, ".sources");

/** The symbols stand in the page itself: a style reaches into them only there. */
const symbols: Plugin = {
  name: "symbols",
  transformIndexHtml: (html) =>
    html.replace("<!-- symbols -->", () =>
      readFileSync(join(source, "styles", "symbols.svg"), "utf8").replace(/>\s+</g, "><"),
    ),
};

/** Builds the page if its sources have changed since. Returns its folder. */
export async function buildDashboard(): Promise<string> {
  const digest = digestOf(sources());
  if (existsSync(join(out, "index.html.gz")) && existsSync(stamp) && readFileSync(stamp, "utf8") === digest) return out;
  await build({
    root: source,
    base: "./",
    configFile: false,
    logLevel: "warn",
    plugins: [symbols],
    oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
    worker: { format: "es" },
    build: {
      outDir: out,
      emptyOutDir: true,
      target: "es2022",
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      rolldownOptions: { checks: { pluginTimings: false } },
    },
  });
  for (const file of files(out)) compress(file);
  writeFileSync(stamp, digest);
  return out;
}

/** Served as they are; the plain file is left out, because every browser takes gzip. */
function compress(file: string): void {
  const bytes = readFileSync(file);
  writeFileSync(`${file}.gz`, gzipSync(bytes, { level: 9 }));
  const params = { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length };
  writeFileSync(`${file}.br`, brotliCompressSync(bytes, { params }));
  rmSync(file);
}

function sources(): string[] {
  const folders = [
    source,
    join(root, "src", "client"),
    join(root, "src", "gen"),
    join(root, "src", "integration-graph", "export"),
  ];
  const sources = folders.flatMap(files).filter((file) => !file.startsWith(out));
  return [...sources, join(root, "package-lock.json"), import.meta.filename];
}

function files(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
    .sort();
}

function digestOf(paths: readonly string[]): string {
  const hash = createHash("sha256");
  for (const path of paths) hash.update(path).update("\0").update(readFileSync(path)).update("\0");
  return hash.digest("hex");
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) await buildDashboard();
