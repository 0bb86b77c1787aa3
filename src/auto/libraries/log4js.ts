import { createRequire } from "node:module";
import { join } from "node:path";
import type { Log4js, Log4jsLoggersOptions } from "../../adapters/loggers/log4js/index.ts";
import type { LoggerAdapter } from "../../loggers/adapter.ts";
import type { Library } from "../library.ts";
import { part } from "../parts.ts";
import { beforeFirstCall } from "../sighting.ts";

interface Adapters {
  log4jsLoggers(log4js: Log4js, options: Log4jsLoggersOptions): LoggerAdapter;
}

/** The first category is set when the application configures log4js or asks for a logger. */
export const log4js: Library = {
  watch(exports, findings, path) {
    const log4js = exports as Log4js & { isConfigured?(): boolean };
    // log4js has loaded it. Before log4js 6 it is no map.
    const { cache } = createRequire(path);
    const loaded = (file: string): object | undefined => cache[join(path, "..", file)]?.exports;
    const categories = loaded("categories.js");
    if (!(categories instanceof Map)) return () => {};
    const attach = () => {
      const { log4jsLoggers } = part<Adapters>("adapters/loggers/log4js/index");
      findings.loggers(log4jsLoggers(log4js, { categories, clustering: loaded("clustering.js") }));
    };
    if (log4js.isConfigured?.() !== true) return beforeFirstCall([[categories, "set"]], findings, attach);
    attach();
    return () => {};
  },
};
