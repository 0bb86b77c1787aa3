/** Ids of the last while: each for `lifetime` milliseconds after it was added last, and at most `limit` of them. */
export class RecentIds {
  readonly #lifetime: number;
  readonly #limit: number;
  readonly #addedById = new Map<string, number>();
  #droppedAt = Number.NEGATIVE_INFINITY;

  constructor(lifetime: number, limit: number) {
    this.#lifetime = lifetime;
    this.#limit = limit;
  }

  /** False where an id had to go before its time, because there were too many. */
  get complete(): boolean {
    return this.#droppedAt + this.#lifetime <= Date.now();
  }

  has(id: string): boolean {
    const added = this.#addedById.get(id);
    return added !== undefined && added + this.#lifetime > Date.now();
  }

  add(id: string): void {
    const now = Date.now();
    this.#addedById.delete(id);
    this.#addedById.set(id, now);
    for (const [oldest, added] of this.#addedById) {
      const dead = added + this.#lifetime <= now;
      if (!dead && this.#addedById.size <= this.#limit) break;
      if (!dead) this.#droppedAt = now;
      this.#addedById.delete(oldest);
    }
  }

  delete(id: string): void {
    this.#addedById.delete(id);
  }
}
