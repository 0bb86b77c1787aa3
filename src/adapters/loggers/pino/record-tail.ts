import type { RecordSink } from "../../../loggers/adapter.ts";
import type { LoggerSinks } from "../../kit/loggers/record-sinks.ts";
import { LineFormat } from "./line-format.ts";
import { LineRecord } from "./line-record.ts";
import type { LoggerSet } from "./logger-set.ts";
import type { ManagedLoggers } from "./managed-loggers.ts";
import type { NativeLogger } from "./native.ts";

/**
 * Gives the records of one copy's loggers to sinks until the returned function is called. If `hides`, also those that are made for a
 * sink alone.
 */
export function tailRecords(managed: ManagedLoggers, sinks: LoggerSinks<LoggerSet>, hides: boolean): () => void {
  const { copy, instrumentation } = managed;
  const { tap, interception } = instrumentation;
  const { shadows } = interception;
  // Most applications have one root.
  let format: LineFormat | undefined;
  const offer = (sink: RecordSink, logger: NativeLogger, line: string, value: number, time: string): void => {
    if (format?.levels !== logger.levels) format = new LineFormat(copy, logger);
    const hidden = shadows.has(logger);
    if (format.verbosity(value) > (hidden ? sink.hiddenVerbosity : sink.verbosity)) return;
    const record = new LineRecord(format, line, value, time, hidden);
    if (format.streamWrite === undefined) sinks.take(sink, record);
    else giveFinished(sink, record);
  };
  // A function of its own, because a closure in the other one would cost each record.
  const giveFinished = (sink: RecordSink, record: LineRecord) => sinks.give(sink, () => record.finished());
  const stopTap = tap.observe((logger, line, value, time) => {
    const sink = sinks.of(managed.nearest(logger));
    if (sink !== undefined) offer(sink, logger, line, value, time);
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
