import type { MemoryEntry } from "./memory-entry.ts";

/** A place in the order: after the entry of this time and id. */
export interface AccessPosition {
  readonly time: number;
  readonly id: string;
}

/**
 * Entries by last access, newest first, then by id.
 *
 * An access costs the application a few assignments: the entry becomes the first. Where that is not its place, because an
 * application gave an older time or the clock was set back, the order is mended by the next who reads it.
 */
export class AccessOrder {
  #newest: MemoryEntry | undefined;
  #mended = true;

  /** Puts an entry that is not in the order to the front. */
  add(entry: MemoryEntry): void {
    const second = this.#newest;
    entry.newer = undefined;
    entry.older = second;
    if (second !== undefined) {
      second.newer = entry;
      if (second.lastAccessedTime > entry.lastAccessedTime) this.#mended = false;
    }
    this.#newest = entry;
  }

  remove(entry: MemoryEntry): void {
    if (entry.newer !== undefined) entry.newer.older = entry.older;
    else this.#newest = entry.older;
    if (entry.older !== undefined) entry.older.newer = entry.newer;
  }

  /**
   * The entries after a position, or all. The entry of the position need not be there any more.
   *
   * @param anchor the entry of the position's id, where there is one
   */
  *after(position?: AccessPosition, anchor?: MemoryEntry): Generator<MemoryEntry, void> {
    if (!this.#mended) this.#mend();
    let entry = position === undefined ? this.#newest : this.#millisecondAt(position, anchor);
    while (entry !== undefined) {
      // The order of the list says nothing within one millisecond.
      const time = entry.lastAccessedTime;
      const together: MemoryEntry[] = [];
      for (; entry?.lastAccessedTime === time; entry = entry.older) together.push(entry);
      if (together.length > 1) together.sort(byId);
      const rest = position?.time === time ? together.filter(({ id }) => id > position.id) : together;
      yield* rest;
    }
  }

  /** The first entry in the list of the position's millisecond or, where there is none, of an older one. */
  #millisecondAt({ time }: AccessPosition, anchor: MemoryEntry | undefined): MemoryEntry | undefined {
    let entry = anchor?.lastAccessedTime === time ? anchor : this.#newest;
    while (entry?.newer?.lastAccessedTime === time) entry = entry.newer;
    while (entry !== undefined && entry.lastAccessedTime > time) entry = entry.older;
    return entry;
  }

  #mend(): void {
    const entries: MemoryEntry[] = [];
    for (let entry = this.#newest; entry !== undefined; entry = entry.older) entries.push(entry);
    entries.sort((a, b) => b.lastAccessedTime - a.lastAccessedTime);
    this.#newest = undefined;
    for (const entry of entries.reverse()) this.add(entry);
    this.#mended = true;
  }
}

function byId(a: MemoryEntry, b: MemoryEntry): number {
  return a.id < b.id ? -1 : 1;
}
