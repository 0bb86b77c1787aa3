import { ActuatorError } from "./error.ts";

/** The longest delay of a timer of Node.js, 24.8 days in milliseconds; a longer one would fire at once. */
export const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** Work that is awaited: a promise, or a function that starts it and gets a signal that is aborted when the time is up. */
export type TimedWork<T> = PromiseLike<T> | ((signal: AbortSignal) => T | PromiseLike<T>);

/** How {@link withTimeout} waits. */
export interface TimeoutOptions {
  /** Whether the process may exit while it waits. Default false. */
  readonly background?: boolean | undefined;
}

/**
 * Waits for work for at most `ms` milliseconds. What becomes of the work afterwards is ignored; a late rejection is not an unhandled
 * one. A function that throws rejects like one that returns a rejected promise.
 *
 * @param ms above 0; more than {@link LONGEST_TIMER_MS}, such as Infinity, is no limit
 * @param what takes too long, such as "The session store", or a function that makes the error
 * @throws ActuatorError UNAVAILABLE (reason TIMEOUT), or the error that `what` made, if the time is up first; it is also the reason
 *   of the signal
 */
export function withTimeout<T>(
  work: TimedWork<T>,
  ms: number,
  what: string | (() => Error),
  { background = false }: TimeoutOptions = {},
): Promise<T> {
  // Only a function can use the signal, and a controller for each call of a store would cost more than its timer.
  const controller = typeof work === "function" ? new AbortController() : undefined;
  return new Promise<T>((resolve, reject) => {
    const stop = timerOf(ms, background, () => {
      const error = typeof what === "function" ? what() : timeoutError(what, ms);
      reject(error);
      controller?.abort(error);
    });
    const answer = typeof work === "function" ? (async () => work(controller!.signal))() : work;
    answer.then(
      (value) => {
        stop();
        resolve(value);
      },
      (error) => {
        stop();
        reject(error);
      },
    );
  });
}

/** Waits for a promise for at most `ms` milliseconds and tells whether it was fulfilled by then; rejects if the promise does. */
export function settlesWithin(
  promise: PromiseLike<unknown>,
  ms: number,
  { background = false }: TimeoutOptions = {},
): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const stop = timerOf(ms, background, () => resolve(false));
    promise.then(
      () => {
        stop();
        resolve(true);
      },
      (error) => {
        stop();
        reject(error);
      },
    );
  });
}

/** Returns a function that stops it. */
function timerOf(ms: number, background: boolean, onTimeout: () => void): () => void {
  if (ms > LONGEST_TIMER_MS) return () => {};
  let last: NodeJS.Immediate | undefined;
  const timer = setTimeout(() => {
    // A process that was held up for as long first reads what has arrived in the meantime.
    last = setImmediate(onTimeout);
  }, ms);
  if (background) timer.unref();
  return () => {
    clearTimeout(timer);
    clearImmediate(last);
  };
}

function timeoutError(what: string, ms: number): ActuatorError {
  return new ActuatorError("UNAVAILABLE", "TIMEOUT", `${what} did not answer within ${ms} ms.`);
}
