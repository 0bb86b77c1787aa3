import { readFileSync, realpathSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, sep } from "node:path";
import { ActuatorError } from "../../common/error.ts";

/** The versions of a library that an adapter supports. */
export interface SupportedLibrary {
  /** The subpath of connect-actuator, such as `pino`; undefined for what several subpaths share. */
  readonly subpath?: string;
  /** The library's package, such as `pino`. */
  readonly library: string;
  /**
   * The oldest and the newest supported version, as the error states them: `8 to 10` is 8.0.0 up to the last 10.x, `4.3 to 4.x`
   * is 4.3.0 up to the last 4.x, `5` is every 5.x.
   */
  readonly versions: string;
}

/**
 * Refuses a version of a library that an adapter does not support. The package declares no peer dependencies, because npm
 * resolves them for every adapter at once: an application with redis 4 could not install it even if it only used pino.
 *
 * `stated` is the version that the library's own object states. Without one, it is read from the `package.json` of the copies
 * that Node.js has loaded with `require`, then, for libraries that are ES modules, of the copies that the application's main
 * module and its working directory resolve to. One supported copy is enough, since objects do not tell which copy made them.
 * A version that is not found is accepted: the library may be bundled, and adapters check the shape of each object anyway.
 *
 * | adapter | where the version is found |
 * |---|---|
 * | pino | `version` of the prototype of its loggers |
 * | winston | `version` of the module if it was given, else the loaded copies |
 * | mqtt | `VERSION` of the client's class |
 * | nats | `protocol.version` of the connection |
 * | debug | its shape (`destroy`, since 4.3); the loaded copies name the version in the error |
 * | log4js, amqplib, kafkajs, redis, ioredis, pg, express-session, connect-pg-simple, session-file-store, `@fastify/session`, `@opentelemetry/*` | the loaded copies: CommonJS |
 * | nestjs, logtape, bullmq, connect-redis, koa-session, better-auth, `@platformatic/kafka` | the loaded copies, else the resolved ones: ES modules |
 *
 * @example
 * ```ts
 * requireVersion({ subpath: "pino", library: "pino", versions: "8 to 10" });
 * ```
 *
 * @throws ActuatorError FAILED_PRECONDITION if the version is known and not supported.
 */
export function requireVersion({ subpath, library, versions }: SupportedLibrary, stated?: unknown): void {
  const key = `${library} ${versions}`;
  if (!isVersion(stated) && accepted.has(key)) return;
  const found = isVersion(stated) ? [stated] : versionsOf(library);
  const [version] = found;
  if (version === undefined || found.some((each) => isWithin(versions, each))) {
    if (version !== undefined && !isVersion(stated)) accepted.add(key);
    return;
  }
  const [oldest] = bounds(versions);
  const remedy =
    compare(version, oldest) < 0 ? `update ${library}` : `update connect-actuator, or use ${library} ${versions}`;
  const adapter = ["connect-actuator", subpath].filter(Boolean).join("/");
  const message = `${adapter} supports ${library} ${versions}, not ${version}; ${remedy}.`;
  throw new ActuatorError("FAILED_PRECONDITION", "UNSUPPORTED_VERSION", message, { library, version });
}

/** Libraries of which a supported copy was found: objects are given often, and the search takes half a millisecond. */
const accepted = new Set<string>();

/** The versions of the copies of a library that the process uses, as far as they can be found without loading one. */
function versionsOf(library: string): readonly string[] {
  const loaded = loadedCopies(library);
  const manifests = loaded.size > 0 ? [...loaded].map(manifestIn) : resolvedCopies(library).filter(isModule);
  return [...new Set(manifests.map((manifest) => manifest?.version).filter(isVersion))];
}

/** The folders of the copies of which Node.js has loaded CommonJS modules. */
function loadedCopies(library: string): ReadonlySet<string> {
  const folder = `${sep}node_modules${sep}${library.replaceAll("/", sep)}${sep}`;
  const copies = new Set<string>();
  for (const file of loadedFiles()) {
    const at = file.lastIndexOf(folder);
    // `package.json` alone says nothing: tools read it of libraries that nothing uses.
    if (at >= 0 && !file.endsWith(".json")) copies.add(file.slice(0, at + folder.length));
  }
  return copies;
}

function loadedFiles(): readonly string[] {
  try {
    return Object.keys(createRequire(import.meta.url).cache);
  } catch {
    // Bundled as CommonJS, this module has no URL.
    return [];
  }
}

/** What the application's main module and its working directory resolve the library to. */
function resolvedCopies(library: string): readonly (Manifest | undefined)[] {
  return [mainFolder(), process.cwd()].map((start) => {
    for (let folder = start; folder !== undefined; folder = dirname(folder) === folder ? undefined : dirname(folder)) {
      const manifest = manifestIn(join(folder, "node_modules", library));
      if (manifest !== undefined) return manifest;
    }
    return undefined;
  });
}

function mainFolder(): string | undefined {
  try {
    return process.argv[1] && dirname(realpathSync(process.argv[1]));
  } catch {
    return undefined;
  }
}

interface Manifest {
  readonly version?: unknown;
  readonly type?: unknown;
  readonly exports?: unknown;
}

function manifestIn(folder: string): Manifest | undefined {
  try {
    return JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  } catch {
    return undefined;
  }
}

/** Whether the library can be loaded as ES modules; otherwise a copy that is in use would be among the loaded ones. */
function isModule(manifest: Manifest | undefined): boolean {
  return manifest?.type === "module" || (JSON.stringify(manifest?.exports) ?? "").includes('"import":');
}

function isVersion(value: unknown): value is string {
  return typeof value === "string" && /^\d+\.\d+\.\d+/.test(value);
}

function isWithin(versions: string, version: string): boolean {
  const [oldest, newest] = bounds(versions);
  return compare(version, oldest) >= 0 && compare(version, newest) <= 0;
}

function bounds(versions: string): readonly [oldest: string, newest: string] {
  const [oldest = "", newest = oldest] = versions.split(" to ");
  return [oldest, newest];
}

/** Compares as many parts as the bound has: 10.4.0 is equal to 10. */
function compare(version: string, bound: string): number {
  const parts = version.split(".").map((part) => Number.parseInt(part, 10));
  for (const [index, part] of bound.split(".").entries()) {
    const difference = (parts[index] ?? 0) - Number.parseInt(part, 10);
    if (part !== "x" && difference !== 0) return difference;
  }
  return 0;
}
