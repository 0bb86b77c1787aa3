import type { ReadIndexed, SessionIndex } from "./session-index.ts";

const INTERVAL_MS = 1_000;

/** Prunes an index while sessions are written, which is when it grows: at most once a second. */
export class IndexPruning {
  readonly #index: SessionIndex;
  readonly #read: ReadIndexed;
  readonly #stop = new AbortController();
  #notBefore = 0;
  #running = false;

  /** @param read returns what the store still has of sessions */
  constructor(index: SessionIndex, read: ReadIndexed) {
    this.#index = index;
    this.#read = read;
  }

  /** Notes a write, and prunes if it is time. */
  written(): void {
    const now = performance.now();
    if (this.#running || now < this.#notBefore || this.#stop.signal.aborted) return;
    this.#running = true;
    this.#notBefore = now + INTERVAL_MS;
    this.#index
      .prune(this.#read, this.#stop.signal)
      .catch(() => {})
      .finally(() => {
        this.#running = false;
      });
  }

  stop(): void {
    this.#stop.abort();
  }
}
