/** What is remembered of a span: on whose behalf it is, or which span is asked next. */
export interface RecentSpan<Owner> {
  /** Undefined where its parent knows, null where nobody owns it. */
  readonly owner: Owner | undefined | null;
  readonly parent: string | undefined;
  /** Spans of other sources are no local parents. */
  readonly source: object;
  readonly at: number;
}

/** Spans are told of when they have ended: children before their parents, and often in an earlier request. */
export interface RecentLimits {
  readonly maxSpans: number;
  readonly maxAge: number;
}

/** So many spans may lie between one and its owner. */
const MAX_DEPTH = 64;

/** The spans that were told of lately, by id, and whose they are. */
export class RecentSpans<Owner> {
  readonly #limits: RecentLimits;
  readonly #spans = new Map<string, RecentSpan<Owner>>();

  constructor(limits: RecentLimits) {
    this.#limits = limits;
  }

  add(id: string, span: RecentSpan<Owner>): void {
    this.#spans.delete(id);
    this.#spans.set(id, span);
    const { maxSpans, maxAge } = this.#limits;
    for (const [oldest, { at }] of this.#spans) {
      if (this.#spans.size <= maxSpans && at >= span.at - maxAge) break;
      this.#spans.delete(oldest);
    }
  }

  get(id: string): RecentSpan<Owner> | undefined {
    return this.#spans.get(id);
  }

  /** Who owns what is under the span `id` of `source`: an owner, null for nobody, or the id of the span that is still to come. */
  ownerOf(id: string, source: object): Owner | null | string {
    let at = id;
    for (let depth = 0; depth < MAX_DEPTH; depth++) {
      const span = this.#spans.get(at);
      if (span === undefined) return at;
      if (span.source !== source) return null;
      if (span.owner !== undefined) return span.owner;
      if (span.parent === undefined) return null;
      at = span.parent;
    }
    return null;
  }
}
