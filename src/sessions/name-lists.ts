const NONE: readonly string[] = Object.freeze([]);

/**
 * Lists of names, each kept once: most sessions of an application have the same attributes. At most `limit` lists are
 * remembered; further ones stand for themselves.
 */
export class NameLists {
  readonly #limit: number;
  readonly #lists = new Map<string, readonly string[]>();

  constructor(limit = 1_000) {
    this.#limit = limit;
  }

  /** These names without repetitions, in their order. */
  listOf(names: readonly string[] = NONE): readonly string[] {
    if (names.length === 0) return NONE;
    const key = JSON.stringify(names);
    const known = this.#lists.get(key);
    if (known !== undefined) return known;
    const list = Object.freeze([...new Set(names)]);
    if (this.#lists.size < this.#limit) this.#lists.set(key, list);
    return list;
  }
}
