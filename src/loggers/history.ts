import type { Level } from "./level.ts";
import { dotted } from "./name.ts";
import type { Override } from "./setting.ts";

/** The cause of a change of level. */
export type LevelChangeKind = "SET" | "CLEARED" | "RESTORED" | "EXPIRED" | "APPLICATION" | "VOLUME";

/** One change of the configured level of a logger or group. */
export interface LevelChange {
  readonly name: string;
  /** The level configured before; undefined if there was none. */
  readonly previousLevel: Level | undefined;
  /** The level configured since; undefined if there is none. */
  readonly level: Level | undefined;
  /** Who asked for it; undefined if the application changed the level itself. */
  readonly override: Override | undefined;
  readonly kind: LevelChangeKind;
  /** Milliseconds since the epoch. */
  readonly time: number;
  /** The revision after the change. */
  readonly revision: number;
  /** The group through which the logger was changed, if any. The change of the group itself is reported as well. */
  readonly group: string | undefined;
  /** The number of the change in this process, without gaps. */
  readonly sequence: number;
}

/** Selects changes from the history. */
export interface HistoryQuery {
  /** Only changes of this logger or group. */
  readonly name?: string | undefined;
  /** Only changes before the one with this sequence. */
  readonly before?: number | undefined;
  readonly limit: number;
}

/**
 * The latest changes. Changes of members through their group have a limit of their own, so that one change of a large group does
 * not displace earlier changes.
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
      if (change.sequence < before && (name === undefined || isSameLogger(change.name, name))) found.push(change);
    }
    return found;
  }
}

/** Keeps the last `capacity` elements. */
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

/** Spellings of one name have the same length. */
function isSameLogger(one: string, other: string): boolean {
  return one === other || (one.length === other.length && dotted(one) === dotted(other));
}
