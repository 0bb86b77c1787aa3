/** An item that waits for a span that has not arrived. */
interface Waiting<Item> {
  readonly item: Item;
  readonly since: number;
}

interface PendingLimits {
  readonly maxItems: number;
  readonly maxWaitMs: number;
}

/** Items that wait for spans, by the spans' ids, each for a limited time. The timer only runs while something waits. */
export class PendingSpans<Item> {
  readonly #limits: PendingLimits;
  readonly #giveUp: (item: Item) => void;
  readonly #items = new Map<string, Waiting<Item>[]>();
  #size = 0;
  #timer: NodeJS.Timeout | undefined;

  /** @param giveUp called with an item whose span did not arrive in time */
  constructor(limits: PendingLimits, giveUp: (item: Item) => void) {
    this.#limits = limits;
    this.#giveUp = giveUp;
  }

  add(id: string, item: Item): void {
    if (this.#size >= this.#limits.maxItems) {
      this.#giveUp(item);
      return;
    }
    const waiting = { item, since: performance.now() };
    const list = this.#items.get(id);
    if (list === undefined) this.#items.set(id, [waiting]);
    else list.push(waiting);
    this.#size++;
    this.#timer ??= setTimeout(() => this.#sweep(), this.#limits.maxWaitMs).unref();
  }

  /** Removes and returns the items that waited for a span that has arrived. */
  take(id: string): readonly Item[] {
    const list = this.#items.get(id);
    if (list === undefined) return NOTHING;
    this.#items.delete(id);
    this.#size -= list.length;
    return list.map(({ item }) => item);
  }

  /** Drops all items. */
  close(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#items.clear();
    this.#size = 0;
  }

  #sweep(): void {
    this.#timer = undefined;
    const oldest = performance.now() - this.#limits.maxWaitMs;
    let next = Number.POSITIVE_INFINITY;
    for (const [id, list] of this.#items) {
      if (list[0]!.since > oldest) next = Math.min(next, list[0]!.since - oldest);
      else for (const item of this.take(id)) this.#giveUp(item);
    }
    if (this.#size > 0) this.#timer ??= setTimeout(() => this.#sweep(), Math.max(next, 10)).unref();
  }
}

const NOTHING: readonly never[] = [];

/** What is remembered of a span: its owner, or the span that knows it. */
interface RecentSpan<Owner> {
  /** Undefined if the parent knows, null if it has no owner. */
  readonly owner: Owner | undefined | null;
  readonly parent: string | undefined;
  /** Spans of other sources are not local parents. */
  readonly source: object;
  /** The destination that it sends to, if a span below it says the same again. */
  readonly repeated?: string | undefined;
}

/** How many spans are remembered at most, and for how long: at least half of either. */
interface RecentLimits {
  readonly maxSpans: number;
  readonly maxAgeMs: number;
}

/** How many spans may lie between one and its owner. */
const MAX_DEPTH = 64;

/**
 * The spans that arrived lately, by id, and their owners. They are kept in two halves, and the older half is dropped as a whole,
 * because deleting single entries from the beginning of a large map is slow.
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
    const { maxSpans, maxAgeMs } = this.#limits;
    if (this.#younger.size >= maxSpans / 2 || now - this.#since >= maxAgeMs / 2) {
      this.#older = this.#younger;
      this.#younger = new Map();
      this.#since = now;
    }
    this.#younger.set(id, span);
  }

  get(id: string): RecentSpan<Owner> | undefined {
    return this.#younger.get(id) ?? this.#older.get(id);
  }

  /** The owner of what is below the span `id` of `source`: an owner, null if there is none, or the id of a span to wait for. */
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
