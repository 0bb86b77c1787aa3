import { createRequire } from "node:module";

/**
 * Loads a part of this package at once, when it is needed: what most processes never need costs them nothing.
 *
 * @param path its path below `src`, without an ending
 */
export function part<Exports>(path: string): Exports {
  return createRequire(import.meta.url)(fileOf(path)) as Exports;
}

/** The path of the file of such a part, for another process to load. */
export function partPath(path: string): string {
  return createRequire(import.meta.url).resolve(fileOf(path));
}

/** `src` and `dist` have it at the same place. A bundle in CommonJS has no `import.meta.url`, and no parts. */
function fileOf(path: string): string {
  const ending = import.meta.url.endsWith(".ts") ? ".ts" : ".js";
  return `../${path}${ending}`;
}
