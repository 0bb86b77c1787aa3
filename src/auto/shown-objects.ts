import type { Findings } from "./library.ts";

/** The objects of a library that are shown, by application: each is shown once. */
export class ShownObjects {
  readonly #shown = new WeakMap<Findings, WeakSet<object>>();

  /** Notes that an object is shown. Returns whether it was not shown before. */
  add(object: object, findings: Findings): boolean {
    const shown = this.#shown.get(findings) ?? new WeakSet();
    this.#shown.set(findings, shown);
    if (shown.has(object)) return false;
    shown.add(object);
    return true;
  }
}
