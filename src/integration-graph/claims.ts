/** The adapters that count the messages of each system, so that no message counts twice if two adapters see it. */
export class Claims {
  /** An answer of {@link counts} stays the same as long as this does. */
  revision = 0;
  /** The adapters that are attached, by name, and how many of each name. */
  readonly #attached = new Map<string, number>();
  /** Several only if they watch objects of different libraries, which no message passes both of. */
  readonly #holders = new Map<string, { readonly names: Set<string>; readonly ownObjects: boolean }>();

  /** `name` is attached, until the returned function is called. */
  enter(name: string): () => void {
    this.revision++;
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

  /**
   * Whether `name` counts the messages of `system`: the first that asks does, and all of that name, as long as one is attached. If
   * it watches the objects of its library, so do other adapters of that sort.
   */
  counts(name: string, system: string, ownObjects = false): boolean {
    const holder = this.#holders.get(system);
    if (holder?.names.has(name)) return true;
    if (!this.#attached.has(name)) return false;
    if (holder === undefined) this.#holders.set(system, { names: new Set([name]), ownObjects });
    else if (ownObjects && holder.ownObjects) holder.names.add(name);
    else return false;
    return true;
  }

  #leave(name: string): void {
    this.revision++;
    this.#attached.delete(name);
    for (const [system, { names }] of this.#holders) {
      if (names.delete(name) && names.size === 0) this.#holders.delete(system);
    }
  }
}
