import { Session } from "node:inspector";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { WATCHED_FILES, type WatchedFile } from "../auto/packages.ts";
import { placeInPackages } from "../auto/place-in-packages.ts";

/** A watched file of a package that this process has loaded. */
export interface LoadedFile {
  readonly file: WatchedFile;
  /** A path, or the URL of an ES module. */
  readonly path: string;
  /** Undefined if they cannot be had. */
  readonly exports?: object | undefined;
}

const require = createRequire(import.meta.url);

/** Finds the watched files that this process has loaded already. Loads none. */
export function loadedFiles(): readonly LoadedFile[] {
  const required = filesRequired();
  const paths = new Set(required.map(({ path }) => path));
  const imported = moduleUrls().filter((url) => url.startsWith("file:") && !paths.has(fileURLToPath(url)));
  return [...required, ...imported.flatMap(moduleAt)];
}

/** CommonJS that was imported is there as well, and ES modules that were required. */
function filesRequired(): LoadedFile[] {
  return Object.entries(require.cache).flatMap(([path, module]) => {
    const file = watchedFile(path);
    return file === undefined ? [] : [{ file, path, exports: module?.exports as object | undefined }];
  });
}

function moduleAt(url: string): LoadedFile[] {
  const file = watchedFile(decodeURI(url));
  return file?.isModule ? [{ file, path: url, exports: namespaceOf(url) }] : [];
}

/** `require()` returns the instance that was imported, unless the URL has a query, or the module waits at its top level. */
function namespaceOf(url: string): object | undefined {
  try {
    return url.includes("?") ? undefined : (require(fileURLToPath(url)) as object);
  } catch {
    return undefined;
  }
}

function watchedFile(path: string): WatchedFile | undefined {
  const place = placeInPackages(path.split("?", 1)[0]!);
  return place === undefined ? undefined : WATCHED_FILES[place];
}

/** Only a debugger sees which ES modules there are. This one is in the process itself, and pauses nothing. */
function moduleUrls(): readonly string[] {
  const urls: string[] = [];
  const session = new Session();
  session.connect();
  try {
    session.on("Debugger.scriptParsed", ({ params: { url, isModule } }) => isModule && urls.push(url));
    session.post("Debugger.enable");
    session.post("Debugger.disable");
  } finally {
    session.disconnect();
  }
  return urls;
}
