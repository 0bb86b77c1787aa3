import type { CallTally, LoggerAdapter } from "./adapter.ts";
import { LEVELS } from "./level.ts";
import { loggerName } from "./name.ts";

/** What is measured, and for how long. */
export interface MeasureRequest {
  /** Begins the names of the loggers that are measured. Default: all. */
  readonly namePrefix?: string | undefined;
  /** In milliseconds: over 0, at most 300,000. Default 10,000. */
  readonly durationMs?: number | undefined;
}

/** The calls of the loggers of one name. */
export interface LoggerCalls extends CallTally {
  readonly name: string;
}

/** What was counted since the measurement began. */
export interface CallReport {
  /** For how long was counted, in milliseconds. */
  readonly elapsedMs: number;
  /** The measurement is over: this is all that was counted. */
  readonly ended: boolean;
  /** Those that were called, at most 1,000: the ones with the most calls, in that order. */
  readonly loggers: readonly LoggerCalls[];
  /** The calls of all, those of loggers that are not listed included. */
  readonly total: CallTally;
  /** More loggers were called than are listed. */
  readonly more: boolean;
  /** The libraries in use whose loggers cannot be measured. */
  readonly unmeasuredKinds: readonly string[];
}

/** So many names have a tally of their own; those called first after that count in the total alone. */
const MAX_TALLIES = 10_000;
const MAX_LISTED = 1_000;

/** Counts calls for a while: from its making until its time is over or it is ended. */
export class Measurement {
  readonly #prefix: string;
  readonly #start = performance.now();
  readonly #duration: number;
  readonly #tallies = new Map<string, LoggerCalls>();
  readonly #rest: CallTally = emptyTally();
  readonly #stops = new Map<LoggerAdapter, () => void>();
  readonly #unmeasured = new Set<string>();
  readonly #listeners = new Set<() => void>();
  readonly #onFailure: (kind: string, error: unknown) => void;
  readonly #timer: NodeJS.Timeout;
  #elapsed: number | undefined;
  #restCalled = false;

  /** `onFailure` hears of a library that threw: it is not measured, or was not left as it was. */
  constructor(prefix: string, duration: number, onFailure: (kind: string, error: unknown) => void) {
    this.#prefix = prefix;
    this.#duration = duration;
    this.#onFailure = onFailure;
    this.#timer = setTimeout(() => this.end(), duration).unref();
  }

  /** Milliseconds until it ends by itself. */
  get timeLeft(): number {
    return Math.max(0, this.#start + this.#duration - performance.now());
  }

  get ended(): boolean {
    return this.#elapsed !== undefined;
  }

  /** Calls `listener` when it ends, until the returned function is called. */
  onEnd(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Measures the loggers of a library too. */
  add(adapter: LoggerAdapter): void {
    const { kind } = adapter;
    try {
      const stop = adapter.measure?.((name) => this.#tallyOf(name));
      if (stop === undefined) this.#unmeasured.add(kind);
      else this.#stops.set(adapter, stop);
    } catch (error) {
      this.#unmeasured.add(kind);
      this.#onFailure(kind, error);
    }
  }

  /** Leaves the loggers of a library alone again; what was counted stays. */
  delete(adapter: LoggerAdapter): void {
    const stop = this.#stops.get(adapter);
    this.#stops.delete(adapter);
    try {
      stop?.();
    } catch (error) {
      this.#onFailure(adapter.kind, error);
    }
  }

  /** Leaves every library as it was. May be called again. */
  end(): void {
    if (this.ended) return;
    this.#elapsed = performance.now() - this.#start;
    clearTimeout(this.#timer);
    for (const adapter of [...this.#stops.keys()]) this.delete(adapter);
    for (const listener of this.#listeners) listener();
  }

  report(): CallReport {
    const called = [...this.#tallies.values()]
      .map((calls) => ({ calls, count: callCount(calls) }))
      .filter(({ count }) => count > 0)
      .sort((one, other) => other.count - one.count || (one.calls.name < other.calls.name ? -1 : 1))
      .map(({ calls }) => calls);
    return {
      elapsedMs: this.#elapsed ?? performance.now() - this.#start,
      ended: this.ended,
      loggers: called.slice(0, MAX_LISTED),
      total: sum([...called, this.#rest]),
      more: called.length > MAX_LISTED || this.#restCalled,
      unmeasuredKinds: [...this.#unmeasured].sort(),
    };
  }

  #tallyOf(text: string): CallTally | undefined {
    const name = loggerName(text);
    if (!name.startsWith(this.#prefix)) return undefined;
    const known = this.#tallies.get(name);
    if (known !== undefined) return known;
    if (this.#tallies.size >= MAX_TALLIES) {
      this.#restCalled = true;
      return this.#rest;
    }
    const calls = { name, ...emptyTally() };
    this.#tallies.set(name, calls);
    return calls;
  }
}

function emptyTally(): CallTally {
  return { emitted: LEVELS.map(() => 0), suppressed: LEVELS.map(() => 0) };
}

function callCount({ emitted, suppressed }: CallTally): number {
  return [...emitted, ...suppressed].reduce((sum, count) => sum + count, 0);
}

function sum(tallies: readonly CallTally[]): CallTally {
  const total = emptyTally();
  for (const { emitted, suppressed } of tallies) {
    for (const index of LEVELS.keys()) {
      total.emitted[index]! += emitted[index]!;
      total.suppressed[index]! += suppressed[index]!;
    }
  }
  return total;
}
