import type { MemoryEntry } from "./memory-entry.ts";

/** Entries by the name of their user. */
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
