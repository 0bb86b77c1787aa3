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
  /** The group that the logger was changed through; the change of the group itself is told as well. */
  readonly group: string | undefined;
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

/**
 * The latest changes, in a bounded number. Those made to members through their group are kept apart and bounded by themselves:
 * one change of a large group must not push out what anybody did before.
 */
export class LevelHistory {
  readonly #single: Ring<LevelChange>;
  readonly #ofMembers: Ring<LevelChange>;
  #count = 0;

  constructor(capacity: number) {
    this.#single = new Ring(capacity);
    this.#ofMembers = new Ring(capacity);
  }

  add(change: Omit<LevelChange, "sequence">): LevelChange {
    const numbered = { ...change, sequence: this.#count++ };
    (change.group === undefined ? this.#single : this.#ofMembers).add(numbered);
    return numbered;
  }

  /** Newest first. */
  list({ name, before = this.#count, limit }: HistoryQuery): LevelChange[] {
    const found: LevelChange[] = [];
    for (const change of newestFirst(this.#single, this.#ofMembers)) {
      if (found.length >= limit) break;
      if (change.sequence < before && (name === undefined || change.name === name)) found.push(change);
    }
    return found;
  }
}

/** The latest so and so many of what was added. */
class Ring<Element> {
  readonly #elements: Element[] = [];
  readonly #capacity: number;
  #count = 0;

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  add(element: Element): void {
    if (this.#capacity > 0) this.#elements[this.#count % this.#capacity] = element;
    this.#count++;
  }

  *newestFirst(): Generator<Element, undefined> {
    const oldest = Math.max(0, this.#count - this.#capacity);
    for (let at = this.#count - 1; at >= oldest; at--) yield this.#elements[at % this.#capacity]!;
  }
}

function* newestFirst(...rings: readonly Ring<LevelChange>[]): Generator<LevelChange> {
  const heads = rings.map((ring) => ring.newestFirst()).map((rest) => ({ rest, next: rest.next().value }));
  for (;;) {
    let newest: (typeof heads)[number] | undefined;
    for (const head of heads) {
      if (head.next && (newest?.next === undefined || head.next.sequence > newest.next.sequence)) newest = head;
    }
    if (newest?.next === undefined) return;
    yield newest.next;
    newest.next = newest.rest.next().value;
  }
}
