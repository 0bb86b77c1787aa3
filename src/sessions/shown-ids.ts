/** The ids of the sessions that were shown last, by what was shown in their place; at most `limit`. */
export class ShownIds {
  readonly #limit: number;
  readonly #byHandle = new Map<string, string>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  remember(handle: string, id: string): void {
    this.#byHandle.delete(handle);
    this.#byHandle.set(handle, id);
    if (this.#byHandle.size > this.#limit) this.#byHandle.delete(this.#byHandle.keys().next().value!);
  }

  find(handle: string): string | undefined {
    return this.#byHandle.get(handle);
  }

  forget(handle: string): void {
    this.#byHandle.delete(handle);
  }
}
