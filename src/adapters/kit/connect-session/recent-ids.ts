/** Remembers ids for `lifetimeMs` after each was last added, at most `limit` of them. */
export class RecentIds {
  readonly #lifetimeMs: number;
  readonly #limit: number;
  readonly #addedById = new Map<string, number>();
  #droppedAt = Number.NEGATIVE_INFINITY;

  constructor(lifetimeMs: number, limit: number) {
    this.#lifetimeMs = lifetimeMs;
    this.#limit = limit;
  }

  /** False if the limit has lately dropped an id before its time. */
  get complete(): boolean {
    return this.#droppedAt + this.#lifetimeMs <= Date.now();
  }

  has(id: string): boolean {
    const added = this.#addedById.get(id);
    return added !== undefined && added + this.#lifetimeMs > Date.now();
  }

  add(id: string): void {
    const now = Date.now();
    this.#addedById.delete(id);
    this.#addedById.set(id, now);
    for (const [oldest, added] of this.#addedById) {
      const expired = added + this.#lifetimeMs <= now;
      if (!expired && this.#addedById.size <= this.#limit) break;
      if (!expired) this.#droppedAt = now;
      this.#addedById.delete(oldest);
    }
  }

  delete(id: string): void {
    this.#addedById.delete(id);
  }
}
