import type { Level } from "./level.ts";
import type { Override } from "./override.ts";

/** How a level came to change. */
export type LevelChangeKind = "SET" | "CLEARED" | "RESTORED" | "EXPIRED" | "APPLICATION";

/** One change of the configured level of a logger or group. */
export interface LevelChange {
  readonly name: string;
  /** The level configured before; undefined: none was. */
  readonly previousLevel: Level | undefined;
  /** The level configured since; undefined: none is. */
  readonly level: Level | undefined;
  /** Who asked for it; undefined where nobody did, as when the application changes a level itself. */
  readonly override: Override | undefined;
  readonly kind: LevelChangeKind;
  /** Milliseconds since the epoch. */
  readonly time: number;
  /** The revision that the change led to. */
  readonly revision: number;
  /** Numbers the changes of this process, without gaps. */
  readonly sequence: number;
}

/** What is asked of the history. */
export interface HistoryQuery {
  /** Only changes of this logger or group. */
  readonly name?: string | undefined;
  /** Only changes before the one of this sequence. */
  readonly before?: number | undefined;
  readonly limit: number;
}

/** The latest changes, in a bounded number. */
export class LevelHistory {
  readonly #changes: LevelChange[] = [];
  readonly #capacity: number;
  #count = 0;

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  add(change: Omit<LevelChange, "sequence">): LevelChange {
    const numbered = { ...change, sequence: this.#count };
    if (this.#capacity > 0) this.#changes[this.#count % this.#capacity] = numbered;
    this.#count++;
    return numbered;
  }

  /** Newest first. */
  list({ name, before = this.#count, limit }: HistoryQuery): LevelChange[] {
    const found: LevelChange[] = [];
    const oldest = Math.max(0, this.#count - this.#capacity);
    for (let at = Math.min(before, this.#count) - 1; at >= oldest && found.length < limit; at--) {
      const change = this.#changes[at % this.#capacity]!;
      if (name === undefined || change.name === name) found.push(change);
    }
    return found;
  }
}
