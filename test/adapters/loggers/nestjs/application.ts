import { onTestFinished } from "vitest";
import { type NestjsLoggersOptions, nestjsLoggers } from "../../../../src/adapters/loggers/nestjs/index.ts";
import { Loggers } from "../../../../src/loggers/loggers.ts";
import { collectLines } from "../../../support/nest-lines.ts";
import { borrowNest, type Nest } from "../../../support/nest-versions.ts";

/** Nest's methods, from the most severe on. */
export const METHODS = ["fatal", "error", "warn", "log", "debug", "verbose"] as const;

/** Nest with the adapter attached until the test ends, and what it writes. */
export function managed(nest: Nest, options?: NestjsLoggersOptions) {
  borrowNest(nest);
  const lines = collectLines();
  const loggers = new Loggers({ groups: { web: ["Http", "Router"] } });
  const detach = loggers.attach(nestjsLoggers(nest, options));
  onTestFinished(detach);
  return { loggers, lines, detach };
}

/** Calls every method once, with its own name as the message. */
export function callAll(logger: object, ...rest: unknown[]): void {
  for (const method of METHODS) (logger as Record<string, (...args: unknown[]) => void>)[method]?.(method, ...rest);
}

/** The messages alone, of one context or of all. */
export function messages(lines: readonly string[], context?: string): string[] {
  const of = context === undefined ? lines : lines.filter((line) => line.includes(`[${context}]`));
  return of.map((line) => line.slice(line.lastIndexOf(" ") + 1));
}
