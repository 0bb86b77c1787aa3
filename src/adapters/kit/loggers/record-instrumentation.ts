import type { RecordSink, WrittenRecord } from "../../../loggers/adapter.ts";
import { Instrumentation } from "./instrumentation.ts";
import { recordSinks } from "./record-sinks.ts";

/** What is known of a record before its content is read. */
export type RecordBorder = Pick<WrittenRecord, "verbosity" | "hidden">;

/** What hears the records of one copy of a library. `Source` is how the library says which logger writes. */
export interface RecordObserver<Source> {
  /** Whether it wants records that a level drops. */
  readonly hides: boolean;
  wants(source: Source, border: RecordBorder): boolean;
  /** Takes the record that `make` returns if it wants it. Never throws. */
  take(source: Source, border: RecordBorder, make: () => WrittenRecord): void;
}

/** An observer for an adapter's `tail`. `handleOf` returns the managed logger that a record counts for. */
export function recordObserver<Source, Handle extends { readonly name: string }>(
  sinkOf: (name: string) => RecordSink | undefined,
  handleOf: (source: Source) => Handle | undefined,
  hides: boolean,
): RecordObserver<Source> {
  const sinks = recordSinks<Handle>(sinkOf);
  const find = (source: Source, { verbosity, hidden }: RecordBorder) =>
    hidden ? sinks.findHidden(handleOf(source), verbosity) : sinks.find(handleOf(source), verbosity);
  return {
    hides,
    wants: (source, border) => find(source, border) !== undefined,
    take(source, border, make) {
      const sink = find(source, border);
      if (sink !== undefined) sinks.give(sink, make);
    },
  };
}

/** Replaces methods of one copy of a library while its records are heard. */
export abstract class RecordInstrumentation<Source> extends Instrumentation<RecordObserver<Source>> {
  /** Whether an observer wants records that a level drops. */
  protected get hides(): boolean {
    for (const { hides } of this.observers) if (hides) return true;
    return false;
  }

  protected wants(source: Source, border: RecordBorder): boolean {
    for (const observer of this.observers) if (observer.wants(source, border)) return true;
    return false;
  }

  protected tell(source: Source, border: RecordBorder, make: () => WrittenRecord): void {
    for (const observer of this.observers) observer.take(source, border, make);
  }
}
