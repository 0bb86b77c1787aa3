import { ActuatorError } from "../common/error.ts";
import type { LoggerAdapter } from "./adapter.ts";
import { Measurement, type MeasureRequest } from "./measurement.ts";

const DEFAULT_MS = 10_000;
const LONGEST_MS = 300_000;

/**
 * Measures the loggers of the libraries that take part, for one caller at a time. While no measurement runs, nothing is counted
 * and nothing is on the way of a call.
 */
export class Measurer {
  readonly #adapters = new Set<LoggerAdapter>();
  readonly #warn: (message: string) => void;
  #running: Measurement | undefined;

  /** `warn` hears of a library that threw. */
  constructor(warn: (message: string) => void) {
    this.#warn = warn;
  }

  add(adapter: LoggerAdapter): void {
    this.#adapters.add(adapter);
    this.#running?.add(adapter);
  }

  delete(adapter: LoggerAdapter): void {
    this.#running?.delete(adapter);
    this.#adapters.delete(adapter);
  }

  /**
   * Begins to count.
   *
   * @throws ActuatorError INVALID_ARGUMENT for a duration out of bounds, RESOURCE_EXHAUSTED while another measurement runs.
   */
  start({ namePrefix = "", durationMs: duration = DEFAULT_MS }: MeasureRequest): Measurement {
    if (!(duration > 0 && duration <= LONGEST_MS)) {
      const message = `The duration is not one to measure for: more than 0 s and at most ${LONGEST_MS / 1_000} s.`;
      throw new ActuatorError("INVALID_ARGUMENT", "INVALID_DURATION", message, { field: "duration" });
    }
    if (this.#running !== undefined) {
      const left = Math.ceil(this.#running.timeLeft / 1_000);
      const message = `Somebody measures already, for ${left} s at most. One measurement runs at a time.`;
      throw new ActuatorError("RESOURCE_EXHAUSTED", "ALREADY_MEASURING", message);
    }
    const measurement = new Measurement(namePrefix, duration, (kind, error) =>
      this.#warn(`calls of ${kind} not measured: ${error}`),
    );
    this.#running = measurement;
    measurement.onEnd(() => {
      this.#running = undefined;
    });
    for (const adapter of this.#adapters) measurement.add(adapter);
    return measurement;
  }

  /** Ends the measurement that runs. */
  end(): void {
    this.#running?.end();
  }
}
