import { readFileSync } from "node:fs";
import { basename, dirname, isAbsolute, join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { getCallSites } from "node:util";
import { placeInPackages } from "./place-in-packages.ts";

/** The application that a process runs. */
export interface Identity {
  /** The `name` of its package.json, or the name of its script. */
  readonly name: string;
  readonly version?: string | undefined;
  /** The path of the script; undefined for code from the command line. */
  readonly script?: string | undefined;
  /** The folder of its package.json, or of its script. */
  readonly folder: string;
}

/** Finds out which application a process runs, by its script and the package.json above it. */
export function applicationIdentity(script: string | undefined = process.argv[1]): Identity {
  // The working folder may have been removed, as that of an earlier release.
  const start = script === undefined ? process.cwd() : dirname(script);
  for (let folder = start; ; folder = dirname(folder)) {
    const { name, version } = packageIn(folder);
    if (typeof name === "string" && name !== "") {
      return { name, version: typeof version === "string" ? version : undefined, script, folder };
    }
    if (dirname(folder) === folder) break;
  }
  return { name: script === undefined ? "node" : basename(script), version: undefined, script, folder: start };
}

function packageIn(folder: string): { name?: unknown; version?: unknown } {
  try {
    return JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as object;
  } catch {
    return {};
  }
}

/** Where an application's own code usually stands. */
const SOURCES = new Set(["src", "dist", "build", "lib", "out"]);

/**
 * Names the code that called the library at `path`, and that is neither its own nor ours: the package that it belongs to, or its path in
 * the application, as a logger's name. Undefined if it cannot be told.
 */
export function nameOfCaller(path: string, folder: string): string | undefined {
  const isLibrary = within(packageFolder(path));
  const caller = stack().find((file) => !isLibrary(file));
  if (caller === undefined) return undefined;
  const place = placeInPackages(caller);
  if (place !== undefined) return packageName(place);
  const parts = relative(folder, caller)
    .replace(/\.[^.]+$/, "")
    .split(sep);
  if (parts[0] === "..") return parts.at(-1);
  if (parts.length > 1 && SOURCES.has(parts[0]!)) parts.shift();
  if (parts.length > 1 && parts.at(-1) === "index") parts.pop();
  return parts.join(".");
}

/** A call of a library that runs now. */
export interface LibraryCall {
  /** The package that calls it; "" for code of the application, undefined if it cannot be told. */
  readonly from: string | undefined;
  /** The paths of the code of the library that the call came through, the innermost first. */
  readonly through: readonly string[];
}

/** Which code called the library at `path`. Ours does not count: it stands around the methods of libraries. */
export function libraryCall(path: string): LibraryCall {
  const isLibrary = within(packageFolder(path));
  const files = stack();
  const at = files.findIndex((file) => !isLibrary(file));
  const caller = files[at];
  const place = caller === undefined ? undefined : placeInPackages(caller);
  const from = place === undefined ? "" : packageName(place);
  return { from: caller === undefined ? undefined : from, through: at < 0 ? files : files.slice(0, at) };
}

/** The name of the package to which a place in `node_modules` belongs. */
function packageName(place: string): string {
  return place.split("/", place.startsWith("@") ? 2 : 1).join("/");
}

/** Whether code is of this package. This file, or the chunk that it is in, is one folder below the one that has all of it: `src` or `dist`. */
const isOurs = within(fileURLToPath(new URL("..", import.meta.url)));
const MAX_FRAMES = 20;

/** The paths of the code that runs, the innermost first, without ours. */
function stack(): readonly string[] {
  const { stackTraceLimit, prepareStackTrace } = Error;
  const holder: { stack?: unknown } = {};
  // Hardened applications freeze both, and an assignment would throw.
  Reflect.set(Error, "stackTraceLimit", MAX_FRAMES);
  // The text of a stack cannot be read back: paths may contain parentheses and colons.
  Reflect.set(Error, "prepareStackTrace", (_: unknown, frames: readonly NodeJS.CallSite[]) =>
    frames.map((frame) => frame.getFileName() ?? ""),
  );
  Error.captureStackTrace(holder, stack);
  // If it is frozen: without asynchronous callers.
  const files = Array.isArray(holder.stack)
    ? (holder.stack as string[])
    : getCallSites(MAX_FRAMES).map(({ scriptName }) => scriptName);
  Reflect.set(Error, "prepareStackTrace", prepareStackTrace);
  Reflect.set(Error, "stackTraceLimit", stackTraceLimit);
  return files.map(pathOf).filter((file) => isAbsolute(file) && !isOurs(file));
}

/** Whether a file is below a folder. */
function within(folder: string): (file: string) => boolean {
  const start = join(folder, sep);
  return (file) => file.startsWith(start);
}

/** Code that is made from text may be named as it likes. */
function pathOf(file: string): string {
  try {
    return file.startsWith("file:") ? fileURLToPath(file) : file;
  } catch {
    return "";
  }
}

/** The folder of the package that a path or URL stands in. */
function packageFolder(pathOrUrl: string): string {
  const path = pathOrUrl.startsWith("file:") ? fileURLToPath(pathOrUrl) : pathOrUrl;
  const place = placeInPackages(path);
  if (place === undefined) return dirname(path);
  const depth = place.split("/").length - (place.startsWith("@") ? 2 : 1);
  return Array.from({ length: depth }).reduce<string>((folder) => dirname(folder), path);
}
