import { LEVELS } from "../../../loggers/level.ts";
import type { RecordSinks } from "../../kit/loggers/record-sinks.ts";
import { levelOrder } from "./level-order.ts";
import { type LineKeys, LineRecord } from "./line-record.ts";
import type { LoggerSet } from "./logger-set.ts";
import type { ManagedLoggers } from "./managed-loggers.ts";
import type { LineSymbols, NativeLogger } from "./native.ts";

/** The verbosity of records that no level but the application's own lets through. */
const TRACE = LEVELS.length - 1;

/**
 * Gives the records of one copy's loggers to sinks until the returned function is called. If `hides`, also those that are made for a
 * sink alone.
 */
export function tailRecords(managed: ManagedLoggers, sinks: RecordSinks<LoggerSet>, hides: boolean): () => void {
  const { copy, instrumentation } = managed;
  const { tap, interception } = instrumentation;
  const { shadows } = interception;
  const stopTap = tap.observe((logger, line, value, head) => {
    const { label, verbosity = TRACE } = levelOrder(copy, logger).record(value);
    const hidden = shadows.has(logger);
    const set = managed.nearest(logger);
    const sink = hidden ? sinks.findHidden(set, verbosity) : sinks.find(set, verbosity);
    if (sink === undefined) return;
    sinks.give(sink, () => {
      const text = finished(copy.lines, logger, line);
      return new LineRecord({ verbosity, nativeLevel: label, hidden }, text, head, keysOf(copy.lines, logger));
    });
  });
  if (!hides) return stopTap;
  const stopHiding = interception.hide(
    (logger, verbosity) => sinks.findHidden(managed.followed(logger), verbosity) !== undefined,
    managed.withOwnMethods(),
  );
  return () => {
    stopHiding();
    stopTap();
  };
}

/** The line after `hooks.streamWrite`, where some applications redact. */
function finished({ hooks }: LineSymbols, logger: NativeLogger, line: string): string {
  const { streamWrite } = logger[hooks] as { streamWrite?: (line: string) => unknown };
  return streamWrite ? String(streamWrite(line)) : line;
}

function keysOf({ messageKey, errorKey, nestedKey }: LineSymbols, logger: NativeLogger): LineKeys {
  return {
    message: logger[messageKey] as string,
    error: errorKey === undefined ? "err" : (logger[errorKey] as string),
    nested: logger[nestedKey] as string | null,
  };
}
