import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./command.ts";

interface LockedPackage {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

/**
 * What is wrong with package-lock.json. Some releases came out before the packages of all their platforms did: npm then
 * writes a lock file without them, and `npm ci` fails elsewhere. And what the repository itself asks for is pinned.
 */
export function lockFileFaults(): string[] {
  const { packages } = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8"));
  const locked = packages as Readonly<Record<string, LockedPackage>>;
  const missing = Object.entries(locked).flatMap(([path, { optionalDependencies = {} }]) =>
    Object.keys(optionalDependencies)
      .filter((name) => !lookUpwards(path, name).some((place) => place in locked))
      .map((name) => `${path} names ${name}, which the lock file lacks`),
  );
  const { dependencies, devDependencies } = locked[""]!;
  const loose = Object.entries({ ...dependencies, ...devDependencies })
    .filter(([, version]) => !/^(npm:.+@)?\d+\.\d+\.\d+(-[\w.]+)?$/.test(version))
    .map(([name, version]) => `${name} is not pinned: ${version}`);
  return [...missing, ...loose];
}

/** Where Node.js looks for a package from the place of another: beside it, then in each `node_modules` above. */
function lookUpwards(path: string, name: string): string[] {
  const parts = path === "" ? [] : path.split(/\/?node_modules\//).slice(1);
  return parts
    .map((_, depth) => parts.slice(0, parts.length - depth))
    .concat([[]])
    .map((above) => [...above, name].map((part) => `node_modules/${part}`).join("/"));
}
