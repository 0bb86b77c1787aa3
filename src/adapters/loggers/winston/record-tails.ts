import type { RecordSinks } from "../../kit/loggers/record-sinks.ts";
import { type GateGroup, type GateState, gateOf, type LevelGate } from "./level-gate.ts";
import type { LevelSet } from "./level-set.ts";
import { LEVEL, type NativeLogger } from "./native.ts";
import { type FormattedRecord, writtenRecord } from "./written-record.ts";

/** A logger with its children, whose records are heard. */
export interface HeardGroup extends GateGroup {
  readonly levels: LevelSet;
  /** The most verbose value that any transport writes at a level that an operator set, or at that of the application. */
  reach(set: GateState | undefined): number;
}

/** What takes the records of a logger and its children. */
export class RecordTails<Group extends HeardGroup> {
  readonly #group: Group;
  #all: readonly RecordSinks<LevelGate<Group>>[] = [];

  constructor(group: Group) {
    this.#group = group;
  }

  get isEmpty(): boolean {
    return this.#all.length === 0;
  }

  add(sinks: RecordSinks<LevelGate<Group>>): void {
    this.#all = [...this.#all, sinks];
  }

  remove(sinks: RecordSinks<LevelGate<Group>>): void {
    this.#all = this.#all.filter((other) => other !== sinks);
  }

  clear(): void {
    this.#all = [];
  }

  /** Whether a record that a logger writes may be taken. */
  wants(logger: NativeLogger, label: string | undefined): boolean {
    return this.#has(logger, label, true);
  }

  /** Whether a record that the level of a logger drops is made for a sink alone. */
  hides(logger: NativeLogger, label: string | undefined): boolean {
    return this.#has(logger, label, false);
  }

  /** Takes a record that is handed to the transports, after its format. */
  take(logger: NativeLogger, record: unknown): void {
    if (typeof record !== "object" || record === null) return;
    const nativeLevel = (record as { readonly [LEVEL]?: string })[LEVEL]!;
    const gate = gateOf<Group>(logger);
    const verbosity = this.#group.levels.verbosity(nativeLevel);
    if (gate === undefined || verbosity === undefined) return;
    for (const sinks of this.#all) {
      const written = sinks.find(gate, verbosity);
      const unwritten = sinks.findHidden(gate, verbosity);
      if (written === undefined && unwritten === undefined) continue;
      // Without an operator's level, winston hands its transports what they drop, too.
      const hidden = this.#group.levels.value(nativeLevel) > this.#group.reach(gate.deciding);
      const sink = hidden ? unwritten : written;
      if (sink === undefined) continue;
      sinks.give(sink, () => writtenRecord(record as FormattedRecord, { verbosity, nativeLevel, hidden }));
    }
  }

  /** Takes a record that an operator's level drops. It is formatted only if a sink wants it. */
  takeHidden(logger: NativeLogger, nativeLevel: string, format: () => unknown): void {
    const gate = gateOf<Group>(logger)!;
    const verbosity = this.#group.levels.verbosity(nativeLevel)!;
    let record: unknown;
    for (const sinks of this.#all) {
      const sink = sinks.findHidden(gate, verbosity);
      if (sink === undefined) continue;
      sinks.give(sink, () => {
        record ??= format();
        if (typeof record !== "object" || record === null) return undefined;
        return writtenRecord(record as FormattedRecord, { verbosity, nativeLevel, hidden: true });
      });
    }
  }

  #has(logger: NativeLogger, label: string | undefined, isWritten: boolean): boolean {
    if (this.#all.length === 0) return false;
    const gate = gateOf<Group>(logger);
    const verbosity = this.#group.levels.verbosity(label!);
    if (gate === undefined || verbosity === undefined) return false;
    for (const sinks of this.#all) {
      if (isWritten && sinks.find(gate, verbosity) !== undefined) return true;
      if (sinks.findHidden(gate, verbosity) !== undefined) return true;
    }
    return false;
  }
}
