/** The adapter that counts the messages of each system, so that no message counts twice if two adapters see it. */
export class Claims {
  /** The adapters that are attached, by name, and how many of each name. */
  readonly #attached = new Map<string, number>();
  readonly #holders = new Map<string, string>();

  /** `name` is attached, until the returned function is called. */
  enter(name: string): () => void {
    this.#attached.set(name, (this.#attached.get(name) ?? 0) + 1);
    let left = false;
    return () => {
      if (left) return;
      left = true;
      const others = this.#attached.get(name)! - 1;
      if (others > 0) this.#attached.set(name, others);
      else this.#leave(name);
    };
  }

  /** Whether `name` counts the messages of `system`: the first that asks does, and all of that name, as long as one is attached. */
  counts(name: string, system: string): boolean {
    const holder = this.#holders.get(system);
    if (holder !== undefined) return holder === name;
    if (!this.#attached.has(name)) return false;
    this.#holders.set(system, name);
    return true;
  }

  #leave(name: string): void {
    this.#attached.delete(name);
    for (const [system, holder] of this.#holders) if (holder === name) this.#holders.delete(system);
  }
}
