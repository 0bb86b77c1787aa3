import { createRequire } from "node:module";

const require = createRequire(import.meta.url);
const ending = import.meta.url.endsWith(".ts") ? ".ts" : ".js";

/**
 * Loads a part of this package at once, when it is needed: what most processes never need costs them nothing.
 *
 * @param path its path below `src`, without an ending
 */
export function part<Exports>(path: string): Exports {
  return require(`../${path}${ending}`) as Exports;
}
