import { levelVerbosity } from "../../../loggers/level.ts";
import { placeMethod, undoing } from "../../kit/interception/replaced-method.ts";
import { callContent } from "../../kit/loggers/call-content.ts";
import { handOver } from "../../kit/loggers/hand-over.ts";
import { keptRecord, type RecordHead } from "../../kit/loggers/kept-record.ts";
import type { RecordSinks } from "../../kit/loggers/record-sinks.ts";
import {
  type Log4js,
  type Log4jsCopy,
  type NativeClustering,
  type NativeLevel,
  type NativeRecord,
  recordLevel,
} from "./native.ts";

/** A logger, from within. */
interface NativeLogger {
  readonly category: string;
  isLevelEnabled(level: NativeLevel): boolean;
  log(level: unknown, ...data: readonly unknown[]): void;
  _log(level: NativeLevel, data: readonly unknown[]): void;
}

/** A copy of log4js whose records can be heard. */
type HeardCopy = Log4jsCopy & { readonly clustering: NativeClustering };

/**
 * Gives the records of a copy of log4js to sinks until the returned function is called. If `hides`, also those that are made for a sink
 * alone.
 */
export function tailRecords<Handle>(
  log4js: Log4js,
  { levels, clustering }: HeardCopy,
  sinks: RecordSinks<Handle>,
  handleOf: (category: string) => Handle | undefined,
  hides: boolean,
): () => void {
  let live = true;
  /** Takes the record of the call that is being made for a sink alone. */
  let hiding: ((record: NativeRecord) => void) | undefined;

  const written = (record: NativeRecord): void => {
    const verbosity = verbosityOf(record.level);
    const sink = verbosity === 0 ? undefined : sinks.find(handleOf(record.categoryName), verbosity);
    if (sink !== undefined) sinks.give(sink, () => kept(record, { ...headOf(record.level, verbosity), hidden: false }));
  };
  const verbosityOf = (level: NativeLevel): number => levelVerbosity(recordLevel(levels, level) ?? "OFF");

  const send = placeMethod(clustering, "send", (original) => {
    return function (this: unknown, value) {
      const record = value as NativeRecord;
      if (!live) return original.call(this, record);
      if (hiding !== undefined) return hiding(record);
      written(record);
      return handOver(() => original.call(this, record));
    };
  });
  const stop = () => {
    live = false;
  };
  if (!hides) return undoing([stop, send]);

  /** Makes the record as log4js would, and keeps it from the appenders. */
  const hide = (logger: NativeLogger, level: NativeLevel, data: readonly unknown[]): void => {
    const verbosity = verbosityOf(level);
    const sink = sinks.findHidden(handleOf(logger.category), verbosity);
    if (sink === undefined) return;
    hiding = (record) => {
      hiding = undefined;
      sinks.give(sink, () => kept(record, { ...headOf(level, verbosity), hidden: true }));
    };
    try {
      logger._log(level, data);
    } catch {
      // A function of the application that parses call stacks failed, which it was not called for without a sink.
    } finally {
      hiding = undefined;
    }
  };
  // It does what log4js's own does, and calls no more functions: log4js finds the caller by its place in the call stack.
  const log = placeMethod(Object.getPrototypeOf(log4js.getLogger()) as object, "log", (original) => {
    return function (this: unknown, ...values) {
      const logger = this as NativeLogger;
      const [given, ...data] = values;
      const level = levels.getLevel(given);
      if (!live || (level === undefined && data.length > 0)) return original.apply(this, values);
      if (level === undefined) return logger.log(levels.getLevel("INFO"), given);
      if (logger.isLevelEnabled(level)) return logger._log(level, data);
      return hide(logger, level, data);
    };
  });
  return undoing([stop, send, log]);
}

function headOf({ levelStr }: NativeLevel, verbosity: number): Omit<RecordHead, "hidden"> {
  return { verbosity, nativeLevel: levelStr };
}

function kept({ data, context }: NativeRecord, head: RecordHead) {
  return keptRecord(head, callContent(data, context));
}
