import type { RecordSink, WrittenRecord } from "../../../loggers/adapter.ts";

/** Finds what takes the records of one tail of an adapter, and gives it to them. */
export interface RecordSinks<Handle> {
  /** What takes a written record of this verbosity; undefined if it is not wanted, or was caused by a sink. */
  find(handle: Handle | undefined, verbosity: number): RecordSink | undefined;
  /** What takes a record of this verbosity that its logger's level drops; undefined if it is not wanted. */
  findHidden(handle: Handle | undefined, verbosity: number): RecordSink | undefined;
  /** Gives a sink the record that `make` returns, if any. Never throws; records that are written meanwhile are not wanted. */
  give(sink: RecordSink, make: () => WrittenRecord | undefined): void;
}

/** The same in smaller steps, for libraries where each nanosecond of a record can be seen. */
export interface LoggerSinks<Handle> extends RecordSinks<Handle> {
  /** What takes the records of a logger, of some verbosity; undefined if none is wanted, or a sink caused the record. */
  of(handle: Handle | undefined): RecordSink | undefined;
  /** Gives a sink a record. Never throws; records that are written meanwhile are not wanted. */
  take(sink: RecordSink, record: WrittenRecord): void;
}

/** Marks a logger whose records are not wanted. */
const UNWANTED = null;

/** Whether a sink is taking a record. One for all libraries: what is written meanwhile may come from another one. */
let isGiving = false;

/**
 * Keeps the sinks of one tail for an adapter's `tail`. Asks `sinkOf` once for each logger, at its first record.
 *
 * @example
 * ```ts
 * const sinks = recordSinks<{ readonly name: string }>((name) => undefined);
 * const head = { verbosity: LEVELS.indexOf("INFO"), nativeLevel: "info", hidden: false };
 * const sink = sinks.find({ name: "orders" }, head.verbosity);
 * if (sink) sinks.give(sink, () => keptRecord(head, { message: "paid", fields: {} }));
 * ```
 */
export function recordSinks<Handle extends { readonly name: string }>(
  sinkOf: (name: string) => RecordSink | undefined,
): LoggerSinks<Handle> {
  const sinks = new WeakMap<Handle, RecordSink | typeof UNWANTED>();
  const of = (handle: Handle | undefined): RecordSink | undefined => {
    if (handle === undefined || isGiving) return undefined;
    let sink = sinks.get(handle);
    if (sink === undefined) sinks.set(handle, (sink = sinkOf(handle.name) ?? UNWANTED));
    return sink === UNWANTED ? undefined : sink;
  };
  return {
    of,
    find(handle, verbosity) {
      const sink = of(handle);
      return sink !== undefined && verbosity <= sink.verbosity ? sink : undefined;
    },
    findHidden(handle, verbosity) {
      const sink = of(handle);
      return sink !== undefined && verbosity <= sink.hiddenVerbosity ? sink : undefined;
    },
    take(sink, record) {
      isGiving = true;
      try {
        sink.take(record);
      } catch {
        // The call that wrote the record goes on as it would without us.
      } finally {
        isGiving = false;
      }
    },
    give(sink, make) {
      isGiving = true;
      try {
        const record = make();
        if (record !== undefined) sink.take(record);
      } catch {
        // The call that wrote the record goes on as it would without us.
      } finally {
        isGiving = false;
      }
    },
  };
}
