import type { LoggerAdapter } from "./adapter.ts";

/** How long what was read from the libraries stays good, in milliseconds. */
const MAX_AGE_MS = 1_000;

/** Asks the libraries that tell of nothing, when somebody reads, and not more often than once a second. */
export class Refresh {
  readonly #adapters = new Set<LoggerAdapter & Required<Pick<LoggerAdapter, "refresh">>>();
  #last = Number.NEGATIVE_INFINITY;

  add(adapter: LoggerAdapter): void {
    if (adapter.refresh !== undefined) this.#adapters.add(adapter as never);
  }

  delete(adapter: LoggerAdapter): void {
    this.#adapters.delete(adapter as never);
  }

  run(): void {
    if (this.#adapters.size === 0) return;
    const now = performance.now();
    if (now - this.#last < MAX_AGE_MS) return;
    this.#last = now;
    for (const adapter of this.#adapters) adapter.refresh();
  }
}
