/** What is remembered of a span: on whose behalf it is, or which span is asked next. */
export interface RecentSpan<Owner> {
  /** Undefined where its parent knows, null where nobody owns it. */
  readonly owner: Owner | undefined | null;
  readonly parent: string | undefined;
  /** Spans of other sources are no local parents. */
  readonly source: object;
}

/** How many spans are remembered at most, and for how long, in milliseconds: half of either at least. */
export interface RecentLimits {
  readonly maxSpans: number;
  readonly maxAge: number;
}

/** So many spans may lie between one and its owner. */
const MAX_DEPTH = 64;

/**
 * The spans that were told of lately, by id, and whose they are. There are two halves, and the older one is forgotten as a whole:
 * to take single spans from the beginning of a large map is slow.
 */
export class RecentSpans<Owner> {
  readonly #limits: RecentLimits;
  readonly #clock: () => number;
  #younger = new Map<string, RecentSpan<Owner>>();
  #older = new Map<string, RecentSpan<Owner>>();
  #since: number;

  constructor(limits: RecentLimits, clock: () => number = () => performance.now()) {
    this.#limits = limits;
    this.#clock = clock;
    this.#since = clock();
  }

  add(id: string, span: RecentSpan<Owner>): void {
    const now = this.#clock();
    const { maxSpans, maxAge } = this.#limits;
    if (this.#younger.size >= maxSpans / 2 || now - this.#since >= maxAge / 2) {
      this.#older = this.#younger;
      this.#younger = new Map();
      this.#since = now;
    }
    this.#younger.set(id, span);
  }

  get(id: string): RecentSpan<Owner> | undefined {
    return this.#younger.get(id) ?? this.#older.get(id);
  }

  /** Who owns what is under the span `id` of `source`: an owner, null for nobody, or the id of the span that is still to come. */
  ownerOf(id: string, source: object): Owner | null | string {
    let at = id;
    for (let depth = 0; depth < MAX_DEPTH; depth++) {
      const span = this.get(at);
      if (span === undefined) return at;
      if (span.source !== source) return null;
      if (span.owner !== undefined) return span.owner;
      if (span.parent === undefined) return null;
      at = span.parent;
    }
    return null;
  }
}
