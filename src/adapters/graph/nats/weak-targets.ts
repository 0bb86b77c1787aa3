import type { Unwatch } from "./target.ts";

/** Objects that the library hands out and drops again, and how each is given back as it was. */
export class WeakTargets<T extends object> {
  readonly #undo = new WeakMap<T, Unwatch>();
  #objects: WeakRef<T>[] = [];
  #sweepAt = 100;

  has(object: T): boolean {
    return this.#undo.has(object);
  }

  add(object: T, undo: Unwatch): void {
    this.#undo.set(object, undo);
    this.#objects.push(new WeakRef(object));
    if (this.#objects.length < this.#sweepAt) return;
    this.#objects = this.#objects.filter((reference) => reference.deref() !== undefined);
    this.#sweepAt = 100 + 2 * this.#objects.length;
  }

  undoAll(): void {
    for (const reference of this.#objects) {
      const object = reference.deref();
      if (object === undefined) continue;
      this.#undo.get(object)?.();
      this.#undo.delete(object);
    }
    this.#objects = [];
  }
}
