import { constants } from "node:os";
import { whenReaderLeaves } from "./output.ts";

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Turns the first signal that would end this process into an abort signal, for an orderly end; a second one ends it at once. */
export class Interruption {
  readonly #controller = new AbortController();
  readonly #listeners = SIGNALS.map((signal) => ({ signal, listener: () => this.#interrupt(signal) }));
  #exitCode: number | undefined;

  constructor() {
    for (const { signal, listener } of this.#listeners) process.once(signal, listener);
  }

  /** Aborted when a signal has arrived. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** The exit code for the signal that arrived, 130 for Ctrl-C; undefined as long as none has. */
  get exitCode(): number | undefined {
    return this.#exitCode;
  }

  /** Restores the default effect of the signals. */
  close(): void {
    for (const { signal, listener } of this.#listeners) process.removeListener(signal, listener);
  }

  #interrupt(signal: (typeof SIGNALS)[number]): void {
    this.close();
    this.#exitCode = 128 + constants.signals[signal];
    this.#controller.abort();
  }
}

/** Aborted when a stream of records is to end: a signal has arrived, the reader of the output has left, or the time in milliseconds is over. */
export function endOf({ signal }: Interruption, time?: number): AbortSignal {
  const left = new AbortController();
  whenReaderLeaves(() => left.abort());
  return AbortSignal.any([signal, left.signal, ...(time === undefined ? [] : [AbortSignal.timeout(time)])]);
}
