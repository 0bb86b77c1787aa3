/**
 * The ids of the sessions that were shown last, by what was shown in their place: the last `limit`, and at most
 * as many again.
 *
 * Two generations instead of one list: taking single entries out of the front of a large Map costs more than all else that is
 * done for a session of a page.
 */
export class ShownIds {
  readonly #limit: number;
  #recent = new Map<string, string>();
  #older = new Map<string, string>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  remember(handle: string, id: string): void {
    if (this.#limit === 0) return;
    if (this.#recent.size >= this.#limit && !this.#recent.has(handle)) {
      this.#older = this.#recent;
      this.#recent = new Map();
    }
    this.#recent.set(handle, id);
  }

  find(handle: string): string | undefined {
    return this.#recent.get(handle) ?? this.#older.get(handle);
  }

  forget(handle: string): void {
    this.#recent.delete(handle);
    this.#older.delete(handle);
  }
}
