import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./command.ts";

/** An entry of package-lock.json. */
export interface LockedPackage {
  readonly version?: string;
  readonly resolved?: string;
  readonly integrity?: string;
  readonly hasInstallScript?: boolean;
  readonly dev?: boolean;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

const REGISTRY = "https://registry.npmjs.org/";

/**
 * What is wrong with package-lock.json. Some releases came out before the packages of all their platforms did: npm then
 * writes a lock file without them, and `npm ci` fails elsewhere. The tools are pinned. Dependencies are ranges, so that
 * applications get a security fix without a release of this package; here the lock file pins them. Every package is held to its
 * hash, and none that applications install with this one runs a script.
 */
export function lockFileFaults(): string[] {
  const { packages } = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8"));
  const locked = packages as Readonly<Record<string, LockedPackage>>;
  const installed = Object.entries(locked).filter(([path]) => path !== "");
  const unproven = installed
    .filter(
      ([, { resolved, integrity }]) =>
        !integrity?.startsWith("sha512-") || (resolved !== undefined && !resolved.startsWith(REGISTRY)),
    )
    .map(([path]) => `${path} has no SHA-512, or comes from elsewhere than ${REGISTRY}`);
  const scripted = installed
    .filter(([, { hasInstallScript, dev }]) => hasInstallScript && !dev)
    .map(([path]) => `${path} runs a script when an application installs it`);
  const missing = Object.entries(locked).flatMap(([path, { optionalDependencies = {} }]) =>
    Object.keys(optionalDependencies)
      .filter((name) => !lookUpwards(path, name).some((place) => place in locked))
      .map((name) => `${path} names ${name}, which the lock file lacks`),
  );
  const { dependencies, devDependencies } = locked[""]!;
  const loose = Object.entries(devDependencies ?? {})
    .filter(([, version]) => !/^(npm:.+@)?\d+\.\d+\.\d+(-[\w.]+)?$/.test(version))
    .map(([name, version]) => `${name} is not pinned: ${version}`);
  const pinned = Object.entries(dependencies ?? {})
    .filter(([, version]) => !/^\^\d+\.\d+\.\d+$/.test(version))
    .map(([name, version]) => `${name} is not a range such as ^1.2.3: ${version}`);
  return [...missing, ...loose, ...pinned, ...unproven, ...scripted];
}

/** Where Node.js looks for a package from the place of another: beside it, then in each `node_modules` above. */
export function lookUpwards(path: string, name: string): string[] {
  const parts = path === "" ? [] : path.split(/\/?node_modules\//).slice(1);
  return parts
    .map((_, depth) => parts.slice(0, parts.length - depth))
    .concat([[]])
    .map((above) => [...above, name].map((part) => `node_modules/${part}`).join("/"));
}
