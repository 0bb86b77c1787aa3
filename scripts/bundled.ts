/**
 * The packages whose code stands in `dist` itself, each with its licence in `dist/LICENSES.txt` and in the bill of materials.
 * `@dagrejs/dagre` brings `@dagrejs/graphlib` within its own file; installed, the two are 1.9 MB for 49 KB of code.
 */
export const BUNDLED: readonly string[] = ["@dagrejs/dagre", "@dagrejs/graphlib"];
