export type Method = (...args: unknown[]) => unknown;

/** Methods that stand in for others until they are taken back. */
export class Replacements {
  readonly #undo: (() => void)[] = [];

  /** Replaces a method that `owner` has itself by what `replacement` makes of it. An absent one is left out. */
  replace(
    owner: object,
    name: string,
    replacement: (original: Method) => (this: never, ...args: never[]) => unknown,
  ): void {
    const before = Object.getOwnPropertyDescriptor(owner, name);
    if (typeof before?.value !== "function") return;
    const value = replacement(before.value);
    Object.defineProperty(owner, name, { ...before, value });
    this.#undo.push(() => {
      // Somebody else may have wrapped it in the meantime.
      if (Object.getOwnPropertyDescriptor(owner, name)?.value === value) Object.defineProperty(owner, name, before);
    });
  }

  restore(): void {
    for (const undo of this.#undo.splice(0).reverse()) undo();
  }
}
