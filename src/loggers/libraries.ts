import type { LoggerAdapter } from "./adapter.ts";

/** Begins something on a library. Returns what ends it, or undefined if the library cannot do this. */
export type Begin = (adapter: LoggerAdapter) => (() => void) | undefined;

/** All attached libraries, and what is under way on each of them. */
export class Libraries {
  readonly #adapters = new Set<LoggerAdapter>();
  readonly #activities = new Set<Activity>();

  all(): Iterable<LoggerAdapter> {
    return this.#adapters;
  }

  /** Begins on a library what is under way on the others. */
  add(adapter: LoggerAdapter): void {
    this.#adapters.add(adapter);
    for (const activity of this.#activities) activity.add(adapter);
  }

  /** Ends all that is under way on a library. */
  delete(adapter: LoggerAdapter): void {
    this.#adapters.delete(adapter);
    for (const activity of this.#activities) activity.delete(adapter);
  }

  /**
   * Begins something on every library, including those that are attached later, until it is ended. `onFailure` is called if a library
   * throws; the others go on.
   */
  begin(begin: Begin, onFailure: (kind: string, error: unknown) => void): Activity {
    const activity = new Activity(begin, onFailure, () => this.#activities.delete(activity));
    this.#activities.add(activity);
    for (const adapter of this.#adapters) activity.add(adapter);
    return activity;
  }
}

/** Something that is under way on every library. */
export class Activity {
  readonly #begin: Begin;
  readonly #onFailure: (kind: string, error: unknown) => void;
  readonly #onEnd: () => void;
  readonly #ends = new Map<LoggerAdapter, () => void>();
  readonly #lacking = new Set<string>();

  constructor(begin: Begin, onFailure: (kind: string, error: unknown) => void, onEnd: () => void) {
    this.#begin = begin;
    this.#onFailure = onFailure;
    this.#onEnd = onEnd;
  }

  /** The kinds of libraries that cannot do this, or failed. */
  get lackingKinds(): readonly string[] {
    return [...this.#lacking].sort();
  }

  add(adapter: LoggerAdapter): void {
    try {
      const end = this.#begin(adapter);
      if (end === undefined) this.#lacking.add(adapter.kind);
      else this.#ends.set(adapter, end);
    } catch (error) {
      this.#lacking.add(adapter.kind);
      this.#onFailure(adapter.kind, error);
    }
  }

  delete(adapter: LoggerAdapter): void {
    const end = this.#ends.get(adapter);
    this.#ends.delete(adapter);
    try {
      end?.();
    } catch (error) {
      this.#onFailure(adapter.kind, error);
    }
  }

  /** Restores every library. May be called again. */
  end(): void {
    this.#onEnd();
    for (const adapter of [...this.#ends.keys()]) this.delete(adapter);
  }
}
