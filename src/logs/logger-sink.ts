import type { RecordSink, WrittenRecord } from "../loggers/adapter.ts";
import { Entry } from "./entry.ts";
import type { Raise } from "./raise.ts";
import type { HandlerNode } from "./record.ts";
import type { SharedRing } from "./rings.ts";

/** A raise of a logger's level, and the `levelVerbosity` above which records are there only because of it. */
export interface CountedRaise {
  readonly raise: Raise;
  readonly above: number;
}

/** What all sinks share. */
export interface Hearing {
  /** The component of the integration graph in whose handler this is called. */
  readonly currentNode: () => HandlerNode | undefined;
  /** Whether records are being read: what the application's redaction writes would be read again, without end. */
  isReading: boolean;
}

/** Takes the records of one logger for the rings that select it, and counts those that raised levels add. */
export class LoggerSink implements RecordSink {
  readonly verbosity: number;
  readonly #name: string;
  readonly #kind: string;
  readonly #rings: readonly SharedRing[];
  readonly #hidings: readonly Raise[];
  readonly #raises: readonly CountedRaise[];
  readonly #hearing: Hearing;

  constructor(
    name: string,
    kind: string,
    rings: readonly SharedRing[],
    raises: readonly CountedRaise[],
    hearing: Hearing,
  ) {
    this.#name = name;
    this.#kind = kind;
    this.#rings = rings;
    this.#hidings = rings.flatMap(({ hiding }) => hiding ?? []);
    this.#raises = raises;
    this.#hearing = hearing;
    const wanted = [...rings.map(({ ring }) => ring.filter.verbosity), ...raises.map(({ raise }) => raise.verbosity)];
    this.verbosity = Math.max(...wanted);
  }

  get hiddenVerbosity(): number {
    let most = 0;
    for (const { isHiding, verbosity } of this.#hidings) if (isHiding && verbosity > most) most = verbosity;
    return most;
  }

  take(record: WrittenRecord): void {
    if (this.#hearing.isReading) return;
    const { verbosity, hidden } = record;
    const time = Date.now();
    for (const { raise, above } of this.#raises) {
      const isAdditional = raise.request.onlyHere ? hidden : verbosity > above;
      if (isAdditional && verbosity <= raise.verbosity) raise.count(time);
    }
    let entry: Entry | undefined;
    for (const { ring, hiding } of this.#rings) {
      if (verbosity > ring.filter.verbosity) continue;
      if (hidden && !(hiding?.isHiding && verbosity <= hiding.verbosity)) continue;
      entry ??= new Entry(this.#name, this.#kind, time, record, this.#hearing.currentNode());
      ring.push(entry, time);
    }
  }
}
