import { createRequire } from "node:module";

const require = createRequire(import.meta.url);
const ending = import.meta.url.endsWith(".ts") ? ".ts" : ".js";

/**
 * Loads a part of this package at once, when it is needed: what most processes never need costs them nothing.
 *
 * @param path its path below `src`, without an ending
 */
export function part<Exports>(path: string): Exports {
  return require(fileOf(path)) as Exports;
}

/** The path of the file of such a part, for another process to load. */
export function partPath(path: string): string {
  return require.resolve(fileOf(path));
}

/** `src` and `dist` have it at the same place. */
function fileOf(path: string): string {
  return `../${path}${ending}`;
}
