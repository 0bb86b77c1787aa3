import { dotted, parentName, ROOT } from "./name.ts";

/** Which of the names in a list is above which. */
export class Lineage {
  /** The index of the name directly above each; -1 for ROOT. */
  readonly above: Int32Array;
  /** All indices, each after that of the name above. */
  readonly order: Uint32Array;
  readonly #names: readonly string[];

  /** The list has each name with all names above it. */
  constructor(names: readonly string[]) {
    this.#names = names;
    const keys = names.map(dotted);
    const indices = new Map(keys.map((key, index) => [key, index]));
    this.above = Int32Array.from(keys, (key) => (key === ROOT ? -1 : indices.get(parentName(key))!));
    const length = (index: number) => (keys[index] === ROOT ? 0 : keys[index]!.length);
    this.order = Uint32Array.from(keys.keys()).sort((one, other) => length(one) - length(other));
  }

  /** Whether this is the lineage of these names, in this order. */
  isOf(names: readonly string[]): boolean {
    return names.length === this.#names.length && names.every((name, index) => name === this.#names[index]);
  }
}
