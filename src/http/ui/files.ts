import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";

/** A file of the page. */
export interface UiFile {
  /** Its `Content-Type`. */
  readonly type: string;
  /** Its entity tag, which stands for all of its encodings. */
  readonly tag: string;
  /** Whether its name changes with its content. */
  readonly isHashed: boolean;
  readonly br: Buffer;
  readonly gzip: Buffer;
  /** Its content without an encoding. */
  plain(): Buffer;
}

/** The files by their paths, such as `assets/index-Blk2mGX1.css`; empty if the page is not built. */
export type UiFiles = ReadonlyMap<string, UiFile>;

const TYPES: Readonly<Record<string, string>> = {
  ".css": "text/css; charset=utf-8",
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".svg": "image/svg+xml",
};

/** Reads the files of the page, some 200 KB, which were compressed when it was built. */
export async function uiFiles(): Promise<UiFiles> {
  const folder = builtFolder();
  if (folder === undefined || !existsSync(join(folder, "index.html.gz"))) return new Map();
  const paths = await readdir(folder, { recursive: true });
  const names = paths.filter((path) => path.endsWith(".gz")).map((path) => path.slice(0, -".gz".length));
  const files = await Promise.all(names.map((name) => readUiFile(folder, name)));
  return new Map(names.map((name, index) => [name.replaceAll("\\", "/"), files[index]!]));
}

/** Beside the folder of chunks in the package, and beside the sources otherwise. A bundle in CommonJS has no `import.meta.url`, and no page. */
function builtFolder(): string | undefined {
  const { url } = import.meta;
  return url && fileURLToPath(new URL(url.endsWith(".ts") ? "../../dashboard/built" : "../dashboard", url));
}

async function readUiFile(folder: string, name: string): Promise<UiFile> {
  const [br, gzip] = await Promise.all([readFile(join(folder, `${name}.br`)), readFile(join(folder, `${name}.gz`))]);
  return {
    type: TYPES[extname(name)] ?? "application/octet-stream",
    tag: `"${createHash("sha256").update(gzip).digest("base64url").slice(0, 22)}"`,
    isHashed: name.startsWith("assets"),
    br,
    gzip,
    plain: () => gunzipSync(gzip),
  };
}
