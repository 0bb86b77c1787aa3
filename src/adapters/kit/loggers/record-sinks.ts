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

/** Marks a logger whose records are not wanted. */
const UNWANTED = null;

/** Whether a sink is taking a record. One for all libraries: what is written meanwhile may come from another one. */
let isGiving = false;

/** Keeps the sinks of one tail for an adapter's `tail`. Asks `sinkOf` once for each logger, at its first record. */
export function recordSinks<Handle extends { readonly name: string }>(
  sinkOf: (name: string) => RecordSink | undefined,
): RecordSinks<Handle> {
  const sinks = new WeakMap<Handle, RecordSink | typeof UNWANTED>();
  const sinkFor = (handle: Handle | undefined): RecordSink | typeof UNWANTED => {
    if (handle === undefined || isGiving) return UNWANTED;
    let sink = sinks.get(handle);
    if (sink === undefined) sinks.set(handle, (sink = sinkOf(handle.name) ?? UNWANTED));
    return sink;
  };
  return {
    find(handle, verbosity) {
      const sink = sinkFor(handle);
      return sink !== UNWANTED && verbosity <= sink.verbosity ? sink : undefined;
    },
    findHidden(handle, verbosity) {
      const sink = sinkFor(handle);
      return sink !== UNWANTED && verbosity <= sink.hiddenVerbosity ? sink : undefined;
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
