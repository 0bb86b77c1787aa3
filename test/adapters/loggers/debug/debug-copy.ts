import { createRequire } from "node:module";
import type createDebug from "debug";

const require = createRequire(import.meta.url);

/** A copy of debug and the lines that it wrote. */
export interface DebugCopy {
  readonly debug: typeof createDebug;
  readonly written: string[];
}

/** A copy of debug of its own, loaded as if `DEBUG` had this value at the start of the process. */
export function debugCopy(pattern?: string): DebugCopy {
  const before = process.env.DEBUG;
  if (pattern === undefined) delete process.env.DEBUG;
  else process.env.DEBUG = pattern;
  for (const path of Object.keys(require.cache)) if (/node_modules\/debug\//.test(path)) delete require.cache[path];
  const debug = require("debug") as typeof createDebug;
  if (before === undefined) delete process.env.DEBUG;
  else process.env.DEBUG = before;
  const written: string[] = [];
  Object.assign(debug.inspectOpts!, { hideDate: true, colors: false });
  debug.log = (...args: unknown[]) => void written.push(args.join(" "));
  return { debug, written };
}
