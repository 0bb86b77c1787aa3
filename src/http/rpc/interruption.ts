/** A way to end a wait for work that may never end by itself. For one wait at a time. */
export class Interruption {
  #interrupted = false;
  #reason: unknown;
  #reject: ((reason: unknown) => void) | undefined;

  get interrupted(): boolean {
    return this.#interrupted;
  }

  /** Lets the present wait, and every later one, reject with `reason`. Only the first call counts. */
  interrupt(reason: unknown): void {
    if (this.#interrupted) return;
    this.#interrupted = true;
    this.#reason = reason;
    this.#reject?.(reason);
  }

  /** Waits for the work, but not past an interruption; then work that was not yet begun never is. */
  wait<T>(work: () => Promise<T>): Promise<T> {
    if (this.#interrupted) return Promise.reject(this.#reason);
    // Not Promise.race: its reactions would pile up on a promise that lives as long as the stream.
    return new Promise<T>((resolve, reject) => {
      this.#reject = reject;
      work().then(resolve, reject);
    });
  }
}
