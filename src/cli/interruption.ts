import { constants } from "node:os";

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Turns the first signal that would end this process into a chance to leave in good order; the second ends it at once. */
export class Interruption {
  readonly #controller = new AbortController();
  readonly #listeners = SIGNALS.map((signal) => ({ signal, listener: () => this.#interrupt(signal) }));
  #exitCode: number | undefined;

  constructor() {
    for (const { signal, listener } of this.#listeners) process.once(signal, listener);
  }

  /** Aborted when a signal has come. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** What a shell makes of the signal that came: 130 for Ctrl-C. Undefined while none has. */
  get exitCode(): number | undefined {
    return this.#exitCode;
  }

  /** Leaves signals to do what they do again. */
  close(): void {
    for (const { signal, listener } of this.#listeners) process.removeListener(signal, listener);
  }

  #interrupt(signal: (typeof SIGNALS)[number]): void {
    this.close();
    this.#exitCode = 128 + constants.signals[signal];
    this.#controller.abort();
  }
}
