import module from "node:module";
import { WATCHED_FILES, type WatchedFile } from "./packages.ts";
import { placeInPackages } from "./place-in-packages.ts";

/** Called with the exports of a watched file, before the code that loads it gets them. `path` is a path or a URL. */
export type OnLoad = (file: WatchedFile, exports: object, path: string) => void;

type Compile = (this: { exports: object }, content: string, path: string, ...rest: unknown[]) => unknown;

interface CompiledModule {
  readonly exports: object;
  readonly filename?: string | null;
  _compile: Compile;
}

interface CompilingModule {
  readonly prototype: CompiledModule;
}

/** Where the code that is added to watched ES modules hands its namespace over. */
const LOADED = Symbol.for("connect-actuator.loaded");

/**
 * Looks at the watched files of packages as they are loaded. CommonJS is seen where Node.js compiles it, whether it is imported or
 * required, also beside other loaders; ES modules by a load hook, where Node.js has one that leaves CommonJS alone.
 *
 * @returns a function that stops it
 */
export function watchLoads(onLoad: OnLoad): () => void {
  const stops = [watchCommonJs(onLoad), ...(hasSafeHooks() ? [watchModules(onLoad)] : [])];
  return () => {
    for (const stop of stops) stop();
  };
}

/**
 * Whether ES modules are seen. With a load hook, the versions before cannot import CommonJS any more ("request for './index.js' is not in
 * cache"; seen with 22.15), so they get none.
 */
export function hasSafeHooks(version: string = process.versions.node): boolean {
  const [major = 0, minor = 0, patch = 0] = version.split(".").map(Number);
  const [minMinor, minPatch] = SAFE_SINCE[major] ?? (major > 25 ? [0, 0] : [Infinity, 0]);
  return minor > minMinor! || (minor === minMinor && patch >= minPatch!);
}

/** By major version, the first minor and patch whose synchronous load hooks leave CommonJS alone. */
const SAFE_SINCE: Readonly<Record<number, readonly [minor: number, patch: number]>> = {
  22: [22, 3],
  24: [11, 1],
  25: [1, 0],
};

/**
 * Of other files than the watched ones, Node.js gets the method as it is: what is thrown while they run shows no frame of ours. Code that
 * replaces the method, on the prototype or on a module, gets what it is used to.
 */
function watchCommonJs(onLoad: OnLoad): () => void {
  const { prototype } = module as unknown as CompilingModule;
  const descriptor = Object.getOwnPropertyDescriptor(prototype, "_compile")!;
  const compile = prototype._compile;
  const name = Object.getOwnPropertyDescriptor(compile, "name")!;
  let live = true;
  const watched: Compile = function _compile(content, path, ...rest) {
    const result = compile.call(this, content, path, ...rest);
    const file = live && rest[0] !== "module" ? commonJsAt(path) : undefined;
    if (file !== undefined) onLoad(file, this.exports, path);
    return result;
  };
  const get = function (this: CompiledModule): Compile {
    // What asks the prototype itself is about to wrap the method.
    return this === prototype || commonJsAt(this.filename) !== undefined ? watched : compile;
  };
  const set = function (this: CompiledModule, value: Compile): void {
    Object.defineProperty(this, "_compile", { ...descriptor, value });
  };
  Object.defineProperty(prototype, "_compile", { get, set, configurable: true, enumerable: descriptor.enumerable! });
  // A stack names a function without a name by the property that holds it.
  if (name.value === "") Object.defineProperty(compile, "name", { ...name, value: "_compile" });
  return () => {
    live = false;
    Object.defineProperty(compile, "name", name);
    if (Object.getOwnPropertyDescriptor(prototype, "_compile")?.get !== get) return;
    Object.defineProperty(prototype, "_compile", descriptor);
  };
}

function commonJsAt(path: string | null | undefined): WatchedFile | undefined {
  const place = path == null ? undefined : placeInPackages(path);
  return place === undefined ? undefined : WATCHED_FILES[place];
}

function watchModules(onLoad: OnLoad): () => void {
  const receivers = globalThis as { [LOADED]?: (url: string, exports: object) => void };
  const receive = (url: string, exports: object) => {
    const file = moduleAt(url);
    if (file !== undefined) onLoad(file, exports, url);
  };
  receivers[LOADED] = receive;
  const hooks = module.registerHooks({
    load(url, context, nextLoad) {
      const loaded = nextLoad(url, context);
      if (moduleAt(url) === undefined || loaded.format !== "module" || loaded.source == null) return loaded;
      return { ...loaded, source: `${textOf(loaded.source)}\n${handingOver(url)}` };
    },
  });
  return () => {
    hooks.deregister();
    if (receivers[LOADED] === receive) delete receivers[LOADED];
  };
}

function moduleAt(url: string): WatchedFile | undefined {
  if (!url.startsWith("file:")) return undefined;
  const place = placeInPackages(url.split("?", 1)[0]!);
  const file = place === undefined ? undefined : WATCHED_FILES[decodeURI(place)];
  return file?.isModule ? file : undefined;
}

function textOf(source: string | ArrayBuffer | NodeJS.TypedArray): string {
  return typeof source === "string" ? source : Buffer.from(source as Uint8Array).toString();
}

/** A module may import itself, so its exports stay as they are. */
function handingOver(url: string): string {
  const key = JSON.stringify(LOADED.description);
  return `import * as $connectActuator from ${JSON.stringify(url)};globalThis[Symbol.for(${key})]?.(${JSON.stringify(url)}, $connectActuator);\n`;
}
