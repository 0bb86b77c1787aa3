import type { ActuatorError } from "../common/error.ts";
import type { ReadReport } from "./instance.ts";

const POLL_MS = 1_000;

/** What was seen: the reports, or why there are none. */
type Seen = readonly ReadReport[] | ActuatorError;

/** Reads the reports once a second for all watchers, and never while there is none. */
export class ReportWatch {
  readonly #read: () => Promise<readonly ReadReport[]>;
  readonly #listeners = new Set<(seen: Seen) => void>();
  #latest: { readonly seen: Seen; readonly signature: string } | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isReading = false;

  /** @param read rejects with an ActuatorError */
  constructor(read: () => Promise<readonly ReadReport[]>) {
    this.#read = read;
  }

  /** Calls `listener` with what is there, and whenever it has changed. Returns a function that removes it. */
  add(listener: (seen: Seen) => void): () => void {
    this.#listeners.add(listener);
    if (this.#latest !== undefined) listener(this.#latest.seen);
    if (this.#timer === undefined) void this.#poll();
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size === 0) this.#stop();
    };
  }

  /** Ends it for all. */
  close(): void {
    this.#listeners.clear();
    this.#stop();
  }

  async #poll(): Promise<void> {
    this.#timer = undefined;
    if (this.#isReading) return;
    this.#isReading = true;
    const seen: Seen = await this.#read().catch((error: ActuatorError) => error);
    this.#isReading = false;
    if (this.#listeners.size === 0) return;
    const signature = seen instanceof Error ? seen.message : JSON.stringify(seen);
    if (signature !== this.#latest?.signature) {
      this.#latest = { seen, signature };
      for (const listener of this.#listeners) listener(seen);
    }
    // A listener may have ended its watch.
    if (this.#listeners.size > 0) this.#timer = setTimeout(() => void this.#poll(), POLL_MS).unref();
  }

  #stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#latest = undefined;
  }
}
