/**
 * A session as the in-memory store keeps it. There may be very many, so an entry holds its own neighbours and no list takes
 * extra memory. Times are milliseconds since the epoch.
 */
export class MemoryEntry {
  readonly id: string;
  readonly username: string | undefined;
  readonly attributeNames: readonly string[];
  readonly creationTime: number;
  readonly firstSeenTime: number;
  lastAccessedTime: number;
  /** Whole seconds; negative: never expires. */
  readonly maxInactiveInterval: number;
  /** Neighbours in the order of access. */
  newer: MemoryEntry | undefined = undefined;
  older: MemoryEntry | undefined = undefined;
  /** Neighbours among the sessions of the same user. */
  nextOfUser: MemoryEntry | undefined = undefined;
  previousOfUser: MemoryEntry | undefined = undefined;

  constructor(details: Omit<MemoryEntry, "newer" | "older" | "nextOfUser" | "previousOfUser" | "expiryTime">) {
    this.id = details.id;
    this.username = details.username;
    this.attributeNames = details.attributeNames;
    this.creationTime = details.creationTime;
    this.firstSeenTime = details.firstSeenTime;
    this.lastAccessedTime = details.lastAccessedTime;
    this.maxInactiveInterval = details.maxInactiveInterval;
  }

  get expiryTime(): number {
    if (this.maxInactiveInterval < 0) return Number.POSITIVE_INFINITY;
    return this.lastAccessedTime + this.maxInactiveInterval * 1000;
  }
}

/** Finds entries by user. */
export class EntriesByUser {
  readonly #first = new Map<string, MemoryEntry>();

  add(entry: MemoryEntry): void {
    if (entry.username === undefined) return;
    const first = this.#first.get(entry.username);
    entry.nextOfUser = first;
    if (first !== undefined) first.previousOfUser = entry;
    this.#first.set(entry.username, entry);
  }

  remove(entry: MemoryEntry): void {
    const { username, nextOfUser: next, previousOfUser: previous } = entry;
    if (username === undefined) return;
    if (next !== undefined) next.previousOfUser = previous;
    if (previous !== undefined) previous.nextOfUser = next;
    else if (next !== undefined) this.#first.set(username, next);
    else this.#first.delete(username);
  }

  *of(username: string): Generator<MemoryEntry, void> {
    for (let entry = this.#first.get(username); entry !== undefined; entry = entry.nextOfUser) yield entry;
  }
}

/** A position in the order of access: after the entry with this time and id. */
export interface AccessPosition {
  readonly time: number;
  readonly id: string;
}

/**
 * Orders entries by last access, newest first, then by id.
 *
 * An access costs the application a few assignments: the entry moves to the front. If it does not belong there, because the
 * application passed an older time or the clock was set back, the next reader sorts the list.
 */
export class AccessOrder {
  #newest: MemoryEntry | undefined;
  #sorted = true;

  /** Puts a new entry at the front. */
  add(entry: MemoryEntry): void {
    const second = this.#newest;
    entry.newer = undefined;
    entry.older = second;
    if (second !== undefined) {
      second.newer = entry;
      if (second.lastAccessedTime > entry.lastAccessedTime) this.#sorted = false;
    }
    this.#newest = entry;
  }

  remove(entry: MemoryEntry): void {
    if (entry.newer !== undefined) entry.newer.older = entry.older;
    else this.#newest = entry.older;
    if (entry.older !== undefined) entry.older.newer = entry.newer;
  }

  /**
   * Yields the entries after a position, or all. The entry of the position need not exist any more.
   *
   * @param anchor the entry with the position's id, if there is one
   */
  *after(position?: AccessPosition, anchor?: MemoryEntry): Generator<MemoryEntry, void> {
    if (!this.#sorted) this.#sort();
    let entry = position === undefined ? this.#newest : this.#millisecondAt(position, anchor);
    while (entry !== undefined) {
      // Within one millisecond, the list is in no order.
      const time = entry.lastAccessedTime;
      const together: MemoryEntry[] = [];
      for (; entry?.lastAccessedTime === time; entry = entry.older) together.push(entry);
      if (together.length > 1) together.sort(byId);
      const rest = position?.time === time ? together.filter(({ id }) => id > position.id) : together;
      yield* rest;
    }
  }

  /** Returns the first entry of the position's millisecond or, if there is none, of an older one. */
  #millisecondAt({ time }: AccessPosition, anchor: MemoryEntry | undefined): MemoryEntry | undefined {
    let entry = anchor?.lastAccessedTime === time ? anchor : this.#newest;
    while (entry?.newer?.lastAccessedTime === time) entry = entry.newer;
    while (entry !== undefined && entry.lastAccessedTime > time) entry = entry.older;
    return entry;
  }

  #sort(): void {
    const entries: MemoryEntry[] = [];
    for (let entry = this.#newest; entry !== undefined; entry = entry.older) entries.push(entry);
    entries.sort((a, b) => b.lastAccessedTime - a.lastAccessedTime);
    this.#newest = undefined;
    for (const entry of entries.reverse()) this.add(entry);
    this.#sorted = true;
  }
}

function byId(a: MemoryEntry, b: MemoryEntry): number {
  return a.id < b.id ? -1 : 1;
}
