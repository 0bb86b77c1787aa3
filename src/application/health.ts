/** UP while requests are welcome; OUT_OF_SERVICE from the moment a drain begins. The words are the original's. */
export type HealthStatus = "UP" | "OUT_OF_SERVICE";

/** The health of the process, told to whoever asks or watches. */
export class Health {
  #status: HealthStatus = "UP";
  readonly #listeners = new Set<(status: HealthStatus) => void>();

  get status(): HealthStatus {
    return this.#status;
  }

  set status(status: HealthStatus) {
    if (status === this.#status) return;
    this.#status = status;
    for (const listener of this.#listeners) listener(status);
  }

  /** Calls `listener` at every change until the returned function is called. */
  onChange(listener: (status: HealthStatus) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}
