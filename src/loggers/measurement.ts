import { ActuatorError } from "../common/error.ts";
import type { CallTally } from "./adapter.ts";
import { LEVELS } from "./level.ts";
import type { Activity, Libraries } from "./libraries.ts";
import { hasPrefix, loggerName } from "./name.ts";

/** Which loggers to measure, and for how long. */
export interface MeasureRequest {
  /** Measures the loggers whose names begin with this. Default: all. */
  readonly namePrefix?: string | undefined;
  /** More than 0, at most 300,000. Default 10,000. */
  readonly durationMs?: number | undefined;
}

/** The calls of the loggers with one name. */
export interface LoggerCalls extends CallTally {
  readonly name: string;
}

/** What was counted since the measurement started. */
export interface CallReport {
  /** How long calls were counted. */
  readonly elapsedMs: number;
  /** Whether the measurement is over, so that the numbers are final. */
  readonly ended: boolean;
  /** The loggers with the most calls, at most 1,000, in descending order. */
  readonly loggers: readonly LoggerCalls[];
  /** The calls of all loggers, including those that are not listed. */
  readonly total: CallTally;
  /** Whether more loggers were called than are listed. */
  readonly more: boolean;
  /** The attached libraries that cannot be measured. */
  readonly unmeasuredKinds: readonly string[];
}

/** The maximum of names with a tally of their own. Names first called after that count only in the total. */
const MAX_TALLIES = 10_000;
const MAX_LISTED = 1_000;
const DEFAULT_DURATION_MS = 10_000;
const MAX_DURATION_MS = 300_000;

/** Counts calls from when it is made until its time is over or it is ended. */
export class Measurement {
  readonly #prefix: string;
  readonly #start = performance.now();
  readonly #durationMs: number;
  readonly #tallies = new Map<string, LoggerCalls>();
  readonly #rest: CallTally = emptyTally();
  readonly #counting: Activity;
  readonly #listeners = new Set<() => void>();
  readonly #timer: NodeJS.Timeout;
  #elapsedMs: number | undefined;
  #restCalled = false;

  /** `onFailure` is called if an adapter throws: its library is not measured, or was not restored. */
  constructor(
    libraries: Libraries,
    prefix: string,
    durationMs: number,
    onFailure: (kind: string, error: unknown) => void,
  ) {
    this.#prefix = prefix;
    this.#durationMs = durationMs;
    this.#counting = libraries.begin((adapter) => adapter.measure?.((name) => this.#tallyOf(name)), onFailure);
    this.#timer = setTimeout(() => this.end(), durationMs).unref();
  }

  /** Milliseconds until it ends by itself. */
  get timeLeft(): number {
    return Math.max(0, this.#start + this.#durationMs - performance.now());
  }

  get ended(): boolean {
    return this.#elapsedMs !== undefined;
  }

  /** Calls `listener` when the measurement ends. Returns a function that removes the listener. */
  onEnd(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Ends the measurement and restores every library. May be called again. */
  end(): void {
    if (this.ended) return;
    this.#elapsedMs = performance.now() - this.#start;
    clearTimeout(this.#timer);
    this.#counting.end();
    for (const listener of this.#listeners) listener();
  }

  report(): CallReport {
    const called = [...this.#tallies.values()]
      .map((calls) => ({ calls, count: callCount(calls) }))
      .filter(({ count }) => count > 0)
      .sort((one, other) => other.count - one.count || (one.calls.name < other.calls.name ? -1 : 1))
      .map(({ calls }) => calls);
    return {
      elapsedMs: this.#elapsedMs ?? performance.now() - this.#start,
      ended: this.ended,
      loggers: called.slice(0, MAX_LISTED),
      total: sum([...called, this.#rest]),
      more: called.length > MAX_LISTED || this.#restCalled,
      unmeasuredKinds: this.#counting.lackingKinds,
    };
  }

  #tallyOf(text: string): CallTally | undefined {
    const name = loggerName(text);
    if (!hasPrefix(name, this.#prefix)) return undefined;
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

/** Starts measurements of all attached libraries, one at a time. Without a measurement, calls cost nothing more. */
export class Measurer {
  readonly #libraries: Libraries;
  readonly #warn: (message: string) => void;
  #running: Measurement | undefined;

  /** `warn` is called if an adapter throws. */
  constructor(libraries: Libraries, warn: (message: string) => void) {
    this.#libraries = libraries;
    this.#warn = warn;
  }

  /** @throws ActuatorError INVALID_ARGUMENT (invalid duration), RESOURCE_EXHAUSTED (another measurement is running). */
  start({ namePrefix = "", durationMs = DEFAULT_DURATION_MS }: MeasureRequest): Measurement {
    if (!(durationMs > 0 && durationMs <= MAX_DURATION_MS)) {
      const message = `The duration must be more than 0 s and at most ${MAX_DURATION_MS / 1_000} s.`;
      throw new ActuatorError("INVALID_ARGUMENT", "INVALID_DURATION", message, { field: "duration" });
    }
    if (this.#running !== undefined) {
      const left = Math.ceil(this.#running.timeLeft / 1_000);
      const message = `Another measurement is running, for at most ${left} s. Only one can run at a time.`;
      throw new ActuatorError("RESOURCE_EXHAUSTED", "ALREADY_MEASURING", message);
    }
    const measurement = new Measurement(this.#libraries, namePrefix, durationMs, (kind, error) =>
      this.#warn(`calls of ${kind} not measured: ${error}`),
    );
    this.#running = measurement;
    measurement.onEnd(() => {
      this.#running = undefined;
    });
    return measurement;
  }

  /** Ends the running measurement, if any. */
  end(): void {
    this.#running?.end();
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
