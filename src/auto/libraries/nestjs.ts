import type { NestCommon } from "../../adapters/loggers/nestjs/index.ts";
import type { LoggerAdapter } from "../../loggers/adapter.ts";
import type { Library } from "../library.ts";
import { part } from "../parts.ts";
import { beforeFirstCall } from "../sighting.ts";

const METHODS = ["log", "error", "warn", "debug", "verbose", "fatal"] as const;

/** Contexts are found at their first record, so nothing is missed before the first record of all. */
export const nestjs: Library = {
  watch(exports, findings) {
    const nest = exports as NestCommon;
    const { Logger, ConsoleLogger } = nest;
    // Before Nest 8.
    if (ConsoleLogger === undefined) return () => {};
    const places = [Logger.prototype, Logger, ConsoleLogger.prototype].flatMap((object) =>
      METHODS.map((method) => [object, method] as const),
    );
    return beforeFirstCall(places, findings, () => {
      const { nestjsLoggers } = part<{ nestjsLoggers(nest: NestCommon): LoggerAdapter }>(
        "adapters/loggers/nestjs/index",
      );
      findings.loggers(nestjsLoggers(nest));
    });
  },
};
