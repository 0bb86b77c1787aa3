/** Commands that begin within this part of its time share a deadline: a timer and a signal for each would cost too much. */
const SHARED_PART = 1 / 100;
/** An abort signal takes longer for each listener that it has already. */
const MOST_SHARERS = 64;

/** Starts an operation and settles in time, as the operation or with the error of `late`. */
export type WithinDeadline = <T>(start: (signal: AbortSignal) => Promise<T>, late: () => Error) => Promise<T>;

/**
 * Bounds operations by `timeout` milliseconds. The signal that an operation gets is aborted at its deadline, so that what
 * still waits to be sent then is never sent. How it ends later is nobody's concern, and no unhandled rejection.
 */
export function deadlines(timeout: number): WithinDeadline {
  let shared: Deadline | undefined;
  return (start, late) => {
    if (!shared?.takesMore) shared = new Deadline(timeout);
    return shared.bound(start, late);
  };
}

class Deadline {
  readonly #takesUntil: number;
  readonly #timer: NodeJS.Timeout;
  readonly #abort = new AbortController();
  readonly #pending = new Set<() => void>();

  constructor(timeout: number) {
    this.#takesUntil = performance.now() + timeout * SHARED_PART;
    // What is pending keeps the process alive by its connection.
    this.#timer = setTimeout(() => this.#giveUp(), timeout).unref();
  }

  get takesMore(): boolean {
    return this.#pending.size < MOST_SHARERS && performance.now() < this.#takesUntil;
  }

  bound<T>(start: (signal: AbortSignal) => Promise<T>, late: () => Error): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const giveUp = () => reject(late());
      this.#pending.add(giveUp);
      start(this.#abort.signal).then(
        (value) => {
          this.#settled(giveUp);
          resolve(value);
        },
        (error) => {
          this.#settled(giveUp);
          reject(error);
        },
      );
    });
  }

  #settled(giveUp: () => void): void {
    this.#pending.delete(giveUp);
    if (this.#pending.size === 0 && !this.takesMore) clearTimeout(this.#timer);
  }

  #giveUp(): void {
    // An abort that nobody hears costs a stack trace.
    if (this.#pending.size === 0) return;
    for (const giveUp of this.#pending) giveUp();
    this.#abort.abort();
  }
}
